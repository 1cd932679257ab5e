// What `/app/` loads first is under 300 KB gzipped: the page, its scripts with all that
// they import at once, its styles and its font.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const MOST_KB = 300
const DIST = new URL('../dist/', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', DIST), 'utf8'))

const files = new Set(['index.html'])
const visit = (name) => {
  const { file, css = [], imports = [], assets = [] } = manifest[name]
  // Of the fonts a browser loads what the letters on the page need: here, the Latin ones.
  const fonts = assets.filter((asset) => /-latin-wght-.*\.woff2$/.test(asset))
  for (const one of [file, ...css, ...fonts]) files.add(one)
  for (const one of imports) visit(one)
}
visit('index.html')

const kb = (file) => gzipSync(readFileSync(new URL(file, DIST)), { level: 9 }).length / 1024
const sizes = [...files].map((file) => [file, kb(file)])
const sum = sizes.reduce((all, [, size]) => all + size, 0)
for (const [file, size] of sizes) console.log(`${size.toFixed(1).padStart(7)} KB  ${file}`)
console.log(`${sum.toFixed(1).padStart(7)} KB  in all, of ${MOST_KB}`)

const later = Object.values(manifest)
  .map(({ file }) => file)
  .filter((file) => file.endsWith('.js') && !files.has(file))
for (const file of later) console.log(`${kb(file).toFixed(1).padStart(7)} KB  ${file}, when it is needed`)
if (sum > MOST_KB) {
  console.error(`The start bundle is larger than ${MOST_KB} KB: load what is rarely needed with import().`)
  process.exit(1)
}
