// Documents of a scope as they are after a snapshot and the changes that followed it. Pure.
import type { Author, Snapshot, WindowEvent } from '../api'

export type Doc<T = unknown> = { key: string; value: T; rev: number; by: Author }
export type Change = Extract<WindowEvent, { type: 'state' }>

/** `rev` is the position of the snapshot: whatever a change of that position or before did is in it. */
export type Documents = { rev: number; docs: ReadonlyMap<string, Doc> }

export const NOTHING: Documents = { rev: 0, docs: new Map() }

/** Takes in one page of a snapshot, as docs/front-end.md says. */
export function takePage(have: Documents, page: Snapshot): Documents {
  const docs = new Map(have.docs)
  for (const item of page.items) docs.set(item.key, item as Doc)
  for (const key of page.deleted ?? []) docs.delete(key)
  return { rev: page.rev, docs }
}

/** Takes in changes of the scope, in their order; the same object if none of them matters under this prefix. */
export function takeChanges(have: Documents, changes: readonly Change[], prefix = ''): Documents {
  let docs: Map<string, Doc> | undefined
  for (const change of changes) {
    if (change.rev <= have.rev || !change.key.startsWith(prefix)) continue
    const now = (docs ?? have.docs).get(change.key)
    if (now && now.rev > change.rev) continue
    if ('value' in change) {
      docs ??= new Map(have.docs)
      docs.set(change.key, { key: change.key, value: change.value, rev: change.rev, by: change.by })
    } else if (now) {
      docs ??= new Map(have.docs)
      docs.delete(change.key)
    }
  }
  return docs ? { rev: have.rev, docs } : have
}

/** Puts in a document that this window has written, before the stream tells of it. */
export function takeWritten(have: Documents, doc: Doc): Documents {
  const now = have.docs.get(doc.key)
  if (now && now.rev > doc.rev) return have
  return { rev: have.rev, docs: new Map(have.docs).set(doc.key, doc) }
}
