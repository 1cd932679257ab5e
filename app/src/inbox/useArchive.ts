import { useMutation } from '@tanstack/react-query'
import { answer, api, idempotent } from '../api/client'
import { wordsOf } from '../api/problem'
import { toast } from '../ui/Toast'

/** Archives an email with the action that the agent uses. The list changes when the stream tells of it. */
export function useArchive(onDone: () => void) {
  return useMutation({
    mutationFn: (emailId: string) =>
      answer(api.POST('/api/archive-email', { body: { emailId }, params: { header: idempotent() } })),
    onSuccess: ({ subject }) => {
      toast(`Archived “${subject}”`)
      onDone()
    },
    onError: (error) => toast(`It was not archived. ${wordsOf(error)}`, { kind: 'failed' }),
  })
}
