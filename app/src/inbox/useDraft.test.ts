import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { beforeEach, expect, test, vi } from 'vitest'
import { ProblemError } from '../api/problem'

const posted = vi.fn()
const removed = vi.fn()
const write = vi.fn()
vi.mock('../api/client', () => ({
  answer: (call: unknown) => call,
  api: {
    POST: (_: string, { body, params }: { body: { body: string }; params: { header: Record<string, string> } }) =>
      posted(body.body, params.header['Idempotency-Key']),
    DELETE: () => removed(),
  },
}))
vi.mock('../layout/typing', () => ({ sayTyping: () => {}, stopTyping: () => {} }))
vi.mock('../live/hooks', () => ({
  useDocuments: () => ({ data: { rev: 0, docs: new Map() } }),
  useWriteDocument: () => write,
}))
const { useDraft } = await import('./useDraft')

type Editor = ReturnType<typeof useDraft>

function Box({ email, give }: { email: string; give: (editor: Editor) => void }) {
  give(useDraft(email))
  return null
}

/** The editor as one render gives it: what it does, it does without another one. */
function editorOf(email: string): Editor {
  const given: Editor[] = []
  renderToString(createElement(Box, { email, give: (editor) => given.push(editor) }))
  return given[0] as Editor
}
const lost = () => Promise.reject(new TypeError('Failed to fetch'))
const keys = () => posted.mock.calls.map(([, key]) => key)

let rev = 0
beforeEach(() => {
  for (const one of [posted, removed, write]) one.mockReset()
  posted.mockResolvedValue({})
  removed.mockResolvedValue({})
  write.mockImplementation(async () => ({ rev: ++rev }))
})

test('a reply whose answer was lost is the same reply when it is sent again, until its text changes', async () => {
  const editor = editorOf('e-1')
  editor.type('On my way.')
  posted.mockImplementationOnce(lost).mockImplementationOnce(lost).mockImplementationOnce(lost)
  await expect(editor.send()).rejects.toThrow(TypeError)
  await expect(editor.send()).rejects.toThrow(TypeError)
  // Also for who has left the email and come back.
  const back = editorOf('e-1')
  back.type('On my way.')
  await expect(back.send()).rejects.toThrow(TypeError)
  const [first] = keys()
  expect(first).toBeTruthy()
  expect(keys()).toEqual([first, first, first])
  back.type('On my way!')
  await back.send()
  expect(keys()[3]).not.toBe(first)
  // The same words once more are another reply.
  back.type('On my way!')
  await back.send()
  expect(new Set(keys()).size).toBe(3)
})

test('what could not be written before it was sent was not sent, and what was sent stays so', async () => {
  const editor = editorOf('e-2')
  editor.type('Hi')
  write.mockImplementationOnce(lost)
  await expect(editor.send()).rejects.toMatchObject({ why: expect.any(TypeError) })
  const taken = {
    type: 'about:blank',
    title: '',
    detail: 'First.',
    status: 409,
    code: 'conflict',
    current: null,
  } as const
  write.mockImplementationOnce(() => Promise.reject(new ProblemError(taken)))
  await expect(editor.send()).rejects.toMatchObject({ why: { problem: taken } })
  expect(posted).not.toHaveBeenCalled()
  removed.mockImplementationOnce(lost)
  await expect(editor.send()).resolves.toBeUndefined()
})
