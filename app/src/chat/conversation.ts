// One conversation as this window holds it: the stock chat, and what others do in the thread.
import { Chat } from '@ai-sdk/react'
import type { WindowEvent } from '../api'
import { answer, api } from '../api/client'
import { ProblemError } from '../api/problem'
import { type EffectOf, hasDone } from './done'
import { type History, type Message, readHistory, readStatus } from './history'
import { Line, OtherRun } from './network/line'
import { patiently } from './network/patiently'
import { placeMessage, placeRun, textOf } from './placing'

/** How long the last words of a stopped answer are waited for: a line that waits to ask again would take a minute. */
const LAST_WORDS_MS = 5_000

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
  /** What could not be sent, as another answer was under way or could not be stopped. */
  unsent?: string
  /** Why what is stored could not be read. */
  trouble?: Error
  /** How the answer stands is being read. */
  isReading?: boolean
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
  /** What each action changes. */
  effectOf: EffectOf = () => undefined
  private readonly line: Line
  private begin?: string
  /** Told while something else streamed: taken in order, after it. */
  private waiting: Placed[] = []
  private request: Promise<void> = Promise.resolve()
  /** What is stored is being read, and shown. */
  private reading: Promise<unknown> = Promise.resolve()
  /** What was asked last, which is asked again if the server refuses it; none where only a run was followed. */
  private asked?: 'send' | 'edit' | 'regenerate'
  private isClosed = false
  /** The stop under way, and what stops a run that begins only now. */
  private stopping?: Promise<void>
  private stopThis?: () => void
  private watchers = new Set<() => void>()

  constructor(
    readonly thread: string,
    history: History,
    private readonly around: Around,
  ) {
    this.line = new Line((run) => {
      this.change({ run })
      this.around.onRun()
      this.stopThis?.()
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
    if (this.extra.isReading) {
      // What is read would take its place.
      void this.reading.then(() => this.sendAfter(text, whenBusy))
      return
    }
    this.change({ unsent: undefined })
    this.ask('send', (body) => this.chat.sendMessage({ text }, { body: { ...body, whenBusy } }), text)
  }

  /** What came back meanwhile, or cannot be said now, is kept with it. */
  private sendAfter(text: string, whenBusy: 'reject' | 'interrupt'): void {
    const { unsent } = this.extra
    if (unsent === undefined && !(this.isBusy && whenBusy === 'reject')) this.send(text, whenBusy)
    else this.change({ unsent: unsent === undefined ? text : `${unsent}\n\n${text}` })
  }

  /** Says it differently: what followed is gone. */
  edit(message: string, text: string): void {
    if (this.isBusy) return
    this.ask('edit', (body) => this.chat.sendMessage({ text, messageId: message }, { body }), text)
  }

  /** Goes on with an answer that broke off here. Of one that has ended, another one; what was refused is asked again. */
  again(): void {
    if (this.isBusy || this.extra.isReading) return
    if (this.extra.trouble) void this.readAnew()
    else if (this.chat.error && this.extra.run !== undefined) this.reading = this.goOn(this.extra.run)
    else this.anew()
  }

  private anew(): void {
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

  /** Follows an answer to its end. Only one that has failed, and has done nothing, is asked for anew. */
  private async goOn(run: string): Promise<void> {
    const status = await this.read(() => readStatus(run))
    if (!status || this.isBusy) return
    const { lastMessage: last } = this.chat
    this.chat.clearError()
    if (status === 'gone') return this.readAnew()
    if (status !== 'failed') return this.follow(run, true)
    if (last?.role === 'assistant' && hasDone(last, this.effectOf)) return this.readAnew()
    this.anew()
  }

  /** Stops the answer that is being written; of one that is only asked for, as soon as it is. */
  stop(): Promise<void> {
    this.stopping ??= this.stopNow().finally(() => {
      this.stopping = undefined
    })
    return this.stopping
  }

  private async stopNow(): Promise<void> {
    if (!this.isBusy) return
    this.change({ isStopping: true })
    try {
      await new Promise<void>((resolve, reject) => {
        this.stopThis = () => void this.abort().catch(reject)
        this.abort()
          .then(() => this.ended())
          .then(resolve, reject)
      })
    } finally {
      this.stopThis = undefined
      this.change({ isStopping: false })
    }
  }

  /** The last words of a stopped answer have come; where they do not come soon, nobody waits for them. */
  private async ended(): Promise<void> {
    const late = setTimeout(() => void this.chat.stop(), LAST_WORDS_MS)
    await this.request.finally(() => clearTimeout(late))
  }

  /** Stops the answer, and says this instead. What cannot be said as it cannot be stopped goes back. */
  async interrupt(text: string): Promise<void> {
    this.change({ unsent: undefined })
    try {
      // To its end first, so that none of its last words is missing here.
      await this.stop()
    } catch (error) {
      this.change({ unsent: text })
      throw error
    }
    this.sendAfter(text, 'interrupt')
  }

  private ask(
    what: 'send' | 'edit' | 'regenerate',
    request: (body: { model?: string }) => Promise<void>,
    text?: string,
  ): void {
    this.asked = what
    this.line.run = undefined
    this.change({ run: undefined, trouble: undefined })
    this.request = request({ model: this.model }).then(() => {
      const { error } = this.chat
      if (error instanceof ProblemError && error.code === 'thread_busy') {
        // The store knows whether it has our message: what it does not have goes back to where it was written.
        return this.readAnew(text, this.chat.messages.findLast(({ role }) => role === 'user')?.id)
      }
      this.settle()
    })
  }

  /** `isBegun`: what is shown last is of this run, and is told again from its beginning. */
  private follow(run: string, isBegun = false): void {
    const { lastMessage: before } = this.chat
    const shown = before?.role === 'assistant' ? before : undefined
    this.change({ before: shown, run })
    if (isBegun && shown) this.chat.messages = this.chat.messages.slice(0, -1)
    this.line.run = undefined
    this.line.expected = run
    this.asked = undefined
    this.request = this.chat.resumeStream().then(() => {
      const { error, lastMessage: last } = this.chat
      // Nothing of it came again: what was there of it stays.
      if (error && shown && last?.role === 'user') this.chat.messages = [...this.chat.messages, shown]
      this.change({ before: undefined })
      if (error instanceof OtherRun) return this.readAnew()
      this.settle()
    })
  }

  private settle(): void {
    if (this.isBusy || this.extra.isReading || this.isClosed) return
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

  /** What is shown becomes what is stored. `unsent`: the text of the message `mine`, which goes back if it is not stored. */
  private readAnew(unsent?: string, mine?: string): Promise<void> {
    const read = this.takeStored(unsent, mine)
    this.reading = read
    return read
  }

  private async takeStored(unsent?: string, mine?: string): Promise<void> {
    const history = await this.read(() => readHistory(this.thread))
    if (!history) {
      // Nobody knows whether it is stored: words that stand twice are better than none.
      if (unsent !== undefined) this.change({ unsent })
      return
    }
    const isStored = history.messages.some(({ id }) => id === mine)
    this.chat.clearError()
    this.chat.messages = history.messages
    this.waiting = []
    if (unsent !== undefined && !isStored) this.change({ unsent })
    this.change({ run: undefined })
    this.around.followThread(history.position)
    if (history.activeRunId) this.follow(history.activeRunId)
  }

  /** Undefined where there is no answer to be had, or nobody waits for it any more. */
  private async read<T>(ask: () => Promise<T>): Promise<T | undefined> {
    this.change({ isReading: true, trouble: undefined })
    try {
      return await patiently(ask, () => !this.isClosed)
    } catch (error) {
      const isGone = error instanceof ProblemError && error.code === 'not_found'
      this.change(isGone ? { gone: true } : { trouble: error as Error })
      return undefined
    } finally {
      this.change({ isReading: false })
    }
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
