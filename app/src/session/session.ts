import { devPerson, devToken, type Person } from './person'

/** `config.json` beside the page; `{}` means dev people. */
type Config = {
  oidc?: { authority: string; clientId: string; scope?: string; audience?: string; tenantClaim?: string }
}
export type OidcConfig = NonNullable<Config['oidc']>

type Session = {
  person: Person
  token: () => string | Promise<string>
  /** Has another token made, where the one there is may be refused. Fails where none is to be had. */
  renew?: () => Promise<string | undefined>
  /** Only where people sign in. */
  signOut?: () => Promise<void>
}

let session: Session | undefined

/** Finds out who this is, before anything is asked of the server. May leave the page to sign in. */
export async function startSession(): Promise<void> {
  const { oidc } = await readConfig()
  if (oidc) {
    const { signIn } = await import('./oidc')
    session = await signIn(oidc)
    return
  }
  const person = devPerson()
  session = { person, token: () => devToken(person) }
}

export async function accessToken(): Promise<string> {
  return current().token()
}

/** The token to use instead of one that was refused; undefined where there is none. */
export async function renewedToken(refused: string): Promise<string | undefined> {
  const now = await accessToken()
  if (now !== refused) return now
  const renewed = await current()
    .renew?.()
    .catch(() => undefined)
  return renewed === refused ? undefined : renewed
}

export const whoAmI = (): Person => current().person
export const signOut = () => current().signOut
export const isDev = () => current().signOut === undefined

function current(): Session {
  if (!session) throw new Error('The session has not begun: call startSession first.')
  return session
}

async function readConfig(): Promise<Config> {
  const response = await fetch(`${import.meta.env.BASE_URL}config.json`, { cache: 'no-cache' })
  const isJson = response.headers.get('content-type')?.includes('json')
  return response.ok && isJson ? ((await response.json()) as Config) : {}
}
