// What the log of a run tells, as spans of chunk numbers. Pure: the log holds no times, so there are none here.
import type { Chunk, components } from '../api'

type Schemas = components['schemas']
export type Numbered = {
  seq: number
  chunk: Chunk /** When it came to this window; none where it was stored before. */
  arrived?: number
}
/** As the provider counts them. */
export type Tokens = { inputTokens: number; outputTokens: number; cachedInputTokens: number; reasoningTokens: number }

export type LeftOut = { messages: number; characters: number }

/** From the chunk `first` to the chunk `last`, both included. */
type Span = { first: number; last: number }

/** A holder's time with the run. */
export type Attempt = Span & {
  kind: 'attempt'
  number: number
  holder: Schemas['HolderKind']
  reason: Schemas['AttemptReason']
  /** Why it handed over. */
  handedOver?: string
}
/** One call of the model, and the calls that it asked for. */
export type Step = Span & { kind: 'step'; number: number; isFinished?: boolean; tokens?: Tokens }
/** What the model said or thought. */
export type Words = Span & {
  kind: 'text' | 'reasoning'
  id: string
  length: number
  isClosed?: boolean
  isVoid?: boolean
}
export type Outcome = 'output' | 'error' | 'unusable' | 'denied'
export type Call = Span & {
  kind: 'call'
  id: string
  name: string
  /** When the input was whole. */
  ready?: number
  /** Each time that it was about to run: more than once where a holder disappeared. */
  intents: number[]
  outcome?: { seq: number; is: Outcome; text?: string }
  approval?: 'asked' | 'agreed' | 'refused'
  /** Who answered. */
  decidedBy?: string
  progress?: Schemas['ProgressData']
  isVoid?: boolean
}
/** Documents that changed during one step. */
export type Changes = Span & { kind: 'changes'; scope: string; count: number; rev: number }
/** What the open step had shown is void. */
export type Reset = Span & { kind: 'reset' }
export type End = Span & { kind: 'end'; chunk: Extract<Chunk, { type: 'finish' | 'abort' | 'error' }> }
/** Nothing came for so long, as it was seen here. */
export type Gap = Span & { kind: 'gap'; ms: number }

export type Item = Attempt | Step | Words | Call | Changes | Reset | End | Gap
/** `items` are in the order in which they began. */
export type Timeline = {
  items: readonly Item[]
  /** Chunks so far. */
  count: number
  steps: number
  tokens?: Tokens
  /** What the model was not told, as the conversation is too long for it. */
  leftOut?: LeftOut
  end?: End
  /** Where in `items` the newest attempt and the open step are; -1: there is none. */
  attemptAt: number
  stepAt: number
  lastArrival?: number
}

export const EMPTY: Timeline = { items: [], count: 0, steps: 0, attemptAt: -1, stepAt: -1 }

/** A silence that is worth showing. */
export const GAP_MS = 2000

/** Takes in the next chunks of the log. Items that do not change stay the same objects. */
export function fold(before: Timeline, chunks: readonly Numbered[]): Timeline {
  if (chunks.length === 0) return before
  const items = [...before.items]
  let { tokens, leftOut, end, count, lastArrival, steps, attemptAt, stepAt } = before

  /** The newest item that fits, from the end back. */
  const find = <K extends Item['kind']>(kind: K, fits: (item: Extract<Item, { kind: K }>) => boolean) => {
    for (let at = items.length - 1; at >= 0; at -= 1) {
      const item = items[at] as Extract<Item, { kind: K }>
      if (item.kind === kind && fits(item)) return at
    }
    return -1
  }
  const change = <T extends Item>(at: number, to: Partial<T>) => {
    const item = items[at]
    if (item) items[at] = { ...item, ...to } as Item
  }
  const call = (id: string, seq: number, to: Partial<Call>, name?: string) => {
    const at = find('call', (one) => one.id === id)
    if (at >= 0) change<Call>(at, { last: seq, ...to })
    else items.push({ kind: 'call', id, name: name ?? id, intents: [], first: seq, last: seq, ...to })
  }
  const intend = (id: string, seq: number) => {
    const item = items[find('call', (one) => one.id === id)] as Call | undefined
    call(id, seq, { intents: [...(item?.intents ?? []), seq] })
  }
  const words = (kind: 'text' | 'reasoning', id: string, seq: number, more: string, isClosed?: boolean) => {
    const at = find(kind, (part) => part.id === id)
    const part = items[at] as Words | undefined
    if (part) change<Words>(at, { last: seq, length: part.length + more.length, ...(isClosed && { isClosed }) })
    else items.push({ kind, id, length: more.length, first: seq, last: seq })
  }

  for (const { seq, chunk, arrived } of chunks) {
    if (arrived !== undefined && lastArrival !== undefined && arrived - lastArrival >= GAP_MS) {
      items.push({ kind: 'gap', first: seq - 1, last: seq, ms: arrived - lastArrival })
    }
    lastArrival = arrived
    count = seq + 1
    if (chunk.type !== 'data-attempt') change<Attempt>(attemptAt, { last: seq })
    if (chunk.type !== 'start-step') change<Step>(stepAt, { last: seq })
    switch (chunk.type) {
      case 'data-attempt':
        attemptAt = items.length
        items.push({
          kind: 'attempt',
          number: chunk.data.attempt,
          holder: chunk.data.holder,
          reason: chunk.data.reason,
          first: seq,
          last: seq,
        })
        break
      case 'data-continue':
        change<Attempt>(attemptAt, { handedOver: chunk.data.reason })
        break
      case 'start-step':
        steps += 1
        stepAt = items.length
        items.push({ kind: 'step', number: steps, first: seq, last: seq })
        break
      case 'finish-step':
        change<Step>(stepAt, { isFinished: true })
        stepAt = -1
        break
      case 'reset-step':
        voidStep(items, stepAt)
        items.push({ kind: 'reset', first: seq, last: seq })
        break
      case 'text-start':
      case 'reasoning-start':
        words(chunk.type === 'text-start' ? 'text' : 'reasoning', chunk.id, seq, '')
        break
      case 'text-delta':
      case 'reasoning-delta':
        words(chunk.type === 'text-delta' ? 'text' : 'reasoning', chunk.id, seq, chunk.delta)
        break
      case 'text-end':
      case 'reasoning-end':
        words(chunk.type === 'text-end' ? 'text' : 'reasoning', chunk.id, seq, '', true)
        break
      case 'tool-input-start':
        items.push({ kind: 'call', id: chunk.toolCallId, name: chunk.toolName, intents: [], first: seq, last: seq })
        break
      case 'tool-input-delta':
        call(chunk.toolCallId, seq, {})
        break
      case 'tool-input-available':
        call(chunk.toolCallId, seq, { ready: seq, name: chunk.toolName }, chunk.toolName)
        break
      case 'tool-input-error':
        call(chunk.toolCallId, seq, { outcome: { seq, is: 'unusable', text: chunk.errorText } }, chunk.toolName)
        break
      case 'data-call':
        for (const id of chunk.data.toolCallIds) intend(id, seq)
        break
      case 'data-progress':
        call(chunk.id, seq, { progress: chunk.data })
        break
      case 'tool-output-available':
        call(chunk.toolCallId, seq, { outcome: { seq, is: 'output' } })
        break
      case 'tool-output-error':
        call(chunk.toolCallId, seq, { outcome: { seq, is: 'error', text: chunk.errorText } })
        break
      case 'tool-output-denied':
        call(chunk.toolCallId, seq, { outcome: { seq, is: 'denied' } })
        break
      case 'tool-approval-request':
        call(chunk.toolCallId, seq, { approval: 'asked' })
        break
      case 'tool-approval-response':
        call(chunk.approvalId, seq, { approval: chunk.approved ? 'agreed' : 'refused' })
        break
      case 'data-state': {
        const since = items[stepAt]?.first ?? 0
        const at = find('changes', (one) => one.scope === chunk.data.scope && one.first >= since)
        const have = items[at] as Changes | undefined
        if (have) change<Changes>(at, { last: seq, count: have.count + 1, rev: chunk.data.rev })
        else items.push({ kind: 'changes', ...chunk.data, count: 1, first: seq, last: seq })
        break
      }
      case 'message-metadata':
      case 'finish': {
        const told = (chunk.messageMetadata ?? {}) as Metadata
        const usage = told.usage && { ...NO_TOKENS, ...told.usage }
        if (usage && stepAt >= 0) change<Step>(stepAt, { tokens: difference(usage, tokens) })
        tokens = usage ?? tokens
        leftOut = told.leftOut ?? leftOut
        for (const [id, decidedBy] of Object.entries(told.decidedBy ?? {})) {
          change<Call>(
            find('call', (one) => one.id === id),
            { decidedBy },
          )
        }
        break
      }
    }
    if (chunk.type === 'finish' || chunk.type === 'abort' || chunk.type === 'error') {
      end = { kind: 'end', chunk, first: seq, last: seq }
      items.push(end)
    }
  }
  return { items, count, steps, tokens, leftOut, end, attemptAt, stepAt, lastArrival }
}

/** Whether the chunk is one of those that the item is made of. */
export function belongs(item: Item, { seq, chunk }: Numbered): boolean {
  if (seq < item.first || seq > item.last) return false
  switch (item.kind) {
    case 'call':
      if (chunk.type === 'data-call') return chunk.data.toolCallIds.includes(item.id)
      if (chunk.type === 'data-progress') return chunk.id === item.id
      if (chunk.type === 'tool-approval-response') return chunk.approvalId === item.id
      return 'toolCallId' in chunk && chunk.toolCallId === item.id
    case 'text':
    case 'reasoning':
      return chunk.type.startsWith(item.kind) && 'id' in chunk && chunk.id === item.id
    case 'changes':
      return chunk.type === 'data-state' && chunk.data.scope === item.scope
    default:
      return true
  }
}

function voidStep(items: Item[], step: number): void {
  for (let at = step + 1; step >= 0 && at < items.length; at += 1) {
    const item = items[at]
    if (item && (item.kind === 'text' || item.kind === 'reasoning' || item.kind === 'call')) {
      items[at] = { ...item, isVoid: true }
    }
  }
}

/** What is told of the message so far. */
type Metadata = { usage?: Partial<Tokens>; leftOut?: LeftOut; decidedBy?: Record<string, string> }
const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }

/** The log counts all tokens of the message so far. */
function difference(now: Tokens, before: Tokens | undefined): Tokens {
  if (!before || now.inputTokens < before.inputTokens) return now
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    cachedInputTokens: now.cachedInputTokens - before.cachedInputTokens,
    reasoningTokens: now.reasoningTokens - before.reasoningTokens,
  }
}
