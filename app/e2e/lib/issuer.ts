// An OpenID provider on a free port: signs anybody in who gives a name.
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export const AUDIENCE = 'https://tandem.example/api'
export const CLIENT = 'tandem-app'

/** `grants` names the kind of each token that was asked for: `authorization_code` or `refresh_token`. */
export type IssuerServer = { url: string; grants: string[]; allow: (app: string) => void; stop: () => Promise<void> }

/** `seconds` is how long an access token lasts. */
export async function startIssuer(seconds: number): Promise<IssuerServer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const grants: string[] = []
  return {
    url,
    grants,
    allow(app) {
      const provider = new Provider(url, settings(app, seconds))
      provider.on('grant.success', (ctx) => grants.push(String(ctx.oidc.params?.grant_type)))
      server.on('request', provider.callback())
    },
    stop: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}

function settings(app: string, accessTokenTTL: number): ConstructorParameters<typeof Provider>[1] {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const api = {
    audience: AUDIENCE,
    scope: '',
    accessTokenTTL,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'RS256' } },
  }
  return {
    clients: [
      {
        client_id: CLIENT,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [app],
        post_logout_redirect_uris: [app],
      },
    ],
    jwks: { keys: [{ ...key, kid: 'k-1', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['only for tests'] },
    clientBasedCORS: () => true,
    claims: { openid: ['sub'], profile: ['name', 'org_id'] },
    conformIdTokenClaims: false,
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ sub, name: `${sub} of Acme`, org_id: 'acme' }),
    }),
    extraTokenClaims: () => ({ org_id: 'acme' }),
    issueRefreshToken: async () => true,
    ttl: { IdToken: 3600, Session: 3600, Grant: 3600, Interaction: 3600, RefreshToken: 3600 },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => api,
      },
    },
  } as ConstructorParameters<typeof Provider>[1]
}
