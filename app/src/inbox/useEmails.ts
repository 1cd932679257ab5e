import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import type { Output } from '../api'
import { answer, api } from '../api/client'
import type { Doc } from '../live/documents'
import { useDocument, useDocuments, useLiveEvents } from '../live/hooks'
import { EMAILS, type Email, fits, keyOf, repliesOf, SCOPE, type StoredEmail, storedEmails, type Wanted } from './email'

type Emails = {
  emails?: Email[]
  /** There may be more, which are being read. */
  partial: boolean
  error?: unknown
  retry: () => void
}

const FIRST = 50

/** All emails, archived ones too, newest first, kept up to date; undefined until they have all been read. */
export function useAllEmails(): Email[] | undefined {
  const { data } = useDocuments(SCOPE, EMAILS)
  return useMemo(() => data && storedEmails(data), [data])
}

/**
 * The emails that are wanted, newest first. The documents are kept up to date and searched here. Until they have all
 * been read, and for the samples of an inbox that nobody has changed, the actions answer.
 */
export function useEmails({ label, archived, q }: Wanted): Emails {
  const documents = useDocuments(SCOPE, EMAILS)
  const stored = useAllEmails()
  const isStored = stored !== undefined && stored.length > 0
  const asked = useQuery({
    queryKey: ['listed', { label, archived, q }],
    queryFn: ({ signal }) => ask({ label, archived, q }, signal),
    enabled: !isStored,
    placeholderData: keepPreviousData,
  })
  useAskAgain(!isStored)
  const emails = useMemo(
    () => (isStored ? stored.filter((email) => fits(email, { label, archived, q })) : asked.data),
    [isStored, stored, asked.data, label, archived, q],
  )
  const failed = [documents, asked].find((query) => query.isError)
  return {
    emails,
    partial: documents.isPending,
    error: failed?.error,
    retry: () => void failed?.refetch(),
  }
}

type Reply = Output<'email'>
/** An email with its text and the replies to it. */
export type OpenEmail = StoredEmail & { by?: Email['by']; replies: Reply[] }

/** One email and the replies to it, kept up to date: its own documents, or what the action tells of a sample. */
export function useEmail(id: string): { email?: OpenEmail; error?: unknown; retry: () => void } {
  const documents = useDocuments(SCOPE, keyOf(id))
  const doc = useDocument<StoredEmail>(SCOPE, keyOf(id))
  const sent = useDocuments(SCOPE, repliesOf(id))
  const sample = useQuery({
    queryKey: ['email', id],
    queryFn: ({ signal }) => answer(api.GET('/api/read-email', { params: { query: { emailId: id } }, signal })),
    enabled: doc === null,
  })
  const email = useMemo(() => {
    if (!doc) return sample.data
    const replies = [...(sent.data?.docs.values() ?? [])] as Doc<Reply>[]
    replies.sort((a, b) => (a.key < b.key ? -1 : 1))
    return { ...doc.value, by: doc.by, replies: replies.map(({ value }) => value) }
  }, [doc, sent.data, sample.data])
  const failed = [documents, sent, sample].find((query) => query.isError)
  return { email, error: email ? undefined : failed?.error, retry: () => void failed?.refetch() }
}

/** What the actions answered changes with any email. */
function useAskAgain(enabled: boolean) {
  const cache = useQueryClient()
  const soon = useRef<ReturnType<typeof setTimeout>>(undefined)
  useLiveEvents((event) => {
    if (!enabled || event.type !== 'state' || event.scope !== SCOPE || !event.key.startsWith(EMAILS)) return
    soon.current ??= setTimeout(() => {
      soon.current = undefined
      void cache.invalidateQueries({ queryKey: ['listed'] })
    }, 500)
  })
}

/** The first emails that are wanted. A page of an action may hold few of them, and yet not be the last. */
async function ask({ label, archived, q }: Wanted, signal: AbortSignal): Promise<Email[]> {
  const found: Email[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 4; pages += 1) {
    const page = await (q
      ? answer(api.GET('/api/search-emails', { params: { query: { query: q, limit: FIRST, cursor } }, signal }))
      : answer(api.GET('/api/list-emails', { params: { query: { label, archived, limit: FIRST, cursor } }, signal })))
    found.push(...page.emails.filter((email) => !label || email.labels.includes(label)))
    cursor = page.cursor ?? undefined
    if (cursor === undefined || found.length >= FIRST) break
  }
  return found
}
