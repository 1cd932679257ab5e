/** Who uses this window, as the server knows them. */
export type Person = { tenant: string; user: string }

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
