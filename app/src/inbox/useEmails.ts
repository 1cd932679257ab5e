import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answer, api } from '../api/client'
import { useDocument, useDocuments } from '../live/hooks'
import { EMAILS, type Email, storedEmails } from './email'

const SCOPE = 'app:inbox'

/** All emails, archived ones too, newest first, kept up to date. */
export function useEmails(): { emails?: Email[]; error?: unknown; retry: () => void } {
  const documents = useDocuments(SCOPE, EMAILS)
  const untouched = useDocument(SCOPE, 'inbox') === null
  // An inbox that nobody has changed is shown by the actions, and has no documents.
  const samples = useQuery({ queryKey: ['samples'], queryFn: readSamples, enabled: untouched })
  const stored = useMemo(() => documents.data && storedEmails(documents.data), [documents.data])
  const emails = stored?.length || !untouched ? stored : samples.data
  const failed = [documents, samples].find((query) => query.isError)
  return { emails, error: failed?.error, retry: () => void failed?.refetch() }
}

/** One email with its text and the replies to it. It is read again whenever its document changes. */
export function useEmail(id: string) {
  const documents = useDocuments(SCOPE, EMAILS)
  const rev = documents.data?.docs.get(`${EMAILS}${id.slice(2).padStart(8, '0')}`)?.rev
  return useQuery({
    queryKey: ['email', id, rev],
    queryFn: ({ signal }) => answer(api.GET('/api/read-email', { params: { query: { emailId: id } }, signal })),
    placeholderData: (before) => (before?.id === id ? before : undefined),
    enabled: !documents.isPending,
  })
}

async function readSamples(): Promise<Email[]> {
  const lists = [false, true].map((archived) =>
    answer(api.GET('/api/list-emails', { params: { query: { archived, limit: 100 } } })),
  )
  return (await Promise.all(lists)).flatMap(({ emails }) => emails)
}
