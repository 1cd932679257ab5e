import { askedToWait, isPassing } from '../../api/problem'
import { backoff, pause } from '../../live/stream'

/** Asks until there is an answer; undefined once nobody waits for it any more. Throws what would not change later. */
export async function patiently<T>(ask: () => Promise<T>, isWanted: () => boolean): Promise<T | undefined> {
  const never = new AbortController().signal
  for (let failures = 1; isWanted(); failures += 1) {
    try {
      const known = await ask()
      return isWanted() ? known : undefined
    } catch (error) {
      if (!isPassing(error)) throw error
      await pause(Math.max(backoff(failures, Math.random()), askedToWait(error)), never)
    }
  }
  return undefined
}
