import { Pencil } from 'lucide-react'
import { memo, useState } from 'react'
import { whoAmI } from '../session/session'
import { Button } from '../ui/Button'
import { IconButton } from '../ui/IconButton'
import { LongText } from '../ui/LongText'
import type { Message } from './history'
import { textOf } from './placing'
import { sentenceOf } from './suggestions'

type Props = { message: Message; onEdit: (message: string, text: string) => void }

/** What a person said. */
export const UserMessage = memo(function UserMessage({ message, onEdit }: Props) {
  const [isEditing, setEditing] = useState(false)
  const text = textOf(message)
  const sentence = sentenceOf(text)
  const author = message.metadata?.author
  const isOthers = author !== undefined && author !== whoAmI().user
  if (isEditing) {
    return (
      <EditForm
        text={text}
        onCancel={() => setEditing(false)}
        onSend={(edited) => {
          setEditing(false)
          onEdit(message.id, edited)
        }}
      />
    )
  }
  return (
    <div className="group flex items-start justify-end gap-1 pl-6">
      {!isOthers && (
        <IconButton
          label="Say it differently"
          className="size-7 in-data-busy:invisible opacity-60 transition-opacity group-hover:opacity-100 focus-visible:opacity-100"
          onClick={() => setEditing(true)}
        >
          <Pencil size={14} aria-hidden />
        </IconButton>
      )}
      <div className={`min-w-0 rounded-lg px-3.5 py-2 ${isOthers ? 'border border-line bg-panel' : 'bg-accent-soft'}`}>
        {isOthers && <p className="text-xs font-medium text-accent foreign">{author}</p>}
        {sentence && <p>{sentence}</p>}
        <p className={`whitespace-pre-wrap foreign ${sentence ? 'mt-0.5 font-mono text-xs text-ink-soft' : ''}`}>
          <LongText>{text}</LongText>
        </p>
      </div>
    </div>
  )
})

type EditProps = { text: string; onSend: (text: string) => void; onCancel: () => void }

function EditForm({ text, onSend, onCancel }: EditProps) {
  const [edited, setEdited] = useState(text)
  return (
    <form
      className="ml-6 flex flex-col gap-2 rounded-lg border border-accent bg-panel p-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (edited.trim()) onSend(edited)
      }}
    >
      <textarea
        aria-label="Say it differently"
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for it.
        autoFocus
        value={edited}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onCancel()}
        className="field-sizing-content max-h-64 min-h-16 w-full resize-none bg-transparent px-1.5 py-1 outline-none"
      />
      <div className="flex items-center justify-end gap-2">
        <p className="mr-auto pl-1.5 text-xs text-ink-soft">What followed is replaced.</p>
        <Button quiet onClick={onCancel}>
          Cancel
        </Button>
        <Button primary type="submit" disabled={edited.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
  )
}
