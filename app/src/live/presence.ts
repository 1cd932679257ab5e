import { useEffect } from 'react'
import { authorizedFetch } from '../api/client'

/** What a person does in this window, for others to see. At most 2 KB of JSON. */
export type Activity = { email?: string; thread?: string; typing?: boolean }

/** Names this window among all windows. */
export const WINDOW = `w-${crypto.randomUUID().slice(0, 8)}`

const EVERY_MS = 8_000

/** Says in `scope` that this window is here and what is done in it: at once, on every change, and every 8 s. */
export function useSayPresence(scope: string, activity: Activity): void {
  const said = JSON.stringify(activity)
  useEffect(() => {
    const say = () => put(scope, JSON.parse(said))
    say()
    const timer = setInterval(say, EVERY_MS)
    return () => clearInterval(timer)
  }, [scope, said])
  useEffect(() => {
    const leave = () => put(scope, null)
    window.addEventListener('pagehide', leave)
    return () => {
      window.removeEventListener('pagehide', leave)
      leave()
    }
  }, [scope])
}

function put(scope: string, activity: Activity | null): void {
  const body = JSON.stringify({ client: WINDOW, activity })
  const headers = { 'content-type': 'application/json' }
  // A sign of life that is lost is followed by the next one: none waits for longer on a connection that is gone. A
  // goodbye outlives its page, and with it whatever could end it.
  const signal = activity ? AbortSignal.timeout(EVERY_MS) : undefined
  const request = { method: 'PUT', body, headers, keepalive: true, signal }
  authorizedFetch(`/presence/${encodeURIComponent(scope)}`, request).catch(() => {})
}
