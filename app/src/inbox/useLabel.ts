import { useMutation } from '@tanstack/react-query'
import { answer, api, idempotent } from '../api/client'
import { wordsOf } from '../api/problem'
import { toast } from '../ui/Toast'

/** Puts labels on an email and takes them off, with the action that the agent uses. */
export function useLabel(emailId: string) {
  return useMutation({
    mutationFn: ({ add = [], remove = [] }: { add?: string[]; remove?: string[] }) =>
      answer(api.POST('/api/label-email', { body: { emailId, add, remove }, params: { header: idempotent() } })),
    onError: (error) => toast(`The labels were not changed. ${wordsOf(error)}`, { kind: 'failed' }),
  })
}
