import { expect, test } from 'vitest'
import { safeUrl } from './safeUrl'

test.each([
  ['https://example.com/a?b#c', true],
  ['http://example.com', true],
  ['mailto:ann@example.com', true],
  ['javascript:alert(1)', false],
  ['JaVaScRiPt:alert(1)', false],
  ['\u0000javascript:alert(1)', false],
  ['java\nscript:alert(1)', false],
  ['data:text/html,x', false],
  ['vbscript:x', false],
  ['//example.com', false],
  ['/api/archive-email', false],
])('%s is safe: %s', (url, safe) => {
  expect(safeUrl(url) !== undefined).toBe(safe)
})
