import { expect, test } from 'vitest'
import { blocksOf, isPlain, piecesOf } from './blocks'

test.each([
  ['paragraphs', 'a\nb\n\nc', ['a\nb\n\n', 'c']],
  ['a fence with empty lines', '```js\na\n\nb\n```\n\nc', ['```js\na\n\nb\n```\n\n', 'c']],
  ['an open fence', 'x\n\n```\na\n\nb', ['x\n\n', '```\na\n\nb']],
  ['another mark within a fence', '~~~\n```\n\n~~~\n\nb', ['~~~\n```\n\n~~~\n\n', 'b']],
  ['a list with gaps', '1. a\n\n2. b\n\n   more\n\nend', ['1. a\n\n2. b\n\n   more\n\n', 'end']],
  ['a list after a paragraph', 'a\n\n- b\n- c', ['a\n\n', '- b\n- c']],
  ['definitions', '[x]\n\nb\n\n[x]: https://example.com', ['[x]\n\nb\n\n[x]: https://example.com']],
  ['nothing', '', []],
])('%s', (_, text, blocks) => {
  expect(blocksOf(text)).toEqual(blocks)
})

test('while text comes, finished blocks stay the same and nothing is lost', () => {
  const text = '# a\n\nb **c\nd**\n\n- e\n\n- f\n\n```\ng\n\nh\n```\n\n| i | j |\n|---|---|\n| 1 | 2 |\n\nend'
  let before: string[] = []
  for (let end = 0; end <= text.length; end += 1) {
    const blocks = blocksOf(text.slice(0, end))
    expect(blocks.join('')).toBe(text.slice(0, end))
    expect(blocks.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
    before = blocks
  }
})

test('words alone are plain; whatever may mean something is not', () => {
  expect(['w1 w2 w3.', 'Grüße, 你好 (at 10:30)\n\n', 'a - b = c'].map(isPlain)).toEqual([true, true, true])
  const marked = [
    '**a**',
    '- a',
    '1. a',
    '    a',
    'a\nb',
    '# a',
    '<b>',
    '[a]',
    '&amp;',
    'see https://a.example',
    'a@b.example',
    '| a |',
  ]
  expect(marked.filter(isPlain)).toEqual([])
})

test('a long paragraph is in pieces of whole words, of which only the last one changes', () => {
  const text = 'word '.repeat(1000)
  const pieces = piecesOf(text)
  expect(pieces.join('')).toBe(text)
  expect(pieces.length).toBeGreaterThan(2)
  expect(piecesOf(`${text}more`).slice(0, pieces.length - 1)).toEqual(pieces.slice(0, -1))
  expect(piecesOf('x'.repeat(4500))).toEqual(['x'.repeat(4500)])
})
