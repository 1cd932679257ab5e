import { Brain } from 'lucide-react'
import { useDocuments } from '../live/hooks'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'
import { Spinner } from '../ui/Spinner'
import { MemoryCard } from './MemoryCard'
import { MEMORY, memoriesOf } from './memory'
import { NewMemory } from './NewMemory'

const WHOSE = [
  { scope: 'user', title: 'Yours', told: 'Only the agent and you see these.' },
  { scope: 'tenant', title: 'The team’s', told: 'Everybody in the team sees and changes these.' },
] as const

/** What the agent remembers: to be seen, corrected and deleted. */
export function MemoryView() {
  const mine = useDocuments('user', MEMORY)
  const ours = useDocuments('tenant', MEMORY)
  const failed = [mine, ours].find((query) => query.isError)
  if (failed) return <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} />
  const lists = [mine.data, ours.data].map((data) => data && memoriesOf(data))
  if (!lists[0] || !lists[1]) {
    return (
      <div className="p-6">
        <Spinner label="Looking what is remembered" />
      </div>
    )
  }
  return (
    <section
      aria-label="Memory"
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto px-4 py-5 focus-visible:-outline-offset-2 sm:px-6"
    >
      <div className="flex items-start justify-between gap-4">
        <p className="max-w-prose text-sm text-ink-soft">
          The agent reads these in every conversation. Correct what is wrong, and delete what it should forget.
        </p>
        <NewMemory />
      </div>
      {lists[0].length + lists[1].length === 0 ? (
        <EmptyState icon={Brain} title="Nothing is remembered yet">
          Tell the agent what to keep in mind, such as “remember that I write short replies”.
        </EmptyState>
      ) : (
        WHOSE.map(({ scope, title, told }, n) => (
          <section key={scope} aria-label={title} className="mt-7">
            <h3 className="font-semibold">{title}</h3>
            <p className="mb-3 text-sm text-ink-soft">{told}</p>
            <ul className="flex flex-col gap-2">
              {lists[n]?.map((memory) => (
                <li key={memory.key}>
                  <MemoryCard scope={scope} memory={memory} />
                </li>
              ))}
              {lists[n]?.length === 0 && <li className="text-sm text-ink-soft">None.</li>}
            </ul>
          </section>
        ))
      )}
    </section>
  )
}
