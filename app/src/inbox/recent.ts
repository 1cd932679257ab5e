// What others and the agent have changed while this window was open, for a while. One store for the window.
import { useSyncExternalStore } from 'react'
import type { Author } from '../api'

export type Recent = { by: Author; at: number }

/** How long a line says who has changed it. */
export const SHOWN_MS = 60_000
/** The newest ones are enough: nobody looks at more. */
const MOST = 500

export class RecentChanges {
  private changes = new Map<string, Recent>()
  private watchers = new Set<() => void>()
  private timer?: ReturnType<typeof setTimeout>

  tell(id: string, by: Author, at = Date.now()): void {
    this.changes.delete(id)
    this.changes.set(id, { by, at })
    const [oldest] = this.changes.keys()
    if (this.changes.size > MOST && oldest !== undefined) this.changes.delete(oldest)
    this.timer ??= setTimeout(() => this.forget(), SHOWN_MS)
    this.say()
  }

  of = (id: string): Recent | undefined => this.changes.get(id)

  watch = (watcher: () => void) => {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  private forget(now = Date.now()): void {
    this.timer = undefined
    for (const [id, { at }] of this.changes) if (now - at >= SHOWN_MS) this.changes.delete(id)
    const [oldest] = this.changes.values()
    if (oldest) this.timer = setTimeout(() => this.forget(), oldest.at + SHOWN_MS - now)
    this.say()
  }

  private say(): void {
    for (const watcher of this.watchers) watcher()
  }
}

export const recent = new RecentChanges()
export const useRecent = (id: string) => useSyncExternalStore(recent.watch, () => recent.of(id))
