import { lazy, Suspense } from 'react'
import { usePlace } from '../layout/usePlace'
import { Spinner } from '../ui/Spinner'
import { EmailList } from './EmailList'
import { EmailView } from './EmailView'
import { InboxHeader } from './InboxHeader'
import { useNews } from './useNews'

const SummaryView = lazy(() => import('./SummaryView').then(({ SummaryView }) => ({ default: SummaryView })))
const MemoryView = lazy(() => import('./MemoryView').then(({ MemoryView }) => ({ default: MemoryView })))

/** A list, a chart or the memory; or the open email in its place. */
export function InboxPane() {
  const { email, view } = usePlace()
  useNews()
  if (email) return <EmailView key={email} id={email} />
  return (
    <>
      <InboxHeader />
      <Suspense
        fallback={
          <div className="p-6">
            <Spinner />
          </div>
        }
      >
        {view === 'summary' ? <SummaryView /> : view === 'memory' ? <MemoryView /> : <EmailList />}
      </Suspense>
    </>
  )
}
