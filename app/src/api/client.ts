// Every call of the API goes through `api`, or through `authorizedFetch` where a library wants a `fetch`.
import createClient from 'openapi-fetch'
import { accessToken, renewedToken } from '../session/session'
import type { paths } from './index'
import { asProblem, ProblemError } from './problem'

/**
 * `fetch` with the token of whoever uses this window. A token that is refused is renewed, and the same asked once more:
 * nothing was done for the first one.
 */
export const authorizedFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const again = request.clone()
  const token = await accessToken()
  const response = await fetchAs(token, request)
  if (response.status !== 401) return response
  const renewed = await renewedToken(token)
  if (renewed === undefined) return response
  void response.body?.cancel()
  return fetchAs(renewed, again)
}

function fetchAs(token: string, request: Request): Promise<Response> {
  request.headers.set('authorization', `Bearer ${token}`)
  return fetch(request)
}

/** A connection may be gone without a word, and nothing would ever come: a read is made again soon. */
const READ_MS = 20_000
/** No request takes longer than this on the server, and whether it was carried out is not known before. */
const WRITE_MS = 80_000

export const api = createClient<paths>({
  baseUrl: window.location.origin,
  fetch: (request) => {
    const limit = AbortSignal.timeout(request.method === 'GET' ? READ_MS : WRITE_MS)
    const signal = AbortSignal.any([request.signal, limit])
    return authorizedFetch(request, { signal })
  },
})

/** The body of a good answer; a bad one is thrown as `ProblemError`. */
export async function answer<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (!response.ok) throw new ProblemError(asProblem(error, response.status))
  return data as T
}

/** Makes a repeated call the same call. One for each time that a person means it. */
export const idempotent = () => ({ 'Idempotency-Key': crypto.randomUUID() })
