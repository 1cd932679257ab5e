// The models that this browser chose last, by thread: what holds while their documents are not known.
import { whoAmI } from '../../session/session'

const MOST = 200

/** One entry a person: a browser may be used by several. */
const keyOf = () => `tandem.models.${whoAmI().tenant}.${whoAmI().user}`

export function recall(thread: string): string | undefined {
  return read().find(([id]) => id === thread)?.[1]
}

/** `undefined` forgets it. The choices that were made longest ago go first. */
export function remember(thread: string, model: string | undefined): void {
  if (recall(thread) === model) return
  const others = read().filter(([id]) => id !== thread)
  const all = model === undefined ? others : [...others, [thread, model]].slice(-MOST)
  try {
    localStorage.setItem(keyOf(), JSON.stringify(all))
  } catch {
    // Full, or not allowed: the document alone keeps it.
  }
}

function read(): [string, string][] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf()) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isEntry) : []
  } catch {
    return []
  }
}

const isEntry = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'string')
