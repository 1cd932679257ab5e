// Markdown in blocks that stand for themselves, so that what is finished is not read again while more comes. Pure.

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const LIST = /^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)/
/** Lines that other blocks refer to: such a text is one block. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m

/** Their concatenation is the text. A block ends at an empty line that nothing goes on over. */
export function blocksOf(text: string): string[] {
  if (DEFINITION.test(text)) return [text]
  const blocks: string[] = []
  let start = 0
  let fence: string | undefined
  let isList = false
  let isAfterGap = false
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const next = end === -1 ? text.length : end + 1
    const line = text.slice(at, end === -1 ? text.length : end)
    const mark = FENCE.exec(line)?.[1]
    const isEmpty = line.trim() === ''
    if (fence === undefined && isAfterGap && !isEmpty && !goesOn(line, isList)) {
      blocks.push(text.slice(start, at))
      start = at
      isList = false
    }
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
    } else if (mark) {
      fence = mark
    } else if (LIST.test(line)) {
      isList = true
    }
    isAfterGap = isEmpty && fence === undefined
    at = next
  }
  if (start < text.length) blocks.push(text.slice(start))
  return blocks
}

/** After an empty line: what is indented, and in a list its next item. */
const goesOn = (line: string, isList: boolean) => /^(\s{2,}|\t)/.test(line) || (isList && LIST.test(line))

const PLAIN = /^(?![\s\-+]|\d+[.)])[^\n*_`~[\]<>|\\&#!@$]*\n*$/
const LINK = /https?:|www\./i

/** Whether a block is one paragraph of words alone, in which there is nothing to read. */
export const isPlain = (block: string) => PLAIN.test(block) && !LINK.test(block)

const PIECE = 2000

/** A text in pieces of whole words: those that are full never change while more comes, so that only the last is laid out anew. */
export function piecesOf(text: string): string[] {
  const pieces = []
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE < text.length ? text.indexOf(' ', at + PIECE) + 1 || text.length : text.length
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}
