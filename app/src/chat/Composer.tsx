import { ArrowUp, Square } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../ui/IconButton'

type Props = { onSend: (text: string) => void; onStop: () => void; isBusy: boolean }

/** Enter sends, Shift+Enter is a new line. */
export function Composer({ onSend, onStop, isBusy }: Props) {
  const [text, setText] = useState('')
  const send = () => {
    if (isBusy || text.trim() === '') return
    onSend(text)
    setText('')
  }
  return (
    <form
      className="m-3 mt-0 flex shrink-0 items-end gap-1 rounded-lg border border-line-strong bg-panel p-1.5 focus-within:border-accent"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        aria-label="Message to the agent"
        placeholder="Ask the agent…"
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
        className="field-sizing-content max-h-48 min-h-8 min-w-0 flex-1 resize-none bg-transparent px-2 py-1 outline-none placeholder:text-ink-soft"
      />
      {isBusy ? (
        <IconButton label="Stop" onClick={onStop}>
          <Square size={15} aria-hidden />
        </IconButton>
      ) : (
        <IconButton label="Send" type="submit" disabled={text.trim() === ''} className="enabled:text-accent">
          <ArrowUp size={18} aria-hidden />
        </IconButton>
      )}
    </form>
  )
}
