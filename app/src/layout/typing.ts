// What is being written in this window, for its presence. One place is enough: a person writes in one at a time.
import { useSyncExternalStore } from 'react'

/** Who has not touched a key for so long is not writing any more. */
const PAUSE_MS = 5_000

let typing = false
let timer: ReturnType<typeof setTimeout> | undefined
const watchers = new Set<() => void>()

/** Call it on every change that the person makes. */
export function sayTyping(): void {
  clearTimeout(timer)
  timer = setTimeout(() => set(false), PAUSE_MS)
  set(true)
}

/** Call it when what was written has been sent, or is left. */
export function stopTyping(): void {
  clearTimeout(timer)
  set(false)
}

export const useIsTyping = () => useSyncExternalStore(subscribe, () => typing)

function set(now: boolean): void {
  if (now === typing) return
  typing = now
  for (const watch of watchers) watch()
}

function subscribe(watch: () => void) {
  watchers.add(watch)
  return () => watchers.delete(watch)
}
