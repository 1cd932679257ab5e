import { ArrowUp, Square } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../ui/Button'
import { IconButton } from '../ui/IconButton'
import { filesRefused, tooLong } from './sayable'

type Props = {
  onSend: (text: string) => void
  onInterrupt: (text: string) => void
  onStop: () => void
  isBusy: boolean
  isStopping: boolean
  /** What could not be sent: it comes back, before what was written meanwhile. */
  unsent?: string
  /** Beside what is written. */
  menu?: ReactNode
}

/** Enter sends, Shift+Enter is a new line. While an answer is being written, Ctrl+Enter stops it and sends. */
export function Composer({ onSend, onInterrupt, onStop, isBusy, isStopping, unsent, menu }: Props) {
  const [text, setText] = useState(unsent ?? '')
  const [known, setKnown] = useState(unsent)
  if (unsent !== known) {
    setKnown(unsent)
    if (unsent !== undefined) setText(text.trim() === '' ? unsent : `${unsent}\n${text}`)
  }
  const [refused, setRefused] = useState<string>()
  const trouble = refused ?? tooLong(text)
  const isSendable = text.trim() !== '' && tooLong(text) === undefined
  const submit = (say: (text: string) => void) => {
    if (!isSendable) return
    say(text)
    setText('')
    setRefused(undefined)
  }
  const refuseFiles = (event: React.ClipboardEvent | React.DragEvent, from: DataTransfer) => {
    if (from.files.length === 0) return
    event.preventDefault()
    setRefused(filesRefused([...from.files].map(({ name }) => name)))
  }
  return (
    <form
      className="m-3 mt-0 flex shrink-0 flex-col rounded-lg border border-line-strong bg-panel p-1.5 transition-colors focus-within:border-accent"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) submit(onSend)
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => refuseFiles(event, event.dataTransfer)}
    >
      {trouble && (
        <p role="alert" className="px-2 pt-1 text-xs text-danger foreign">
          {trouble}
        </p>
      )}
      <div className="flex items-end gap-1">
        <textarea
          aria-label="Message to the agent"
          placeholder={isBusy ? 'The agent is answering…' : 'Ask the agent…'}
          rows={1}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setRefused(undefined)
          }}
          onPaste={(event) => refuseFiles(event, event.clipboardData)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            if (!isBusy) submit(onSend)
            else if (event.ctrlKey || event.metaKey) submit(onInterrupt)
          }}
          className="field-sizing-content max-h-48 min-h-8 min-w-0 flex-1 resize-none bg-transparent px-2 py-1 outline-none placeholder:text-ink-soft"
        />
        {menu}
        {isBusy && isSendable && (
          <Button primary disabled={isStopping} onClick={() => submit(onInterrupt)} title="Ctrl+Enter">
            Stop and send
          </Button>
        )}
        {isBusy && (
          <IconButton label={isStopping ? 'Stopping' : 'Stop'} onClick={onStop} disabled={isStopping}>
            <Square size={15} aria-hidden className={isStopping ? 'animate-pulse' : undefined} />
          </IconButton>
        )}
        {!isBusy && (
          <IconButton label="Send" type="submit" disabled={!isSendable} className="enabled:text-accent">
            <ArrowUp size={18} aria-hidden />
          </IconButton>
        )}
      </div>
    </form>
  )
}
