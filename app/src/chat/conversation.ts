// One conversation as this window holds it: the stock chat, and what others do in the thread.
import { Chat } from '@ai-sdk/react'
import type { WindowEvent } from '../api'
import { answer, api } from '../api/client'
import { isPassing, ProblemError } from '../api/problem'
import { backoff, pause } from '../live/stream'
import { type History, type Message, readHistory } from './history'
import { Line, OtherRun } from './network/line'
import { placeMessage, placeRun, textOf } from './placing'

type Placed = Extract<WindowEvent, { type: 'message' | 'run' }>

/** What the window does about it. */
export type Around = {
  /** The thread's events are to come from this position of its messages, or from now on. */
  followThread: (position?: string) => void
  /** A run has begun, so that the thread exists. */
  onRun: () => void
}

/** What is not in the chat itself. Replaced when it changes. */
export type Extra = {
  /** What could not be sent, as another answer was under way. */
  unsent?: string
  /** The thread was deleted, or is not shared any more. */
  gone?: boolean
  /** What was shown of a message that is being told again. */
  before?: Message
  isStopping?: boolean
  /** The run that answers, or answered, what was said last. */
  run?: string
}

export class Conversation {
  readonly chat: Chat<Message>
  extra: Extra = {}
  /** The model that the next answers are asked of; none for the default. */
  model?: string
  private readonly line: Line
  private begin?: string
  /** Told while something else streamed: taken in order, after it. */
  private waiting: Placed[] = []
  private request: Promise<void> = Promise.resolve()
  /** What was asked last, which is asked again if the server refuses it; none where only a run was followed. */
  private asked?: 'send' | 'edit' | 'regenerate'
  private isReading = false
  private isClosed = false
  private watchers = new Set<() => void>()

  constructor(
    readonly thread: string,
    history: History,
    private readonly around: Around,
  ) {
    this.line = new Line((run) => {
      this.change({ run })
      this.around.onRun()
      if (this.extra.isStopping) void this.abort()
    })
    this.chat = new Chat<Message>({ id: thread, messages: history.messages, transport: this.line.transport })
    this.begin = history.activeRunId
  }

  /** Follows the run that was under way when the history was read. */
  open(): void {
    this.isClosed = false
    if (this.begin) this.follow(this.begin)
    this.begin = undefined
    this.settle()
  }

  /** Tells when `extra` changes. */
  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  get isBusy(): boolean {
    return this.chat.status === 'submitted' || this.chat.status === 'streaming'
  }

  /** Nothing is read any more; what runs goes on. */
  close(): void {
    this.isClosed = true
    void this.chat.stop()
  }

  take(event: WindowEvent): void {
    if (!('threadId' in event) || event.threadId !== this.thread) return
    if (event.type === 'gone') this.change({ gone: true })
    if (event.type !== 'message' && event.type !== 'run') return
    this.waiting.push(event)
    this.settle()
  }

  /** `whenBusy` says what is to become of a run that somebody else has begun meanwhile. */
  send(text: string, whenBusy: 'reject' | 'interrupt' = 'reject'): void {
    this.change({ unsent: undefined })
    this.ask('send', (body) => this.chat.sendMessage({ text }, { body: { ...body, whenBusy } }), text)
  }

  /** Says it differently: what followed is gone. */
  edit(message: string, text: string): void {
    if (this.isBusy) return
    this.ask('edit', (body) => this.chat.sendMessage({ text, messageId: message }, { body }), text)
  }

  /** Another answer in the place of the last one; what the server did not take is asked again as what it was. */
  again(): void {
    const { error, lastMessage: last } = this.chat
    const isRefused = error instanceof ProblemError && last?.role === 'user'
    if (isRefused && this.asked === 'edit') {
      // A message that is known with other words is taken as a change of it alone.
      this.edit(last.id, textOf(last))
    } else if (isRefused && this.asked !== 'regenerate') {
      this.chat.messages = this.chat.messages.slice(0, -1)
      this.ask('send', (body) => this.chat.sendMessage(last, { body }))
    } else {
      this.ask('regenerate', (body) => this.chat.regenerate({ messageId: last?.id, body }))
    }
  }

  /** Stops the answer that is being written; of one that is only asked for, as soon as it is. */
  async stop(): Promise<void> {
    if (!this.isBusy) return
    this.change({ isStopping: true })
    await this.abort()
    await this.request
  }

  /** Stops the answer, and says this instead. */
  async interrupt(text: string): Promise<void> {
    // To its end first, so that none of its last words is missing here.
    await this.stop()
    this.send(text, 'interrupt')
  }

  private ask(
    what: 'send' | 'edit' | 'regenerate',
    request: (body: { model?: string }) => Promise<void>,
    text?: string,
  ): void {
    this.asked = what
    this.line.run = undefined
    this.change({ run: undefined })
    this.request = request({ model: this.model }).then(() => {
      this.change({ isStopping: false })
      const { error } = this.chat
      if (error instanceof ProblemError && error.code === 'thread_busy') {
        // The store knows whether it has our message: what it does not have goes back to where it was written.
        return this.readAnew(text)
      }
      this.settle()
    })
  }

  private follow(run: string): void {
    const last = this.chat.lastMessage
    this.change({ before: last?.role === 'assistant' ? last : undefined })
    this.line.run = undefined
    this.line.expected = run
    this.asked = undefined
    this.request = this.chat.resumeStream().then(() => {
      this.change({ isStopping: false, before: undefined })
      if (this.chat.error instanceof OtherRun) return this.readAnew()
      this.settle()
    })
  }

  private settle(): void {
    if (this.isBusy || this.isReading || this.isClosed) return
    for (let event = this.waiting.shift(); event; event = this.waiting.shift()) {
      if (event.type === 'message') {
        const placed = placeMessage(this.chat.messages, event.n, event.message as Message)
        // How the answer before it ended does not matter any more, unless it is our own message that is told back.
        const isToldBack =
          this.chat.messages[event.n]?.id === event.message.id && placed.length === this.chat.messages.length
        if (!isToldBack) {
          this.chat.clearError()
          this.change({ run: undefined })
        }
        this.chat.messages = placed
      } else if (!this.line.read.has(event.run.runId)) {
        const messages = placeRun(this.chat.messages, event.n, event.run)
        if (!messages) continue
        this.chat.messages = messages
        this.follow(event.run.runId)
        return
      }
    }
  }

  /** What is shown becomes what is stored. */
  private async readAnew(unsent?: string): Promise<void> {
    this.isReading = true
    const history = await this.readStored()
    this.isReading = false
    if (!history || this.isClosed) return
    const mine = this.chat.messages.findLast(({ role }) => role === 'user')
    const isStored = history.messages.some(({ id }) => id === mine?.id)
    this.chat.clearError()
    this.chat.messages = history.messages
    this.waiting = []
    if (unsent !== undefined && !isStored) this.change({ unsent })
    this.around.followThread(history.position)
    if (history.activeRunId) this.follow(history.activeRunId)
  }

  private async readStored(): Promise<History | undefined> {
    const never = new AbortController().signal
    for (let failures = 1; !this.isClosed; failures += 1) {
      try {
        return await readHistory(this.thread)
      } catch (error) {
        if (!isPassing(error)) {
          this.change({ gone: true })
          return undefined
        }
        await pause(backoff(failures, Math.random()), never)
      }
    }
    return undefined
  }

  private async abort(): Promise<void> {
    const { run } = this.line
    if (run !== undefined) {
      await answer(api.POST('/runs/{run}/abort', { params: { path: { run } } }))
      return
    }
    const turn = this.chat.messages.findLast(({ role }) => role === 'user')?.id
    if (turn === undefined) return
    try {
      const path = { thread: this.thread, turn }
      await answer(api.POST('/threads/{thread}/turns/{turn}/abort', { params: { path } }))
    } catch (error) {
      // A conversation that is just being made: `onRun` comes back to it.
      if (!(error instanceof ProblemError && error.code === 'not_found')) throw error
    }
  }

  private change(extra: Partial<Extra>): void {
    this.extra = { ...this.extra, ...extra }
    for (const watcher of this.watchers) watcher()
  }
}
