/** The address if a click on it is harmless, else undefined. */
export function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  return ['http:', 'https:', 'mailto:'].includes(new URL(url).protocol) ? url : undefined
}
