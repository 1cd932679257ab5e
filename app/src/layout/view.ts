import { useEffect, useRef } from 'react'
import { ProblemError } from '../api/problem'
import { useDocument, useDocuments, useWriteDocument } from '../live/hooks'
import { WINDOW } from '../live/presence'
import { commandOf, type Place } from './places'
import { useGo } from './usePlace'

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

/** Goes where the agent's `navigate` says. Of several windows the one goes that says first that it does. */
export function useNavigateCommand(): void {
  const go = useGo()
  const write = useWriteDocument('user')
  const began = useDocuments('user', 'navigate').data?.rev
  const told = useDocument<unknown>('user', 'navigate')
  const done = useRef<string>(undefined)
  useEffect(() => {
    // What was said before this window was open was meant for another one.
    const command = told && commandOf(told.value)
    if (!command || command.taken || began === undefined || told.rev <= began) return
    if (done.current === command.id) return
    done.current = command.id
    const take = () =>
      write('navigate', { ...(told.value as object), taken: true }, told.rev).then(
        () => go(command.to),
        (error) => {
          if (!(error instanceof ProblemError && error.code === 'conflict')) done.current = undefined
        },
      )
    // A window that nobody looks at lets the others go first.
    setTimeout(take, document.visibilityState === 'visible' ? 0 : 1500)
  })
}
