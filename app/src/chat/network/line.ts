// The line to the runs of one conversation: what its transport fetches through.
import { WorkflowChatTransport } from '@ai-sdk/workflow/client'
import { authorizedFetch } from '../../api/client'
import { asProblem, ProblemError } from '../../api/problem'
import type { Message } from '../history'
import { steadyFetch } from './steadyFetch'

/** The thread's stream is not that of the run that was to be followed: what is shown must be read anew. */
export class OtherRun extends Error {}

export class Line {
  /** The run whose stream is read; none while it is only asked for. */
  run?: string
  /** Every run whose stream has been read here. */
  readonly read = new Set<string>()
  /** The run that the thread's stream must be of. */
  expected?: string
  readonly transport: WorkflowChatTransport<Message>
  private readonly ask: typeof fetch

  constructor(private readonly onRun: (run: string) => void) {
    this.ask = steadyFetch(authorizedFetch)
    this.transport = new WorkflowChatTransport<Message>({
      api: '/api/agent-chat',
      fetch: (input, init) => this.fetch(input, init),
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
        body: { id, messages: messages.slice(-1), trigger, messageId, ...body },
      }),
    })
  }

  private async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const response = await this.ask(input, init)
    if (!response.ok) {
      throw new ProblemError(asProblem(await response.json().catch(() => undefined), response.status))
    }
    const run = response.headers.get('x-run-id') ?? undefined
    // A stream that is asked for by the id of its run is always that run's.
    const ofThread = init?.method !== 'POST' && !String(input).includes('/run_')
    if (ofThread && run !== this.expected) {
      void response.body?.cancel()
      throw new OtherRun('Another run has followed.')
    }
    if (run && run !== this.run) {
      this.run = run
      this.read.add(run)
      this.onRun(run)
    }
    return response
  }
}
