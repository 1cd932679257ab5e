// Keys that do something wherever the focus is. A person can turn them off: who speaks to the machine presses keys
// without meaning to.
import { useEffect, useRef, useSyncExternalStore } from 'react'

/** What the help lists, in its order. `g i` is one key after the other. */
export const SHORTCUTS = [
  { keys: '?', does: 'Show this list' },
  { keys: '/', does: 'Search emails' },
  { keys: 'j', does: 'Next line of the list' },
  { keys: 'k', does: 'Previous line of the list' },
  { keys: 'e', does: 'Archive the open email, or the line in focus' },
  { keys: 'm', does: 'Mark it as read or unread' },
  { keys: 'r', does: 'Reply to the open email' },
  { keys: 'l', does: 'Label the open email' },
  { keys: 'u', does: 'Back to the list' },
  { keys: 'g i', does: 'Go to the inbox' },
  { keys: 'g a', does: 'Go to the archive' },
  { keys: 'g s', does: 'Go to the summary' },
  { keys: 'g m', does: 'Go to the memory' },
  { keys: 'g t', does: 'Go to the conversations' },
  { keys: 'g c', does: 'Go to the chat' },
  { keys: 'n', does: 'New conversation' },
] as const
export type Keys = (typeof SHORTCUTS)[number]['keys']

const KEY = 'tandem.shortcuts'
/** The second key of two follows within this time. */
const SECOND_MS = 1500

const handlers = new Map<string, (() => void)[]>()
const watchers = new Set<() => void>()
let first: { key: string; at: number } | undefined

/** Of several that are shown, the last one to appear gets the key. */
export function useShortcut(keys: Keys, run: () => void): void {
  const newest = useRef(run)
  useEffect(() => {
    newest.current = run
  })
  useEffect(() => {
    const call = () => newest.current()
    handlers.set(keys, [...(handlers.get(keys) ?? []), call])
    return () => {
      handlers.set(
        keys,
        (handlers.get(keys) ?? []).filter((one) => one !== call),
      )
    }
  }, [keys])
}

/** Once in the page. */
export function useShortcutKeys(): void {
  useEffect(() => {
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}

export const areShortcutsOn = () => localStorage.getItem(KEY) !== 'off'
export const useShortcutsOn = () => useSyncExternalStore(subscribe, areShortcutsOn)

export function turnShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, 'off')
  for (const watch of watchers) watch()
}

/** The keys that are meant, after `before` was pressed so many milliseconds ago. */
export function meant(key: string, before: string | undefined, ago: number): string {
  return before === 'g' && ago < SECOND_MS ? `g ${key}` : key
}

function press(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return
  if (
    !areShortcutsOn() ||
    isWriting(event.target) ||
    document.querySelector('[role=dialog],[role=alertdialog],[role=menu]')
  )
    return
  const keys = meant(event.key, first?.key, event.timeStamp - (first?.at ?? 0))
  first = { key: event.key, at: event.timeStamp }
  const run = handlers.get(keys)?.at(-1)
  if (!run) return
  event.preventDefault()
  run()
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}

function subscribe(watch: () => void) {
  watchers.add(watch)
  return () => watchers.delete(watch)
}
