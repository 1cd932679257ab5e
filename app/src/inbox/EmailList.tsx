import { useVirtualizer } from '@tanstack/react-virtual'
import { Inbox } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { usePlace } from '../layout/usePlace'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { Spinner } from '../ui/Spinner'
import { EmailRow } from './EmailRow'
import { fits } from './email'
import { useEmails } from './useEmails'

const ROW_PX = 84

/** The emails that the address asks for. */
export function EmailList() {
  const { label, archived, q } = usePlace()
  const { emails, error, retry } = useEmails()
  const shown = useMemo(
    () => emails?.filter((email) => fits(email, { label, archived, q })),
    [emails, label, archived, q],
  )
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: shown?.length ?? 0,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => shown?.[at]?.id ?? at,
    overscan: 6,
  })
  return (
    <>
      <div className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-4">
        <h2 className="text-lg font-semibold tracking-tight">{archived ? 'Archive' : 'Inbox'}</h2>
        {shown && <span className="text-sm text-ink-soft">{shown.length}</span>}
      </div>
      {error !== undefined && <ErrorNote error={error} onRetry={retry} />}
      {!shown && error === undefined && (
        <div className="p-6">
          <Spinner label="Opening the inbox" />
        </div>
      )}
      {shown?.length === 0 && (
        <EmptyState icon={Inbox} title="Nothing here">
          New mail appears by itself. Ask the agent to import some, or look into the archive.
        </EmptyState>
      )}
      <div ref={box} className="min-h-0 flex-1 overflow-y-auto">
        <ul className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const email = shown?.[row.index]
            return (
              email && (
                <li
                  key={row.key}
                  className="absolute inset-x-0 top-0 border-b border-line"
                  style={{ height: row.size, transform: `translateY(${row.start}px)` }}
                >
                  <EmailRow email={email} />
                </li>
              )
            )
          })}
        </ul>
      </div>
    </>
  )
}
