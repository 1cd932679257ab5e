import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import { answer, api } from '../api/client'
import { ProblemError } from '../api/problem'
import { sayTyping, stopTyping } from '../layout/typing'
import type { Doc } from '../live/documents'
import { useDocuments, useWriteDocument } from '../live/hooks'
import { change, type Draft, EMPTY, isKept, mayWrite, type Version } from './draft'
import { draftOf, SCOPE } from './email'
import { keyOf, NotBegun, sentAs } from './sending'

/** `sending`: somebody has pressed the button, and the reply is on its way. */
type Stored = { text: string; sending?: boolean }

const PAUSE_MS = 500
const RETRY_MS = 3000
/** Who has begun to send, and is not done by then, has gone away in the middle: others may send it. */
const GIVEN_UP_MS = 20_000

export type DraftEditor = {
  draft: Draft
  /** False until the document has been read: until then what is typed stays here. */
  ready: boolean
  /** Who wrote the document last. */
  by?: string
  sending: boolean
  type: (text: string) => void
  choose: (text: string) => void
  send: () => Promise<void>
  discard: () => Promise<void>
}

/** Words that could not be written when their email was left: they are there when somebody comes back to it. */
const kept = new Map<string, Draft>()

/** The reply to an email that everybody writes together: the document `drafts/<email>`. */
export function useDraft(id: string): DraftEditor {
  const key = draftOf(id)
  const { data } = useDocuments(SCOPE, key)
  const doc = data?.docs.get(key) as Doc<unknown> | undefined
  const write = useWriteDocument(SCOPE)
  const [draft, tell] = useReducer(change, kept.get(key) ?? EMPTY)
  const newest = useRef(draft)
  newest.current = draft
  const apply = useCallback((event: Parameters<typeof change>[1]) => {
    newest.current = change(newest.current, event)
    tell(event)
  }, [])

  const ready = data !== undefined
  const isReady = useRef(ready)
  useEffect(() => {
    isReady.current = ready
    if (data) apply({ type: 'told', version: versionOf(doc) })
  }, [data, ready, doc, apply])

  const under = useRef<Promise<void>>(Promise.resolve())
  /** Writes what is here; resolves when it is there, or when somebody must choose first. */
  const save = useCallback(
    (sending = false): Promise<void> => {
      const { mine, base } = newest.current
      apply({ type: 'writing' })
      const written = write<Stored>(key, sending ? { text: mine, sending } : { text: mine }, base.rev).then(
        ({ rev }) => apply({ type: 'written', rev }),
        (error) => {
          const told = isConflict(error)
          if (told) apply({ type: 'told', version: versionOf(error.problem.current as Doc<unknown> | null) })
          apply({ type: 'lost' })
          if (!told || sending) throw error
        },
      )
      under.current = written.catch(() => {})
      return written
    },
    [apply, key, write],
  )

  const due = ready && mayWrite(draft)
  const { mine } = draft
  // biome-ignore lint/correctness/useExhaustiveDependencies: every key that is pressed begins the pause anew
  useEffect(() => {
    if (!due) return
    let timer = setTimeout(attempt, PAUSE_MS)
    function attempt() {
      if (mayWrite(newest.current)) save().catch(() => (timer = setTimeout(attempt, RETRY_MS)))
    }
    return () => clearTimeout(timer)
  }, [due, mine, save])

  // Who leaves the email, or the window, leaves nothing behind that is not written.
  useEffect(() => {
    const saveNow = () =>
      void under.current.then(() => {
        if (isReady.current && mayWrite(newest.current)) save().catch(() => {})
      })
    const hide = () => document.visibilityState === 'hidden' && saveNow()
    document.addEventListener('visibilitychange', hide)
    return () => {
      document.removeEventListener('visibilitychange', hide)
      stopTyping()
      saveNow()
      if (isKept(newest.current, isReady.current)) kept.set(key, { ...newest.current, pending: undefined })
      else kept.delete(key)
    }
  }, [key, save])

  const remove = (ifRev?: number) =>
    answer(api.DELETE('/state/{scope}/docs/{key}', { params: { path: { scope: SCOPE, key }, query: { ifRev } } }))

  return {
    draft,
    ready,
    by: doc?.by.user,
    sending: useIsBeingSent(doc),
    type: (text) => {
      sayTyping()
      apply({ type: 'typed', text })
    },
    choose: (text) => apply({ type: 'chosen', text }),
    async send() {
      stopTyping()
      await under.current
      const body = newest.current.mine
      // Of two who press the button, one writes this first, and the other one is told.
      await save(true).catch((error) => {
        throw new NotBegun(error)
      })
      const { rev } = newest.current.base
      try {
        const header = { 'Idempotency-Key': keyOf(key, body) }
        await answer(api.POST('/api/email', { body: { emailId: id, body }, params: { header } }))
      } catch (error) {
        void write<Stored>(key, { text: body }, rev).catch(() => {})
        throw error
      }
      sentAs(key)
      // Who has gone on writing meanwhile keeps that as the next draft. It is sent, whatever becomes of its draft.
      await remove(rev).then(
        () => apply({ type: 'told', version: { text: '', rev: 0 } }),
        () => {},
      )
    },
    async discard() {
      stopTyping()
      await under.current
      apply({ type: 'typed', text: newest.current.base.text })
      if (newest.current.base.rev > 0) await remove(newest.current.base.rev)
    },
  }
}

function useIsBeingSent(doc: Doc<unknown> | undefined): boolean {
  const [givenUp, setGivenUp] = useState<number>()
  const rev = isRecord(doc?.value) && doc.value.sending === true ? doc.rev : undefined
  useEffect(() => {
    if (rev === undefined) return
    const timer = setTimeout(() => setGivenUp(rev), GIVEN_UP_MS)
    return () => clearTimeout(timer)
  }, [rev])
  return rev !== undefined && rev !== givenUp
}

function versionOf(doc: Doc<unknown> | null | undefined): Version {
  if (!doc) return { text: '', rev: 0 }
  const by = doc.by.caller === 'agent' ? `the agent, for ${doc.by.user}` : doc.by.user
  return { text: textOf(doc.value), rev: doc.rev, by }
}

/** Anybody may write anything there. */
function textOf(value: unknown): string {
  const text = isRecord(value) ? value.text : value
  return typeof text === 'string' ? text : ''
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function isConflict(error: unknown): error is ProblemError {
  return error instanceof ProblemError && error.code === 'conflict'
}
