import { ChevronDown, Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useShortcut } from '../layout/shortcuts'
import { useGo, usePlace } from '../layout/usePlace'
import { Button } from '../ui/Button'
import { IconButton } from '../ui/IconButton'
import { Menu } from '../ui/Menu'
import { labelsOf } from './email'
import { useAllEmails, useEmails } from './useEmails'

/** Longest search that the action takes. */
const MOST = 200

/** Words to search for, and the label that all emails of the list have. */
export function SearchBar() {
  const go = useGo()
  const { q = '', label, archived } = usePlace()
  const [text, setText] = useState(q)
  const [told, setTold] = useState(q)
  const input = useRef<HTMLInputElement>(null)
  // The address may change otherwise: back, a link, the agent.
  if (q !== told) {
    setTold(q)
    if (q !== text.trim()) setText(q)
  }
  useEffect(() => {
    const words = text.trim()
    if (words === q) return
    const timer = setTimeout(() => go({ q: words || undefined }, { replace: q !== '' }), 200)
    return () => clearTimeout(timer)
  }, [text, q, go])
  useShortcut('/', () => input.current?.focus())
  const clear = () => {
    setText('')
    input.current?.focus()
  }
  return (
    <search className="flex items-center gap-2 px-4 pt-3 pb-1">
      <div className="relative min-w-0 flex-1">
        <Search size={15} aria-hidden className="pointer-events-none absolute top-2.5 left-3 text-ink-soft" />
        <input
          ref={input}
          type="text"
          inputMode="search"
          aria-label="Search emails"
          placeholder="Search emails"
          value={text}
          maxLength={MOST}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') clear()
          }}
          className="h-9 w-full rounded-md border border-line bg-canvas pr-9 pl-9 text-sm placeholder:text-ink-soft"
        />
        {text && (
          <IconButton label="Clear the search" onClick={clear} className="absolute top-0.5 right-0.5">
            <X size={15} aria-hidden />
          </IconButton>
        )}
      </div>
      <LabelFilter label={label} archived={archived} />
    </search>
  )
}

function LabelFilter({ label, archived }: { label?: string; archived?: boolean }) {
  const go = useGo()
  const all = useAllEmails()
  const { emails: listed } = useEmails({ archived })
  const known = labelsOf(all?.length ? all.filter((email) => email.archived === (archived ?? false)) : (listed ?? []))
  const items = known.slice(0, 100).map(({ label: name, emails }) => ({
    label: `${name} (${emails})`,
    checked: name === label,
    onSelect: () => void go({ label: name === label ? undefined : name }),
  }))
  const none = { label: 'All labels', checked: !label, onSelect: () => void go({ label: undefined }) }
  return (
    <Menu
      label={label ? `Label: ${label}` : 'All labels'}
      trigger={
        <Button className="h-9 max-w-40">
          <span className="truncate foreign">{label ?? 'Labels'}</span>
          <ChevronDown size={14} aria-hidden className="shrink-0" />
        </Button>
      }
      items={[none, ...items]}
    />
  )
}
