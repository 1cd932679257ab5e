import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { ProblemError, wordsOf } from '../api/problem'
import { Face } from '../layout/Face'
import { useWriteDocument } from '../live/hooks'
import { Button } from '../ui/Button'
import { Confirm } from '../ui/Confirm'
import { IconButton } from '../ui/IconButton'
import { Time } from '../ui/Time'
import { toast } from '../ui/Toast'
import { type Memory, withText } from './memory'
import { whoseName } from './useNews'

/** One memory, with a way to correct it and to delete it. */
export function MemoryCard({ scope, memory }: { scope: 'user' | 'tenant'; memory: Memory }) {
  const [edited, setEdited] = useState<{ text: string; rev: number }>()
  const [asking, setAsking] = useState(false)
  const write = useWriteDocument(scope)
  const { key, name, text, date, by } = memory
  const path = { scope, key }

  const save = async () => {
    if (!edited) return
    try {
      await write(key, withText(memory.value, edited.text, new Date()), edited.rev)
      setEdited(undefined)
    } catch (error) {
      const isConflict = error instanceof ProblemError && error.code === 'conflict'
      const why = isConflict ? 'Somebody has changed it meanwhile: look at it, then save again.' : wordsOf(error)
      if (isConflict) setEdited({ ...edited, rev: memory.rev })
      toast(`It was not saved. ${why}`, { kind: 'failed' })
    }
  }
  const remove = () =>
    answer(api.DELETE('/state/{scope}/docs/{key}', { params: { path } })).then(
      () => toast(`“${name}” is forgotten`),
      (error) => toast(`It was not deleted. ${wordsOf(error)}`, { kind: 'failed' }),
    )

  return (
    <article className="rounded-lg border border-line bg-canvas p-4">
      <div className="flex items-center gap-2 text-xs text-ink-soft">
        <Face name={by.user} isAgent={by.caller === 'agent'} small />
        <h4 className="truncate font-mono foreign">{name}</h4>
        <span className="sr-only">Written by {whoseName(by).replace(/,$/, '')}</span>
        {date && <Time at={date} />}
        <span className="ml-auto flex">
          <IconButton label={`Correct ${name}`} onClick={() => setEdited({ text, rev: memory.rev })}>
            <Pencil size={15} aria-hidden />
          </IconButton>
          <IconButton label={`Delete ${name}`} onClick={() => setAsking(true)}>
            <Trash2 size={15} aria-hidden />
          </IconButton>
        </span>
      </div>
      {edited ? (
        <form
          className="mt-2"
          onSubmit={(event) => {
            event.preventDefault()
            void save()
          }}
        >
          {edited.rev !== memory.rev && (
            <p className="mb-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn foreign">It now says: {text}</p>
          )}
          <textarea
            // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
            autoFocus
            required
            aria-label={`Text of ${name}`}
            value={edited.text}
            maxLength={4000}
            onChange={(event) => setEdited({ ...edited, text: event.target.value })}
            className="field-sizing-content block min-h-16 w-full rounded-md border border-line-strong bg-panel px-3 py-2"
          />
          <div className="mt-2 flex gap-2">
            <Button type="submit" primary disabled={edited.text.trim() === ''}>
              Save
            </Button>
            <Button quiet onClick={() => setEdited(undefined)}>
              Cancel
            </Button>
          </div>
        </form>
      ) : (
        <p className="mt-1 max-w-prose whitespace-pre-wrap foreign">{text}</p>
      )}
      <Confirm
        open={asking}
        onOpenChange={setAsking}
        title={`Delete “${name}”?`}
        description="The agent does not know it any more, in any conversation. This cannot be taken back."
        action="Delete"
        onConfirm={remove}
      />
    </article>
  )
}
