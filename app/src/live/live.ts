// The one stream of this window: it comes back for ever, and tells the feed and whoever listens.
import type { Code, WindowEvent } from '../api'
import { askedToWait, ProblemError } from '../api/problem'
import type { Feed } from './feed'
import { backoff, pause, readStream } from './stream'

/** What every window follows. The scope `thread:T` comes with the thread. */
export const SCOPES = ['app:inbox', 'user', 'tenant']

/** What the server says where it cannot go on from what it was given. */
const POSITION_IS_WRONG: Code[] = ['invalid_input', 'invalid_request', 'expired']

export type LiveStatus = 'connecting' | 'live' | 'offline'
type Listener = (event: WindowEvent) => void

export class Live {
  status: LiveStatus = 'connecting'
  private thread?: { id: string; position?: string }
  private cursor?: string
  private connection = new AbortController()
  private stopped = false
  private listeners = new Set<Listener>()
  private watchers = new Set<() => void>()

  constructor(readonly feed: Feed) {}

  start(): void {
    this.stopped = false
    void this.run()
  }

  stop(): void {
    this.stopped = true
    this.connection.abort()
  }

  /**
   * Follows this thread instead of the one before; from `position` of its messages, or from now on. Of a thread that is
   * followed already, everything since `position` comes again.
   */
  followThread(id: string | undefined, position?: string): void {
    if (this.thread?.id === id && position === undefined) return
    this.thread = id === undefined ? undefined : { id, position }
    this.cursor = undefined
    this.connection.abort()
  }

  /** Tells of every event, until the answer is called. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Tells when `status` changes. */
  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  private async run(): Promise<void> {
    let failures = 0
    while (!this.stopped) {
      this.connection = new AbortController()
      const { signal } = this.connection
      const began = Date.now()
      try {
        await readStream(this.address(), {
          signal,
          lastEventId: this.cursor,
          onOpen: () => {
            failures = 0
            this.setStatus('live')
          },
          onEvent: ({ id, data }) => {
            if (!signal.aborted) this.take(JSON.parse(data) as WindowEvent, id)
          },
        })
        // The server ends a stream after 55 s. One that ends at once would be asked for without a pause.
        if (Date.now() - began < 1000) await pause(1000, signal)
      } catch (error) {
        if (signal.aborted) continue
        failures += 1
        this.setStatus(failures > 1 ? 'offline' : 'connecting')
        this.forgetWhatIsRefused(error)
        await pause(Math.max(backoff(failures, Math.random()), askedToWait(error)), signal)
      }
    }
  }

  private address(): string {
    const query = new URLSearchParams()
    if (this.thread) query.set('thread', this.thread.id + (this.thread.position ? `@${this.thread.position}` : ''))
    for (const scope of SCOPES) {
      const position = this.feed.position(scope)
      query.append('scope', position === undefined ? scope : `${scope}@${position}`)
    }
    return `/events?${query}`
  }

  private take(event: WindowEvent, id: string | undefined): void {
    this.feed.take(event, id !== undefined)
    if (id !== undefined) this.cursor = id
    if (event.type === 'gone') {
      this.thread = undefined
      this.cursor = undefined
    }
    for (const listener of this.listeners) listener(event)
  }

  /**
   * A thread that is not ours any more, or a position that is not taken, would be refused for ever. Whatever else is
   * refused, such as a token that has just ended or one stream too many, says nothing of the position: what happens
   * meanwhile comes after it.
   */
  private forgetWhatIsRefused(error: unknown): void {
    if (!(error instanceof ProblemError)) return
    if (error.code === 'not_found') this.thread = undefined
    if (!POSITION_IS_WRONG.includes(error.code)) return
    // The cursor first, as it wins over the positions in the address: from those nothing is missed either.
    const hadCursor = this.cursor !== undefined
    this.cursor = undefined
    if (hadCursor) return
    this.feed.forgetPositions()
    if (this.thread) this.thread = { id: this.thread.id }
  }

  private setStatus(status: LiveStatus): void {
    if (this.status === status) return
    this.status = status
    for (const watcher of this.watchers) watcher()
  }
}
