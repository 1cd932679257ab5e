import { Plus } from 'lucide-react'
import { useState } from 'react'
import { ProblemError, wordsOf } from '../api/problem'
import { useWriteDocument } from '../live/hooks'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { MEMORY, nameFor, withText } from './memory'

/** Something to remember, written by hand. */
export function NewMemory() {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  const [scope, setScope] = useState<'user' | 'tenant'>('user')
  const [error, setError] = useState<string>()
  const write = useWriteDocument(scope)
  const save = async () => {
    const name = nameFor(text) || `memory-${crypto.randomUUID().slice(0, 8)}`
    try {
      await write(MEMORY + name, withText({}, text, new Date()), 0)
      setText('')
      setOpen(false)
    } catch (thrown) {
      const isTaken = thrown instanceof ProblemError && thrown.code === 'conflict'
      setError(isTaken ? `There is a memory “${name}” already: correct that one.` : wordsOf(thrown))
    }
  }
  return (
    <>
      <Button onClick={() => setOpen(true)} className="shrink-0">
        <Plus size={15} aria-hidden /> Add
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title="Something to remember">
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            void save()
          }}
        >
          <textarea
            required
            rows={3}
            maxLength={4000}
            aria-label="What to remember"
            placeholder="One fact or wish, in a full sentence"
            value={text}
            onChange={(event) => {
              setText(event.target.value)
              setError(undefined)
            }}
            className="w-full rounded-md border border-line-strong bg-panel px-3 py-2"
          />
          <label className="flex items-center gap-2.5 text-sm">
            <input
              type="checkbox"
              checked={scope === 'tenant'}
              onChange={(event) => setScope(event.target.checked ? 'tenant' : 'user')}
              className="size-4 accent-accent"
            />
            For the whole team
          </label>
          {error && (
            <p role="alert" className="text-sm text-danger foreign">
              {error}
            </p>
          )}
          <Button type="submit" primary className="self-end" disabled={text.trim() === ''}>
            Remember
          </Button>
        </form>
      </Dialog>
    </>
  )
}
