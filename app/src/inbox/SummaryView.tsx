import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ChartColumn } from 'lucide-react'
import { useRef } from 'react'
import { answer, api } from '../api/client'
import { LIST } from '../layout/places'
import { useGo } from '../layout/usePlace'
import { useLiveEvents } from '../live/hooks'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { Spinner } from '../ui/Spinner'
import { SCOPE } from './email'
import { DayChart, LabelChart } from './SummaryCharts'

/** What the action `summarize-inbox` counts, as the agent gets it too. */
export function SummaryView() {
  const go = useGo()
  const { data, error, refetch } = useQuery({
    queryKey: ['summary'],
    queryFn: ({ signal }) => answer(api.GET('/api/summarize-inbox', { params: { query: { days: 30 } }, signal })),
  })
  useCountAgain()
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) {
    return (
      <div className="p-6">
        <Spinner label="Counting" />
      </div>
    )
  }
  if (data.emails === 0) {
    return (
      <EmptyState icon={ChartColumn} title="Nothing to count">
        The inbox is empty. Ask the agent to import some emails.
      </EmptyState>
    )
  }
  const counts = [
    ['emails', data.emails],
    ['unread', data.unread],
    ['not answered', data.unanswered],
    ['without a label', data.unlabelled],
  ] as const
  return (
    <section
      aria-label="Summary"
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto px-6 py-6 focus-visible:-outline-offset-2"
    >
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-4">
        {counts.map(([name, count]) => (
          <div key={name} className="flex flex-col-reverse border-l-2 border-line pl-3">
            <dt className="text-sm text-ink-soft">{name}</dt>
            <dd className="text-2xl font-semibold tracking-tight tabular-nums">{count.toLocaleString()}</dd>
          </div>
        ))}
      </dl>
      <h3 className="mt-9 mb-3 font-semibold">Arrived per day</h3>
      <DayChart days={data.byDay} />
      <h3 className="mt-9 mb-3 font-semibold">Per label</h3>
      <LabelChart labels={data.byLabel.slice(0, 12)} onChoose={(label) => void go({ ...LIST, label })} />
      {!data.complete && <p className="mt-4 text-sm text-ink-soft">Only the newest emails are counted.</p>}
    </section>
  )
}

/** Counting reads everything: often enough to be true, not with every change of an import. */
function useCountAgain() {
  const cache = useQueryClient()
  const soon = useRef<ReturnType<typeof setTimeout>>(undefined)
  useLiveEvents((event) => {
    if (event.type !== 'state' || event.scope !== SCOPE) return
    soon.current ??= setTimeout(() => {
      soon.current = undefined
      void cache.invalidateQueries({ queryKey: ['summary'] })
    }, 2000)
  })
}
