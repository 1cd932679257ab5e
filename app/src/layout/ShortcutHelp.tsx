import { Keyboard } from 'lucide-react'
import { useState } from 'react'
import { Dialog } from '../ui/Dialog'
import { IconButton } from '../ui/IconButton'
import { SHORTCUTS, turnShortcuts, useShortcut, useShortcutsOn } from './shortcuts'

/** The keys, and the switch that turns them off. */
export function ShortcutHelp() {
  const [open, setOpen] = useState(false)
  const on = useShortcutsOn()
  useShortcut('?', () => setOpen(true))
  return (
    <>
      <IconButton label="Keyboard shortcuts" onClick={() => setOpen(true)} className="max-sm:hidden">
        <Keyboard size={17} aria-hidden />
      </IconButton>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Keyboard shortcuts"
        description="Arrow keys, Home and End move within a list; Tab moves on to the next part."
      >
        <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1.5 text-sm">
          {SHORTCUTS.map(({ keys, does }) => (
            <div key={keys} className="contents">
              <dt className="flex gap-1">
                {keys.split(' ').map((key) => (
                  <kbd
                    key={key}
                    className="min-w-6 rounded-sm border border-line bg-sunken px-1.5 text-center font-mono text-xs leading-6"
                  >
                    {key}
                  </kbd>
                ))}
              </dt>
              <dd className="leading-6 text-ink-soft">{does}</dd>
            </div>
          ))}
        </dl>
        <label className="mt-5 flex items-center gap-2.5 border-t border-line pt-4 text-sm">
          <input
            type="checkbox"
            checked={on}
            onChange={(event) => turnShortcuts(event.target.checked)}
            className="size-4 accent-accent"
          />
          Use these keys
        </label>
      </Dialog>
    </>
  )
}
