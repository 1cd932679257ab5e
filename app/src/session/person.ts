/** Who uses this window: `user` is the id by which the server knows them, `name` what people call them. */
export type Person = { tenant: string; user: string; name?: string }

const KEY = 'tandem.person'
const NOBODY: Person = { tenant: 'local', user: 'you' }

/** People to be on a developer's machine, where nobody signs in. */
export const DEV_PEOPLE = ['you', 'ann', 'bo']

/** The dev person of this tab: a second tab may be somebody else. */
export function devPerson(): Person {
  const name = sessionStorage.getItem(KEY)
  return name && isName(name) ? { ...NOBODY, user: name } : NOBODY
}

/** Becomes somebody else. Everything that was loaded belonged to the other, so the page begins anew. */
export function becomeDevPerson(user: string): void {
  sessionStorage.setItem(KEY, user)
  window.location.assign(import.meta.env.BASE_URL)
}

export const devToken = (person: Person) => `dev.${person.tenant}.${person.user}`

/** What the server takes as the name of a dev person. */
export const isName = (text: string) => /^[\w:~-]{1,128}$/.test(text)

/** The server's id of whom an issuer calls `subject`: every byte that no id may hold is `~XX`, a long one is hashed. */
export async function userId(subject: string): Promise<string> {
  const bytes = new TextEncoder().encode(subject)
  const parts = [...bytes].map((byte) => {
    const letter = String.fromCharCode(byte)
    return /[A-Za-z0-9_.:-]/.test(letter) ? letter : `~${hex(byte).toUpperCase()}`
  })
  const id = parts.join('')
  if (id.length <= 128) return id
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `~sha256.${[...hash].map(hex).join('')}`
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0')
