import { WorkflowChatTransport } from '@ai-sdk/workflow/client'
import { authorizedFetch } from '../api/client'
import { asProblem, ProblemError } from '../api/problem'
import type { Message } from './history'

/** One for all conversations: the id of the chat is that of the thread. */
export const transport = new WorkflowChatTransport<Message>({
  api: '/api/agent-chat',
  fetch: async (input, init) => {
    const response = await authorizedFetch(input, init)
    if (response.ok) return response
    throw new ProblemError(asProblem(await response.json().catch(() => undefined), response.status))
  },
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
    body: { id, messages: messages.slice(-1), trigger, messageId },
  }),
})
