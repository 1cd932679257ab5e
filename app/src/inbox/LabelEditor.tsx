import { Tag } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import { useShortcut } from '../layout/shortcuts'
import { Button } from '../ui/Button'
import { labelsOf } from './email'
import { useAllEmails } from './useEmails'
import { useLabel } from './useLabel'

/** Labels to put on an email and to take off it: those that are in use, and new ones. */
export function LabelEditor({ id, labels }: { id: string; labels: string[] }) {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  const label = useLabel(id)
  const all = useAllEmails() ?? []
  useShortcut('l', () => setOpen(true))
  const known = new Set([...labels, ...labelsOf(all).map((one) => one.label)])
  const fitting = [...known].filter((name) => name.toLowerCase().includes(text.trim().toLowerCase())).slice(0, 30)
  const add = () => {
    const name = text.trim()
    if (name === '') return
    label.mutate({ add: [name] })
    setText('')
  }
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button className="px-2.5" aria-label="Labels">
          <Tag size={15} aria-hidden /> <span className="max-sm:hidden">Labels</span>
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label="Labels of this email"
          className="z-50 w-64 rounded-lg border border-line bg-raised p-2 shadow-float"
        >
          <form
            className="flex gap-2"
            onSubmit={(event) => {
              event.preventDefault()
              add()
            }}
          >
            <input
              aria-label="Find or add a label"
              placeholder="Find or add a label"
              value={text}
              maxLength={40}
              onChange={(event) => setText(event.target.value)}
              className="h-8 min-w-0 flex-1 rounded-md border border-line bg-canvas px-2.5 text-sm placeholder:text-ink-soft"
            />
            {text.trim() && !known.has(text.trim()) && (
              <Button type="submit" disabled={label.isPending}>
                Add
              </Button>
            )}
          </form>
          <div className="mt-2 max-h-60 overflow-y-auto">
            {fitting.map((name) => {
              const has = labels.includes(name)
              return (
                <label key={name} className="flex min-h-8 items-center gap-2.5 rounded-md px-2 text-sm hover:bg-hover">
                  <input
                    type="checkbox"
                    checked={has}
                    disabled={label.isPending}
                    onChange={() => label.mutate(has ? { remove: [name] } : { add: [name] })}
                    className="size-4 accent-accent"
                  />
                  <span className="truncate foreign">{name}</span>
                </label>
              )
            })}
            {fitting.length === 0 && <p className="px-2 py-1.5 text-sm text-ink-soft">Press Enter to add it.</p>}
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
