import { expect, test } from 'vitest'
import { filesRefused, tooLong } from './sayable'

test('a message of more than 100 KB is told to be too long, in bytes', () => {
  expect(tooLong('a'.repeat(100_000))).toBeUndefined()
  expect(tooLong('ü'.repeat(50_000))).toBeUndefined()
  expect(tooLong('ü'.repeat(50_001))).toMatch(/101 KB/)
})

test('files are refused by name', () => {
  expect(filesRefused(['a.pdf'])).toMatch(/^“a.pdf” cannot be sent/)
  expect(filesRefused(['a.pdf', 'b.png'])).toMatch(/^These 2 files cannot/)
})
