import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { Inbox, SearchX } from 'lucide-react'
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react'
import { useShortcut } from '../layout/shortcuts'
import { useOthers } from '../layout/useOthers'
import { useGo, usePlace } from '../layout/usePlace'
import { useDocuments } from '../live/hooks'
import { Button } from '../ui/Button'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { Spinner } from '../ui/Spinner'
import { EmailRow } from './EmailRow'
import { draftOf, SCOPE } from './email'
import { useEmails } from './useEmails'
import { useFiling } from './useFiling'

const ROW_PX = 84

/** Where a list was left to open an email, so that coming back leads there. */
const left: { list?: string; offset: number; email?: string } = { offset: 0 }

/** The emails that the address asks for. */
export function EmailList() {
  const go = useGo()
  const { label, archived, q } = usePlace()
  const { emails, partial, error, retry } = useEmails({ label, archived, q })
  const drafts = useDocuments(SCOPE, 'drafts/').data?.docs
  const others = useOthers()
  const { mutate } = useFiling()
  const file = useCallback((emailId: string, archived: boolean) => mutate({ emailId, to: { archived } }), [mutate])
  const list = JSON.stringify({ label, archived, q })
  const [came] = useState(() => (left.list === list ? { ...left } : { offset: 0 }))
  const [active, setActive] = useState(came.email)
  const box = useRef<HTMLDivElement>(null)
  const count = emails?.length ?? 0
  const at = Math.max(0, emails?.findIndex(({ id }) => id === active) ?? 0)
  const rows = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => emails?.[index]?.id ?? index,
    initialOffset: came.offset,
    overscan: 6,
    // The line that Tab leads to is always there.
    rangeExtractor: (range) => [...new Set([at, ...defaultRangeExtractor(range)])].sort((a, b) => a - b),
  })

  const focus = (index: number) => {
    const email = emails?.[Math.min(Math.max(index, 0), count - 1)]
    if (!email) return
    setActive(email.id)
    rows.scrollToIndex(emails.indexOf(email), { align: 'auto' })
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-email="${email.id}"]`)?.focus())
  }
  const move = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    focus(to)
  }
  const isInside = () => box.current?.contains(document.activeElement) ?? false
  useShortcut('j', () => focus(isInside() ? at + 1 : at))
  useShortcut('k', () => focus(isInside() ? at - 1 : at))
  useShortcut('e', () => {
    const email = emails?.[at]
    if (!isInside() || !email || email.archived) return
    file(email.id, true)
    focus(at + 1 < count ? at + 1 : at - 1)
  })
  useShortcut('m', () => {
    const email = emails?.[at]
    if (isInside() && email) mutate({ emailId: email.id, to: { unread: !email.unread } })
  })
  const isBack = useRef(came.email === undefined)
  useEffect(() => {
    if (isBack.current) return
    const row = box.current?.querySelector<HTMLElement>(`[data-email="${came.email}"]`)
    if (!row) return
    isBack.current = true
    left.email = undefined
    if (document.activeElement === document.body) row.focus({ preventScroll: true })
  })
  const leave = (email: string) => Object.assign(left, { list, offset: box.current?.scrollTop ?? 0, email })

  return (
    <>
      <p role="status" className="flex h-8 shrink-0 items-center gap-2 border-b border-line px-4 text-xs text-ink-soft">
        {emails && told(count, { q, label, partial })}
        {(q || label) && (
          <Button quiet className="-my-1 min-h-6 px-1.5 text-xs" onClick={() => go({ q: undefined, label: undefined })}>
            Show all
          </Button>
        )}
      </p>
      {error !== undefined && <ErrorNote error={error} onRetry={retry} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys of the buttons within come here */}
      <div ref={box} onKeyDown={move} className="min-h-0 flex-1 overflow-y-auto">
        {!emails && error === undefined && (
          <div className="p-6">
            <Spinner label="Opening the inbox" />
          </div>
        )}
        {count === 0 && emails && !partial && <Nothing searched={Boolean(q || label)} archived={archived} />}
        <ul aria-label="Emails" className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const email = emails?.[row.index]
            return (
              email && (
                <li
                  key={row.key}
                  aria-setsize={count}
                  aria-posinset={row.index + 1}
                  className="absolute inset-x-0 top-0 border-b border-line"
                  style={{ height: row.size, transform: `translateY(${row.start}px)` }}
                >
                  <EmailRow
                    email={email}
                    words={q}
                    isActive={row.index === at}
                    hasDraft={drafts?.has(draftOf(email.id)) ?? false}
                    readers={others.filter(({ activity }) => activity.email === email.id)}
                    onActive={setActive}
                    onOpen={leave}
                    onFile={file}
                  />
                </li>
              )
            )
          })}
        </ul>
      </div>
    </>
  )
}

function told(count: number, { q, label, partial }: { q?: string; label?: string; partial: boolean }): string {
  const emails = `${count.toLocaleString()}${partial ? ' or more' : ''} ${count === 1 ? 'email' : 'emails'}`
  const which = [q && `for “${q}”`, label && `labelled ${label}`].filter(Boolean).join(', ')
  return which ? `${emails} ${which}` : emails
}

function Nothing({ searched, archived }: { searched: boolean; archived?: boolean }) {
  if (searched) {
    return (
      <EmptyState icon={SearchX} title="No email fits">
        Try fewer words, or another label. A search looks into the archive too.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={Inbox} title={archived ? 'The archive is empty' : 'All done'}>
      {archived
        ? 'What you or the agent archive is kept here.'
        : 'New mail appears by itself. Ask the agent to import some, or look into the archive.'}
    </EmptyState>
  )
}
