import { createElement as h } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import type { Message } from '../history'

vi.mock('../../api/client', () => ({ api: {} }))
vi.mock('../approval/useApproval', () => ({ useAnswered: () => undefined }))
vi.mock('../approval/ApprovalCard', () => ({ ApprovalCard: () => null }))
vi.mock('../approval/Decision', () => ({ Decision: () => null }))
vi.mock('../../layout/RunLink', () => ({ RunLink: () => null }))
vi.mock('../../ui/IconButton', () => ({ IconButton: ({ label }: { label: string }) => h('i', {}, label) }))
vi.mock('../Markdown', () => ({ Markdown: () => null }))
const { AssistantMessage } = await import('../AssistantMessage')

const effects = { 'read-email': 'read', email: 'transactional', 'send-email': 'external' } as const
const again = { anew: () => {}, ask: () => {} }

type Given = { isOver?: boolean; isPassed?: boolean }

/** A message with these calls, as it is shown. */
function shown(calls: object[], { isOver = true, isPassed = false }: Given = {}) {
  const parts = calls.map((call, at) => ({ type: 'tool-send-email', toolCallId: `c${at}`, input: {}, ...call }))
  const message = { id: 'a', role: 'assistant', parts } as unknown as Message
  const html = renderToStaticMarkup(
    h(AssistantMessage, {
      message,
      isStreaming: !isOver,
      isPassed,
      isOver,
      effectOf: (action: string) => effects[action as keyof typeof effects],
      again: isOver && !isPassed ? again : undefined,
    }),
  )
  return { html, spins: html.includes('animate-spin'), text: html.replace(/<[^>]*>/g, ' ') }
}

const OPEN = ['input-streaming', 'input-available', 'approval-responded'] as const
const approval = { id: 'x', approved: true }

test.each(OPEN)('a call that is left %s spins while its run goes on, and never after it', (state) => {
  expect(shown([{ state, approval }], { isOver: false }).spins).toBe(true)
  for (const given of [{}, { isPassed: true }]) {
    const card = shown([{ state, approval }], given)
    expect(card.spins).toBe(false)
    expect(card.text).toMatch(/It was stopped/)
    expect(card.text).not.toMatch(/\b(Working|Preparing|Failed)\b/)
  }
})

test('what was under way may have happened, a read was stopped, and what never began has done nothing', () => {
  expect(shown([{ state: 'input-available' }]).text).toMatch(/Outcome unknown.*may or may not have happened/)
  expect(shown([{ type: 'tool-read-email', state: 'input-available' }]).text).toMatch(/Stopped.*before it was done/)
  expect(shown([{ state: 'input-streaming' }]).text).toMatch(/Stopped.*Nothing was done/)
})

test('an outcome that is not known is no failure', () => {
  const errorText = 'it may or may not have happened: check before you try again'
  const { text } = shown([{ state: 'output-error', errorText }])
  expect(text).toMatch(/Outcome unknown.*It may or may not have happened: check/)
  expect(text).toContain('Ask to check it')
  expect(text).not.toContain('Failed')
  expect(shown([{ state: 'output-error', errorText: 'No. [denied_there]' }]).text).toContain('Failed')
  const before = 'The run ended before this began. Nothing was run.'
  expect(shown([{ state: 'output-error', errorText: before }]).text).toMatch(/Stopped.*Nothing was run/)
})

test('an answer to one of several questions does not spin while the others wait, nor is it given up', () => {
  const asks = { state: 'approval-requested', approval: { id: 'y' } }
  const { spins, text } = shown([{ state: 'approval-responded', approval }, asks])
  expect(spins).toBe(false)
  expect(text).toMatch(/Answered.*Needs your word/)
  expect(text).not.toContain('It was stopped')
})

test('another answer takes the place of one that has done nothing, and follows one that has', () => {
  const failed = { type: 'tool-read-email', state: 'output-error', errorText: 'There is no email e-9. [not_found]' }
  const nothing = shown([failed]).text
  expect(nothing).toContain('Try again')
  expect(nothing).toContain('Answer again')
  const something = shown([{ type: 'tool-email', state: 'output-available', output: {} }, failed]).text
  expect(something).toContain('Ask to try it again')
  expect(something).toContain('Ask for another answer')
  expect(something).not.toMatch(/Try again|Answer again/)
})
