import type { UIMessage } from 'ai'
import type { RunStatus } from '../api'
import { answer, api } from '../api/client'
import { ProblemError } from '../api/problem'

/** What the server adds to messages: who said it, the run that answered, and who answered each call that asked. */
export type Metadata = {
  author?: string
  createdAt?: number
  runId?: string
  attempts?: number
  decidedBy?: Record<string, string>
  /** What the model was not told, as the conversation is too long for it. */
  leftOut?: { messages: number; characters: number }
}
/** How far a long call is. The part's id is that of the call. */
export type Progress = { label: string; done: number; total?: number }
export type Message = UIMessage<Metadata, { progress: Progress }> & { runId?: string }

/** The run that wrote a message; of one that streams it is known at its end. */
export const runOf = (message: Message) => message.metadata?.runId ?? message.runId

export type History = { messages: Message[]; position?: string; activeRunId?: string }

/** Everything that was said in a thread. The message of a run under way is left out: it is followed. */
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

/** How a run stands; `gone`: its record is not kept any more. */
export async function readStatus(run: string): Promise<RunStatus | 'gone'> {
  try {
    return (await answer(api.GET('/runs/{run}', { params: { path: { run } } }))).status
  } catch (error) {
    if (error instanceof ProblemError && ['not_found', 'expired'].includes(error.code)) return 'gone'
    throw error
  }
}
