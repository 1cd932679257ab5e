import { SendHorizontal } from 'lucide-react'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { wordsOf } from '../api/problem'
import { useShortcut } from '../layout/shortcuts'
import { useOthers } from '../layout/useOthers'
import { whoAmI } from '../session/session'
import { Button } from '../ui/Button'
import { toast } from '../ui/Toast'
import { DraftVersions } from './DraftVersions'
import { type Draft, isDirty } from './draft'
import { moveCaret } from './merge'
import { replyNotSent } from './sending'
import { useDraft } from './useDraft'

/** Longest reply that the action takes. */
const MOST = 20_000

/** The reply to an email, which everybody who has it open writes together. */
export function ReplyBox({ id, to }: { id: string; to: string }) {
  const editor = useDraft(id)
  const { draft } = editor
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<string>()
  const box = useRef<HTMLTextAreaElement>(null)
  useShortcut('r', () => {
    box.current?.focus()
    box.current?.scrollIntoView({ block: 'center' })
  })
  const caret = useCaret(box, draft.mine)

  const run = async (what: () => Promise<void>, failed: (error: unknown) => string, done: string) => {
    setSending(true)
    setError(undefined)
    try {
      await what()
      toast(done)
    } catch (thrown) {
      setError(failed(thrown))
    } finally {
      setSending(false)
    }
  }
  const send = () => run(editor.send, replyNotSent, `Replied to ${to}`)
  const discard = () =>
    run(editor.discard, (thrown) => `The draft was not discarded. ${wordsOf(thrown)}`, 'Draft discarded')
  const isEmpty = draft.mine.trim() === ''
  const isBusy = isSending || draft.theirs !== undefined || editor.sending || !editor.ready
  const choose = (text: string) => {
    editor.choose(text)
    // The button goes away: who types on types here.
    box.current?.focus()
  }

  return (
    <section
      aria-label="Reply"
      className="mt-8 rounded-lg border border-line-strong bg-panel focus-within:border-accent"
    >
      {/* Always there, whatever others do: keys that find no place to write in would be shortcuts. */}
      <textarea
        ref={box}
        aria-label={`Reply to ${to}`}
        placeholder={`Reply to ${to}. Whoever has this email open writes along.`}
        value={draft.mine}
        readOnly={isSending}
        maxLength={MOST}
        onChange={(event) => {
          caret.typed(event.target)
          editor.type(event.target.value)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isEmpty && !isBusy) void send()
        }}
        className="field-sizing-content block max-h-96 min-h-24 w-full resize-none bg-transparent px-4 py-3 leading-relaxed outline-none placeholder:text-ink-soft"
      />
      {draft.theirs && <DraftVersions mine={draft.mine} theirs={draft.theirs} onChoose={choose} />}
      {draft.gone && (
        <p className="px-4 pb-2 text-sm text-warn">
          Somebody has sent or discarded this draft. What was only here is kept.
        </p>
      )}
      {error && (
        <p role="alert" className="px-4 pb-2 text-sm text-danger foreign">
          {error}
        </p>
      )}
      <div className="flex min-h-12 flex-wrap items-center justify-end gap-2 border-t border-line px-3 py-2">
        <Writers id={id} sending={editor.sending && !isSending ? editor.by : undefined} />
        <span role="status" className="mr-auto text-xs text-ink-soft">
          {!isEmpty && !draft.theirs && statusOf(draft, editor.ready)}
        </span>
        {(draft.base.rev > 0 || !isEmpty) && (
          <Button quiet disabled={isBusy} onClick={() => void discard()}>
            Discard
          </Button>
        )}
        <Button primary disabled={isEmpty || isBusy} onClick={() => void send()} title="Ctrl+Enter">
          <SendHorizontal size={15} aria-hidden /> Reply
        </Button>
      </div>
    </section>
  )
}

function statusOf(draft: Draft, ready: boolean): string {
  if (!ready) return 'Reading the draft…'
  return isDirty(draft) ? 'Saving…' : 'Draft saved'
}

/** Who else writes in this reply. */
function Writers({ id, sending }: { id: string; sending?: string }) {
  const others = useOthers().filter(({ activity }) => activity.email === id && activity.typing)
  const names = [...new Set(others.map(({ user }) => (user === whoAmI().user ? 'You, in another window,' : user)))]
  if (sending) return <p role="status" className="text-sm text-accent">{`${sending} is sending this reply…`}</p>
  if (names.length === 0) return null
  return (
    <p className="flex items-center gap-2 text-sm text-accent" role="status">
      <span aria-hidden className="flex gap-0.5">
        {[0, 1, 2].map((n) => (
          <span
            key={n}
            className="size-1.5 rounded-full bg-accent motion-safe:animate-pulse"
            style={{ animationDelay: `${n * 200}ms` }}
          />
        ))}
      </span>
      {names.join(' and ')} {names.length === 1 && !names[0]?.startsWith('You') ? 'is' : 'are'} writing…
    </p>
  )
}

/** What others write moves the text, and the caret with its words. */
function useCaret(box: RefObject<HTMLTextAreaElement | null>, text: string) {
  const before = useRef(text)
  const at = useRef<[number, number]>([0, 0])
  useEffect(() => {
    const keep = () => {
      if (box.current) at.current = [box.current.selectionStart, box.current.selectionEnd]
    }
    document.addEventListener('selectionchange', keep)
    return () => document.removeEventListener('selectionchange', keep)
  }, [box])
  useLayoutEffect(() => {
    const element = box.current
    const was = before.current
    before.current = text
    if (!element || document.activeElement !== element || was === text) return
    const [from, to] = at.current
    element.setSelectionRange(moveCaret(from, was, text), moveCaret(to, was, text))
  }, [box, text])
  return {
    /** What the person types moves the caret by itself. */
    typed({ value, selectionStart, selectionEnd }: HTMLTextAreaElement) {
      before.current = value
      at.current = [selectionStart, selectionEnd]
    },
  }
}
