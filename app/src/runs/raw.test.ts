import { expect, test } from 'vitest'
import type { Chunk } from '../api'
import { curlOf } from './curl'
import { MOST_SHOWN, pretty, preview, visible } from './raw'

test('what cannot be seen or turns the direction is shown as an escape, and is still the same JSON', () => {
  const text = 'a\u202eb\u200bc\ufeff\u2066\u{e0041}\u0085ü👍\u2028'
  const shown = visible(JSON.stringify(text))
  expect(shown).toBe('"a\\u202eb\\u200bc\\ufeff\\u2066\\udb40\\udc41\\u0085ü👍\\u2028"')
  expect(JSON.parse(shown)).toBe(text)
})

test('a chunk of any size is shown in a size that can be looked at, and says what is missing', () => {
  const chunk: Chunk = { type: 'text-delta', id: '1', delta: 'x'.repeat(1_000_000) }
  expect(preview(chunk).length).toBeLessThan(200)
  const { text, missing } = pretty(chunk)
  expect(text.length).toBe(MOST_SHOWN)
  expect(text.length + missing).toBe(JSON.stringify(chunk, null, 2).length)
  expect(pretty({ type: 'start-step' })).toEqual({ text: '{\n  "type": "start-step"\n}', missing: 0 })
  expect(preview({ type: 'start-step' })).toBe('')
})

test('the command for the log holds no word that a shell would act on', () => {
  expect(curlOf('http://h', "run'; rm -rf /", "dev.local.o'x")).toBe(
    "curl -N -H 'Authorization: Bearer dev.local.o'\\''x' 'http://h/runs/run'\\''%3B%20rm%20-rf%20%2F/events'",
  )
  expect(curlOf('https://h', 'run_1')).toBe('curl -N -H "Authorization: Bearer $TOKEN" \'https://h/runs/run_1/events\'')
})
