import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Run } from '../api'
import { answer, api } from '../api/client'
import { ErrorNote } from '../ui/ErrorNote'
import { Spinner } from '../ui/Spinner'
import { Time } from '../ui/Time'
import { useRunChunks } from './useRunChunks'

/** A run and its log. */
export function RunPage() {
  const { run: id } = useParams({ from: '/runs/$run' })
  const run = useQuery({
    queryKey: ['run', id],
    queryFn: ({ signal }) => answer(api.GET('/runs/{run}', { params: { path: { run: id } }, signal })),
  })
  const { chunks, error } = useRunChunks(id, () => void run.refetch())
  return (
    <main tabIndex={0} className="h-full overflow-y-auto bg-panel px-6 py-6 focus-visible:-outline-offset-2">
      <div className="mx-auto max-w-4xl">
        <h1 className="text-xl font-semibold tracking-tight">Run</h1>
        <p className="mb-4 font-mono text-xs text-ink-soft foreign">{id}</p>
        {run.isPending && <Spinner label="Reading the run" />}
        {run.isError && <ErrorNote error={run.error} onRetry={() => void run.refetch()} />}
        {run.data && <Facts run={run.data} />}
        {error !== undefined && <ErrorNote error={error} />}
        <h2 className="mt-8 mb-2 font-semibold">Log</h2>
        <ol className="divide-y divide-line border-y border-line">
          {chunks.map(({ seq, chunk }) => (
            <li key={seq} className="grid grid-cols-[3rem_minmax(8rem,11rem)_minmax(0,1fr)] gap-3 py-1.5 text-xs">
              <span className="text-right font-mono text-ink-soft">{seq}</span>
              <span className="font-medium">{chunk.type}</span>
              <span className="truncate font-mono text-ink-soft foreign">{JSON.stringify(chunk)}</span>
            </li>
          ))}
        </ol>
      </div>
    </main>
  )
}

function Facts({ run }: { run: Run }) {
  const facts = [
    ['Status', run.status],
    ['Ended because', run.endReason ?? '–'],
    ['Attempts', run.attempt],
    ['Asked by', run.owner.user],
    ['Began', <Time key="began" at={run.createdAt} />],
  ] as const
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 text-sm sm:grid-cols-5">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-ink-soft">{name}</dt>
          <dd className="font-medium foreign">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
