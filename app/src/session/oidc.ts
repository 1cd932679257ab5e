import { type User, UserManager, WebStorageStateStore } from 'oidc-client-ts'
import type { Person } from './person'
import type { OidcConfig } from './session'

const HOME = import.meta.env.BASE_URL

/** Authorisation code with PKCE. Resolves when somebody is signed in; until then the browser is at the issuer. */
export async function signIn(config: OidcConfig) {
  const manager = new UserManager({
    authority: config.authority,
    client_id: config.clientId,
    redirect_uri: `${window.location.origin}${HOME}`,
    post_logout_redirect_uri: `${window.location.origin}${HOME}`,
    response_type: 'code',
    scope: config.scope ?? 'openid profile',
    automaticSilentRenew: true,
    userStore: new WebStorageStateStore({ store: window.sessionStorage }),
    extraQueryParams: config.audience ? { audience: config.audience } : undefined,
  })
  const user = (await returned(manager)) ?? (await manager.getUser())
  if (!user || user.expired) {
    await manager.signinRedirect({ state: window.location.pathname + window.location.search })
    return new Promise<never>(() => {})
  }
  return {
    person: personOf(user, config),
    token: async () => (await manager.getUser())?.access_token ?? '',
    signOut: () => manager.signoutRedirect(),
  }
}

/** Comes back from the issuer, to the address that the person wanted. */
async function returned(manager: UserManager): Promise<User | undefined> {
  const query = new URLSearchParams(window.location.search)
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return undefined
  const user = await manager.signinRedirectCallback()
  const wanted = typeof user.state === 'string' && user.state.startsWith(HOME) ? user.state : HOME
  window.history.replaceState(null, '', wanted)
  return user
}

function personOf(user: User, config: OidcConfig): Person {
  const tenant = user.profile[config.tenantClaim ?? 'tenant']
  return { tenant: typeof tenant === 'string' ? tenant : '', user: user.profile.sub }
}
