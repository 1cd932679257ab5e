import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Author } from '../api'
import { useGo } from '../layout/usePlace'
import type { Documents } from '../live/documents'
import { useLiveEvents } from '../live/hooks'
import { documentsKey } from '../live/keys'
import { whoAmI } from '../session/session'
import { toast } from '../ui/Toast'
import { EMAILS, idOf, SCOPE, type StoredEmail } from './email'
import { recent } from './recent'

type Gone = { id: string; subject: string; who: string }

/** Changes that this person did not make by hand are marked; an email that leaves the list is told of. */
export function useNews(): void {
  const cache = useQueryClient()
  const go = useGo()
  const gone = useRef<Gone[]>([])
  const say = () => {
    const [first, ...more] = gone.current
    gone.current = []
    if (!first) return
    if (more.length > 0) return toast(`${first.who} archived ${more.length + 1} emails`)
    const action = { label: 'Show', run: () => void go({ pane: 'inbox', email: first.id }) }
    toast(`${first.who} archived “${first.subject}”`, { action })
  }
  useLiveEvents((event) => {
    if (event.type !== 'state' || event.scope !== SCOPE || !event.key.startsWith(EMAILS) || !('value' in event)) return
    if (isMine(event.by)) return
    const id = idOf(event.key)
    recent.tell(id, event.by)
    // The cache still holds what was there before.
    const have = cache.getQueryData<Documents>(documentsKey(SCOPE, EMAILS))?.docs.get(event.key)
    const before = have?.value as StoredEmail | undefined
    const now = event.value as StoredEmail
    if (!before || before.archived || !now.archived) return
    if (gone.current.length === 0) setTimeout(say, 400)
    gone.current.push({ id, subject: now.subject, who: whoseName(event.by) })
  })
}

export const isMine = (by: Author) => by.caller !== 'agent' && by.user === whoAmI().user

/** Who has done it, at the beginning of a sentence. */
export function whoseName({ user, caller }: Author): string {
  if (caller !== 'agent') return user
  return user === whoAmI().user ? 'The agent' : `The agent, for ${user},`
}
