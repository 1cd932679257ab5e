// A reply that several people write at once, as one of their windows has it. Pure.
import { merge } from './merge'

/** The document as it is told. Rev 0: there is none. */
export type Version = { text: string; rev: number; by?: string }

export type Draft = {
  /** What is here, changes that are not written yet among it. */
  mine: string
  /** What both sides had last: `mine` was made from it. */
  base: Version
  /** What is being written; the answer may come after the change itself. */
  pending?: string
  /** Somebody's version that touches the same words. Nothing is written until one is chosen. */
  theirs?: Version
  /** Somebody has sent or deleted the draft, and there was more here. */
  gone?: boolean
}

export const EMPTY: Draft = { mine: '', base: { text: '', rev: 0 } }

export const isDirty = ({ mine, base }: Draft) => mine !== base.text
/** What only this window has, and may not write yet. */
export const isKept = (draft: Draft, ready: boolean) => isDirty(draft) && (!ready || draft.theirs !== undefined)
export const mayWrite = (draft: Draft) => isDirty(draft) && draft.pending === undefined && !draft.theirs

export type Change =
  /** The person types. */
  | { type: 'typed'; text: string }
  /** The document is now like this, whoever wrote it. */
  | { type: 'told'; version: Version }
  /** `mine` goes to the server. */
  | { type: 'writing' }
  | { type: 'written'; rev: number }
  /** It did not get there; nobody knows whether it did. */
  | { type: 'lost' }
  /** Of two versions the person has made one. */
  | { type: 'chosen'; text: string }

export function change(draft: Draft, event: Change): Draft {
  switch (event.type) {
    case 'typed':
      return { ...draft, mine: event.text }
    case 'writing':
      return { ...draft, pending: draft.mine }
    case 'written':
      // The change itself may have come first, and others' changes after it.
      if (draft.pending === undefined || event.rev <= draft.base.rev) return { ...draft, pending: undefined }
      return { ...draft, base: { text: draft.pending, rev: event.rev }, pending: undefined, gone: undefined }
    case 'lost':
      return { ...draft, pending: undefined }
    case 'chosen':
      return { ...draft, mine: event.text, base: draft.theirs ?? draft.base, theirs: undefined }
    case 'told':
      return take(draft, event.version)
  }
}

function take(draft: Draft, version: Version): Draft {
  const { mine, base, pending } = draft
  if (version.rev === 0) {
    // Nothing was taken of what is gone, but it may have been shown beside what is here.
    if (base.rev === 0) return draft.theirs ? { ...draft, theirs: undefined } : draft
    const gone = isDirty(draft)
    return { mine: gone ? mine : '', base: EMPTY.base, gone: gone || undefined }
  }
  if (version.rev <= base.rev) return draft
  if (version.text === pending) return { ...draft, base: version, pending: undefined, gone: undefined }
  const merged = merge(mine, base.text, version.text)
  if (merged === undefined) return { ...draft, theirs: version }
  return { ...draft, mine: merged, base: version, theirs: undefined, gone: undefined }
}
