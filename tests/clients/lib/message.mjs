// What a message says, and the rules that every rendering of a thread keeps.

export const text = message => message.parts.filter(part => part.type === 'text').map(part => part.text).join('\n')

/** The numbered words that `@say` speaks. */
export const words = message => (message ? text(message).match(/\bw\d+\b/g) ?? [] : [])

/** `[name, state]` of each tool part. */
export const calls = message =>
  message.parts.filter(part => part.type.startsWith('tool-')).map(part => [part.type.slice('tool-'.length), part.state])

export const roles = messages => messages.map(message => message.role).join(' ')

/** The rules that these messages break. */
export function rules(messages) {
  const broken = []
  messages.forEach((message, at) => {
    if (message.role === messages[at - 1]?.role) broken.push(`two ${message.role} messages in a row`)
    const said = words(message)
    if (said.some((word, n) => word !== `w${n + 1}`)) broken.push(`words not once and in order: ${said.join(' ')}`)
    const ids = message.parts.map(part => part.toolCallId).filter(Boolean)
    if (new Set(ids).size < ids.length) broken.push(`a call shown twice: ${ids.join(' ')}`)
  })
  return broken
}
