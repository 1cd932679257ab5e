import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { IconButton } from './IconButton'

type Note = { id: number; text: string; kind: 'done' | 'failed'; action?: { label: string; run: () => void } }

let notes: Note[] = []
let lastId = 0
const watchers = new Set<() => void>()

/** Tells the person what has happened. What failed stays until it is closed. */
export function toast(text: string, options: Partial<Pick<Note, 'kind' | 'action'>> = {}): void {
  lastId += 1
  const note: Note = { id: lastId, text, kind: 'done', ...options }
  change([...notes.slice(-2), note])
  if (note.kind === 'done') setTimeout(() => dismiss(note.id), 6000)
}

const dismiss = (id: number) => change(notes.filter((note) => note.id !== id))

function change(next: Note[]) {
  notes = next
  for (const watch of watchers) watch()
}

function subscribe(watch: () => void) {
  watchers.add(watch)
  return () => watchers.delete(watch)
}

/** Where toasts appear. Once in the page. */
export function Toaster() {
  const shown = useSyncExternalStore(subscribe, () => notes)
  return (
    <section
      aria-label="Notifications"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-center gap-2"
    >
      {shown.map((note) => (
        <div
          key={note.id}
          className={`pointer-events-auto flex max-w-md items-center gap-3 rounded-lg border border-line py-1.5 pr-1.5 pl-4 text-sm shadow-float ${note.kind === 'failed' ? 'bg-danger-soft text-danger' : 'bg-raised'}`}
        >
          <span className="min-w-0 foreign">{note.text}</span>
          {note.action && (
            <button
              type="button"
              className="min-h-8 px-1 font-medium text-accent underline-offset-2 hover:underline"
              onClick={() => {
                note.action?.run()
                dismiss(note.id)
              }}
            >
              {note.action.label}
            </button>
          )}
          <IconButton label="Dismiss" onClick={() => dismiss(note.id)}>
            <X size={14} aria-hidden />
          </IconButton>
        </div>
      ))}
    </section>
  )
}
