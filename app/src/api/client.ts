// Every call of the API goes through `api`, or through `authorizedFetch` where a library wants a `fetch`.
import createClient from 'openapi-fetch'
import { accessToken } from '../session/session'
import type { paths } from './index'
import { asProblem, ProblemError } from './problem'

/** `fetch` with the token of whoever uses this window. */
export const authorizedFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  request.headers.set('authorization', `Bearer ${await accessToken()}`)
  return fetch(request)
}

export const api = createClient<paths>({ baseUrl: window.location.origin, fetch: authorizedFetch })

/** The body of a good answer; a bad one is thrown as `ProblemError`. */
export async function answer<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (!response.ok) throw new ProblemError(asProblem(error, response.status))
  return data as T
}

/** Makes a repeated call the same call. One for each time that a person means it. */
export const idempotent = () => ({ 'Idempotency-Key': crypto.randomUUID() })
