import { useMutation } from '@tanstack/react-query'
import { answer, api, idempotent } from '../api/client'
import { wordsOf } from '../api/problem'
import { toast } from '../ui/Toast'

/** Where an email is to be, or how it is to be marked. */
type Change = { archived: boolean } | { unread: boolean }
type Filing = { emailId: string; to: Change }

/**
 * Archives an email or puts it back, marks it as read or as unread, with the actions that the agent uses. The list
 * changes when the stream tells of it. What was done can be undone where it is told.
 */
export function useFiling(onDone: (to: Change) => void = () => {}) {
  return useMutation({
    mutationFn: ask,
    onSuccess: ({ subject, changed }, { emailId, to }) => {
      const undo = { label: 'Undo', run: () => void takeBack({ emailId, to: opposite(to) }) }
      toast(told(subject, to), changed ? { action: undo } : {})
      onDone(to)
    },
    onError: (error) => toast(`It was not done. ${wordsOf(error)}`, { kind: 'failed' }),
  })
}

/** Where whoever did it may be somewhere else by now. */
async function takeBack(filing: Filing): Promise<void> {
  try {
    const { subject } = await ask(filing)
    toast(told(subject, filing.to))
  } catch (error) {
    toast(`It was not undone. ${wordsOf(error)}`, { kind: 'failed' })
  }
}

function ask({ emailId, to }: Filing) {
  const params = { header: idempotent() }
  if ('unread' in to) return answer(api.POST('/api/mark-email', { body: { emailId, ...to }, params }))
  const path = to.archived ? '/api/archive-email' : '/api/unarchive-email'
  return answer(api.POST(path, { body: { emailId }, params }))
}

const opposite = (to: Change): Change => ('unread' in to ? { unread: !to.unread } : { archived: !to.archived })

function told(subject: string, to: Change): string {
  if ('unread' in to) return `Marked “${subject}” as ${to.unread ? 'unread' : 'read'}`
  return to.archived ? `Archived “${subject}”` : `“${subject}” is in the inbox again`
}
