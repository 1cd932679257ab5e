// What the server would refuse, told before it is sent. Pure.

const MOST_BYTES = 100_000

/** Why this text cannot be sent; undefined if it can. */
export function tooLong(text: string): string | undefined {
  // Only then it can matter: a character is at most 3 bytes of its own.
  if (text.length * 3 <= MOST_BYTES) return undefined
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= MOST_BYTES) return undefined
  return `This is ${Math.ceil(bytes / 1000).toLocaleString('en')} KB; a message holds at most 100 KB. Shorten it, or send it in parts.`
}

/** What to tell somebody who brings files. */
export function filesRefused(names: string[]): string {
  const what = names.length === 1 && names[0] ? `“${names[0]}”` : `These ${names.length} files`
  return `${what} cannot be sent: the agent takes text alone. Paste the text instead.`
}
