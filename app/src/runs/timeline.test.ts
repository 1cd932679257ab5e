import { expect, test } from 'vitest'
import type { Chunk } from '../api'
import { belongs, EMPTY, fold, GAP_MS, type Item, type Numbered } from './timeline'

const call = (toolCallId: string) => ({ toolCallId, toolName: 'read-email' })
const attempt = (number: number, reason: 'claimed' | 'continued' | 'recovered' = 'claimed'): Chunk => ({
  type: 'data-attempt',
  data: { attempt: number, holder: 'background', reason },
  transient: true,
})
const intent = (...toolCallIds: string[]): Chunk => ({ type: 'data-call', data: { toolCallIds }, transient: true })
const usage = (inputTokens: number, outputTokens: number): Chunk => ({
  type: 'message-metadata',
  messageMetadata: { usage: { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 } },
})
const START: Chunk = { type: 'start', messageId: 'msg_1' }
const number = (chunks: Chunk[], from = 0): Numbered[] => chunks.map((chunk, at) => ({ seq: from + at, chunk }))
const items = (...chunks: Chunk[]) => fold(EMPTY, number(chunks)).items
const only = <K extends Item['kind']>(all: readonly Item[], kind: K) =>
  all.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind)

const STEP: Chunk[] = [
  START,
  attempt(1),
  { type: 'start-step' },
  { type: 'text-start', id: '1.1' },
  { type: 'text-delta', id: '1.1', delta: 'hello' },
  { type: 'text-end', id: '1.1' },
  { type: 'tool-input-start', ...call('a') },
  { type: 'tool-input-delta', toolCallId: 'a', inputTextDelta: '{}' },
  { type: 'tool-input-available', ...call('a'), input: {} },
  { type: 'tool-input-available', ...call('b'), input: {} },
  intent('a', 'b'),
  { type: 'data-progress', id: 'a', data: { label: 'Reading', done: 1, total: 2 } },
  { type: 'tool-output-error', toolCallId: 'b', errorText: 'no [not_found]' },
  { type: 'tool-output-available', toolCallId: 'a', output: 1 },
  usage(100, 10),
  { type: 'finish-step' },
  { type: 'start-step' },
  usage(250, 15),
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop' },
]

test('attempts, steps, words and calls are the chunks from their first to their last', () => {
  expect(items(...STEP)).toEqual([
    { kind: 'attempt', number: 1, holder: 'background', reason: 'claimed', first: 1, last: 19 },
    { kind: 'step', number: 1, first: 2, last: 15, isFinished: true, tokens: tokens(100, 10) },
    { kind: 'text', id: '1.1', length: 5, isClosed: true, first: 3, last: 5 },
    {
      kind: 'call',
      id: 'a',
      name: 'read-email',
      ready: 8,
      intents: [10],
      progress: { label: 'Reading', done: 1, total: 2 },
      outcome: { seq: 13, is: 'output' },
      first: 6,
      last: 13,
    },
    {
      kind: 'call',
      id: 'b',
      name: 'read-email',
      ready: 9,
      intents: [10],
      outcome: { seq: 12, is: 'error', text: 'no [not_found]' },
      first: 9,
      last: 12,
    },
    { kind: 'step', number: 2, first: 16, last: 18, isFinished: true, tokens: tokens(150, 5) },
    { kind: 'end', chunk: { type: 'finish', finishReason: 'stop' }, first: 19, last: 19 },
  ])
})

test('however the log is cut into pieces, the timeline is the same, and what was handed out before stays as it was', () => {
  const whole = fold(EMPTY, number(STEP))
  for (let at = 0; at <= STEP.length; at += 1) {
    const half = fold(EMPTY, number(STEP.slice(0, at)))
    const copy = structuredClone(half)
    expect(fold(half, number(STEP.slice(at), at))).toEqual(whole)
    expect(half).toEqual(copy)
  }
})

test('what a step showed before its holder disappeared is void, and the step goes on', () => {
  const all = items(
    START,
    attempt(1),
    { type: 'start-step' },
    { type: 'text-start', id: '1.1' },
    attempt(2, 'recovered'),
    { type: 'reset-step' },
    { type: 'text-start', id: '2.1' },
    { type: 'text-delta', id: '2.1', delta: 'x' },
  )
  expect(only(all, 'attempt').map(({ first, last }) => [first, last])).toEqual([
    [1, 3],
    [4, 7],
  ])
  expect(only(all, 'text').map(({ id, isVoid }) => [id, isVoid])).toEqual([
    ['1.1', true],
    ['2.1', undefined],
  ])
  expect(only(all, 'step')).toEqual([{ kind: 'step', number: 1, first: 2, last: 7 }])
  expect(only(all, 'reset')).toHaveLength(1)
})

test('a call whose holder disappeared shows every time that it was about to run', () => {
  const all = items(
    START,
    attempt(1),
    { type: 'start-step' },
    { type: 'tool-input-available', ...call('a'), input: {} },
    intent('a'),
    attempt(2, 'recovered'),
    intent('a'),
    { type: 'tool-output-available', toolCallId: 'a', output: 1 },
  )
  expect(only(all, 'call')[0]?.intents).toEqual([4, 6])
})

test('a hand-over belongs to the attempt that ends with it', () => {
  const all = items(
    START,
    attempt(1),
    { type: 'data-continue', data: { reason: 'soft_timeout' }, transient: true },
    attempt(2, 'continued'),
  )
  expect(only(all, 'attempt').map(({ handedOver }) => handedOver)).toEqual(['soft_timeout', undefined])
})

test('an approval is asked for, answered and carried out', () => {
  const asked: Chunk[] = [
    START,
    { type: 'tool-input-available', ...call('a'), input: {} },
    { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'a' },
  ]
  expect(only(items(...asked), 'call')[0]?.approval).toBe('asked')
  const refused: Chunk[] = [
    { type: 'tool-approval-response', approvalId: 'a', approved: false },
    { type: 'tool-output-denied', toolCallId: 'a' },
  ]
  const told: Chunk = { type: 'message-metadata', messageMetadata: { decidedBy: { a: 'ann', other: 'bo' } } }
  const answered = only(items(...asked, ...refused, told), 'call')[0]
  expect(answered).toMatchObject({ approval: 'refused', decidedBy: 'ann', outcome: { is: 'denied' } })
})

test('changes of one scope within a step are one item', () => {
  const change = (scope: string, rev: number): Chunk => ({ type: 'data-state', data: { scope, rev }, transient: true })
  const all = items(
    { type: 'start-step' },
    change('a', 1),
    change('b', 1),
    change('a', 2),
    { type: 'finish-step' },
    {
      type: 'start-step',
    },
    change('a', 3),
  )
  expect(only(all, 'changes').map(({ scope, count, rev }) => [scope, count, rev])).toEqual([
    ['a', 2, 2],
    ['b', 1, 1],
    ['a', 1, 3],
  ])
})

test('only a silence between two chunks that were seen to arrive is a gap', () => {
  const chunk: Chunk = { type: 'text-delta', id: '1', delta: 'x' }
  const at = (...arrived: (number | undefined)[]) =>
    only(
      fold(
        EMPTY,
        arrived.map((time, seq) => ({ seq, chunk, arrived: time })),
      ).items,
      'gap',
    )
  expect(at(0, GAP_MS - 1)).toEqual([])
  expect(at(undefined, 60_000, undefined, 200_000)).toEqual([])
  expect(at(0, 5000)).toEqual([{ kind: 'gap', first: 0, last: 1, ms: 5000 }])
})

test('each chunk of a call, and no other, is its own', () => {
  const all = items(...STEP)
  const own = (item?: Item) =>
    item &&
    number(STEP)
      .filter((one) => belongs(item, one))
      .map(({ seq }) => seq)
  const [a, b] = only(all, 'call')
  expect(own(a)).toEqual([6, 7, 8, 10, 11, 13])
  expect(own(b)).toEqual([9, 10, 12])
  expect(own(only(all, 'text')[0])).toEqual([3, 4, 5])
  expect(own(only(all, 'step')[1])).toEqual([16, 17, 18])
})

function tokens(inputTokens: number, outputTokens: number) {
  return { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 }
}

test('what the model was not told is known', () => {
  const leftOut = { messages: 12, characters: 340 }
  const told: Chunk = { type: 'message-metadata', messageMetadata: { leftOut } }
  const log = [START, told, usage(100, 10)].map((chunk, seq) => ({ seq, chunk }))
  expect(fold(EMPTY, log)).toMatchObject({ leftOut, tokens: { inputTokens: 100 } })
})
