import { type User, UserManager, WebStorageStateStore } from 'oidc-client-ts'
import { toast } from '../ui/Toast'
import { type Person, userId } from './person'
import type { OidcConfig } from './session'

const HOME = import.meta.env.BASE_URL

/** Authorisation code with PKCE. Resolves when somebody is signed in; until then the browser is at the issuer. */
export async function signIn(config: OidcConfig) {
  const manager = new Manager({
    authority: config.authority,
    client_id: config.clientId,
    redirect_uri: `${window.location.origin}${HOME}`,
    post_logout_redirect_uri: `${window.location.origin}${HOME}`,
    response_type: 'code',
    // With a refresh token the access token is renewed without a page of the issuer, which no frame here may show.
    scope: config.scope ?? 'openid profile offline_access',
    automaticSilentRenew: true,
    userStore: new WebStorageStateStore({ store: window.sessionStorage }),
    extraQueryParams: config.audience ? { audience: config.audience } : undefined,
  })
  const leave = () => manager.signinRedirect({ state: window.location.pathname + window.location.search })
  const user = (await returned(manager)) ?? (await manager.getUser())
  if (!user || user.expired) {
    await leave()
    return new Promise<never>(() => {})
  }
  manager.events.addAccessTokenExpired(() => {
    toast('Your sign-in has ended.', { kind: 'failed', action: { label: 'Sign in again', run: () => void leave() } })
  })
  return {
    person: await personOf(user, config),
    token: async () => (await manager.getUser())?.access_token ?? '',
    renew: async () => {
      // Without a refresh token only a page of the issuer could do it.
      if (!(await manager.getUser())?.refresh_token) return undefined
      return (await manager.signinSilent())?.access_token
    },
    signOut: () => manager.signoutRedirect(),
  }
}

class Manager extends UserManager {
  private renewing?: Promise<User | null>

  /** One at a time, whoever asks: a refresh token may be good for a single use. */
  override signinSilent(): Promise<User | null> {
    this.renewing ??= super.signinSilent().finally(() => {
      this.renewing = undefined
    })
    return this.renewing
  }
}

/** Comes back from the issuer, to the address that the person wanted. */
async function returned(manager: UserManager): Promise<User | undefined> {
  const query = new URLSearchParams(window.location.search)
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return undefined
  // Loading the page again must not use the same answer twice.
  window.history.replaceState(null, '', HOME)
  const user = await manager.signinRedirectCallback(`${window.location.origin}${HOME}?${query}`)
  const wanted = typeof user.state === 'string' && user.state.startsWith(HOME) ? user.state : HOME
  window.history.replaceState(null, '', wanted)
  return user
}

async function personOf({ profile }: User, config: OidcConfig): Promise<Person> {
  const tenant = profile[config.tenantClaim ?? 'org_id']
  const name = profile.name ?? profile.preferred_username ?? profile.email
  return { tenant: typeof tenant === 'string' ? tenant : '', user: await userId(profile.sub), name }
}
