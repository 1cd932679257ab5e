import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Author } from '../api'
import { useGo } from '../layout/usePlace'
import type { Documents } from '../live/documents'
import { useLiveEvents } from '../live/hooks'
import { documentsKey } from '../live/keys'
import { whoAmI } from '../session/session'
import { toast } from '../ui/Toast'
import { EMAILS, type Email, idOf, SCOPE, type StoredEmail } from './email'
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
    const now = event.value as StoredEmail
    const before = asItWas(cache, event.key)
    // The first change of an inbox writes its samples down: those that stay as they are have not changed.
    if (before && isSame(before, now)) return
    recent.tell(id, event.by)
    if (!before || before.archived || !now.archived) return
    if (gone.current.length === 0) setTimeout(say, 400)
    gone.current.push({ id, subject: now.subject, who: whoseName(event.by) })
  })
}

type Seen = Pick<Email, 'archived' | 'answered' | 'unread' | 'labels'>

/** The cache still holds what was there before: the document, or the sample that the actions told of. */
function asItWas(cache: QueryClient, key: string): Seen | undefined {
  const docs = cache.getQueryData<Documents>(documentsKey(SCOPE, EMAILS))?.docs
  const doc = docs?.get(key)
  if (doc) return doc.value as StoredEmail
  if (!docs || docs.size > 0) return undefined
  const listed = cache.getQueriesData<Email[]>({ queryKey: ['listed'] }).flatMap(([, emails]) => emails ?? [])
  return listed.find(({ id }) => id === idOf(key))
}

export function isSame(before: Seen, now: Seen): boolean {
  const told = ({ archived, answered, unread, labels }: Seen) => JSON.stringify([archived, answered, unread, labels])
  return told(before) === told(now)
}

export const isMine = (by: Author) => by.caller !== 'agent' && by.user === whoAmI().user

/** Who has done it, at the beginning of a sentence. */
export function whoseName({ user, caller }: Author): string {
  if (caller !== 'agent') return user
  return user === whoAmI().user ? 'The agent' : `The agent, for ${user},`
}
