import type { Code, Problem } from './index'

/** A request that was answered with a problem, or not at all. `message` is for people. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(plainWords(problem))
    this.name = 'ProblemError'
  }

  get code(): Code {
    return this.problem.code
  }
}

/** What to tell a person for codes whose `detail` speaks to programs. The others' `detail` is shown as it is. */
const PLAIN: Partial<Record<Code, string>> = {
  unauthenticated: 'You are not signed in any more. Load the page again to sign in.',
  not_found: 'It does not exist, or it is not shared with you.',
  internal: 'Something went wrong on the server. Try again; if it stays, name the request below.',
  store_unavailable: 'The store cannot be reached at the moment. Try again in a moment.',
  throttled: 'There is too much to do at the moment. Try again in a moment.',
  timeout: 'It took too long. Try again.',
  in_progress: 'This is being carried out already. Look again in a moment.',
  thread_busy: 'An answer is being written in this conversation. Wait for it, or stop it.',
}

export function plainWords(problem: Problem): string {
  const faults = (problem.errors ?? []).map((fault) => fault.detail).join(' ')
  return PLAIN[problem.code] ?? (faults || problem.detail || problem.title)
}

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return true
  return ['internal', 'store_unavailable', 'throttled', 'timeout', 'in_progress'].includes(error.code)
}

/** Codes that mean that nothing was done, whatever was asked for. */
const DID_NOTHING: Code[] = [
  'invalid_request',
  'invalid_input',
  'unauthenticated',
  'forbidden',
  'approval_required',
  'denied',
  'not_found',
  'method_not_allowed',
  'thread_busy',
  'too_large',
  'throttled',
  'key_reused',
  'action_failed',
]

/** Whether the server says that nothing was done. Of a lost answer, or one that came too late, nobody knows. */
export const didNothing = (error: unknown) => error instanceof ProblemError && DID_NOTHING.includes(error.code)

/** How long the server asks to wait before the next try, in milliseconds. */
export const askedToWait = (error: unknown) =>
  error instanceof ProblemError ? (error.problem.retryAfter ?? 0) * 1000 : 0

/** The problem in a body that should be one; whatever else stood there is told by its status. */
export function asProblem(body: unknown, status: number): Problem {
  if (body && typeof body === 'object' && 'code' in body && 'detail' in body) return body as Problem
  const code: Code = status === 404 ? 'not_found' : status === 401 ? 'unauthenticated' : 'internal'
  return { type: 'about:blank', title: 'Unexpected answer', status, code, detail: `The server answered ${status}.` }
}

/** What to show of anything that was thrown. */
export function wordsOf(error: unknown): string {
  if (error instanceof ProblemError) return error.message
  if (error instanceof TypeError || (error as Error)?.name === 'TimeoutError')
    return 'The server cannot be reached. Check the connection, then try again.'
  return error instanceof Error ? error.message : 'Something went wrong.'
}
