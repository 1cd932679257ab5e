import type { UIMessage } from 'ai'
import { answer, api } from '../api/client'

/** What the server adds to messages: who said it, and the run that answered. */
export type Metadata = { author?: string; createdAt?: number; runId?: string; attempts?: number }
export type Message = UIMessage<Metadata>

export type History = { messages: Message[]; position: string; activeRunId?: string }

/** Everything that was said in a thread. The message of a run under way is left out: it is resumed. */
export async function readHistory(thread: string, signal?: AbortSignal): Promise<History> {
  const messages: Message[] = []
  let first: { position: string; activeRunId?: string } | undefined
  let cursor: string | undefined
  do {
    const params = { path: { thread }, query: { cursor } }
    const page = await answer(api.GET('/threads/{thread}/messages', { params, signal }))
    messages.push(...(page.items as Message[]))
    first ??= { position: page.position, activeRunId: page.activeRunId }
    cursor = page.cursor
  } while (cursor !== undefined)
  return { messages, ...first }
}
