import { useEffect, useRef } from 'react'
import { ProblemError } from '../api/problem'
import { useDocument, useDocuments, useWriteDocument } from '../live/hooks'
import { WINDOW } from '../live/presence'
import { type Place, useGo } from './usePlace'

/** Writes down what this window shows, so that the agent's `view-screen` can see it. */
export function useTellView(place: Place): void {
  const write = useRef(useWriteDocument('user'))
  const said = JSON.stringify({ ...place, window: WINDOW })
  useEffect(() => {
    const tell = () => {
      if (document.visibilityState === 'visible') write.current('view', JSON.parse(said)).catch(() => {})
    }
    const timer = setTimeout(tell, 300)
    window.addEventListener('focus', tell)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('focus', tell)
    }
  }, [said])
}

type Command = {
  id: string
  to: {
    view: 'inbox' | 'archive' | 'email' | 'search' | 'summary' | 'memory'
    emailId?: string
    label?: string
    query?: string
  }
  taken: boolean
}

/** Goes where the agent's `navigate` says. Of several windows the one goes that says first that it does. */
export function useNavigateCommand(): void {
  const go = useGo()
  const write = useWriteDocument('user')
  const began = useDocuments('user', 'navigate').data?.rev
  const command = useDocument<Command>('user', 'navigate')
  const done = useRef<string>(undefined)
  useEffect(() => {
    // What was said before this window was open was meant for another one.
    if (!command || command.value.taken || began === undefined || command.rev <= began) return
    if (done.current === command.value.id) return
    done.current = command.value.id
    const take = () =>
      write('navigate', { ...command.value, taken: true }, command.rev).then(
        () => go(placeOf(command.value)),
        (error) => {
          if (!(error instanceof ProblemError && error.code === 'conflict')) done.current = undefined
        },
      )
    // A window that nobody looks at lets the others go first.
    setTimeout(take, document.visibilityState === 'visible' ? 0 : 1500)
  })
}

function placeOf({ to }: Command): Partial<Place> {
  const list = { pane: 'inbox', label: to.label, q: to.query, archived: to.view === 'archive' || undefined } as const
  return { ...list, email: to.view === 'email' ? to.emailId : undefined }
}
