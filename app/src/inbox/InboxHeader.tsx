import clsx from 'clsx'
import { PenLine } from 'lucide-react'
import { useState } from 'react'
import { LIST } from '../layout/places'
import { useGo, usePlace } from '../layout/usePlace'
import { Button } from '../ui/Button'
import { NewEmail } from './NewEmail'
import { SearchBar } from './SearchBar'

const VIEWS = [
  { name: 'Inbox', to: LIST },
  { name: 'Archive', to: { ...LIST, archived: true } },
  { name: 'Summary', to: { ...LIST, view: 'summary' } },
  { name: 'Memory', to: { ...LIST, view: 'memory' } },
] as const

/** What the inbox can show, and the search. */
export function InboxHeader() {
  const go = useGo()
  const { view, archived } = usePlace()
  const [isWriting, setWriting] = useState(false)
  const open = view === 'summary' ? 'Summary' : view === 'memory' ? 'Memory' : archived ? 'Archive' : 'Inbox'
  return (
    <header className="shrink-0">
      <div className="flex h-12 items-center gap-1 border-b border-line pr-3 pl-2">
        <h2 className="sr-only">{open}</h2>
        <nav aria-label="Inbox views" className="flex min-w-0 flex-1">
          {VIEWS.map(({ name, to }) => (
            <button
              key={name}
              type="button"
              aria-current={name === open ? 'page' : undefined}
              onClick={() => go(to)}
              className={clsx(
                'h-12 border-b-2 px-2 text-sm font-medium transition-colors sm:px-3',
                name === open ? 'border-accent text-ink' : 'border-transparent text-ink-soft hover:text-ink',
              )}
            >
              {name}
            </button>
          ))}
        </nav>
        <Button quiet onClick={() => setWriting(true)} className="px-2">
          <PenLine size={15} aria-hidden />
          <span className="max-sm:sr-only">New email</span>
        </Button>
      </div>
      {(open === 'Inbox' || open === 'Archive') && <SearchBar />}
      <NewEmail open={isWriting} onOpenChange={setWriting} />
    </header>
  )
}
