import { Link, useParams } from '@tanstack/react-router'
import { Square, Terminal } from 'lucide-react'
import { useEffect } from 'react'
import type { Run } from '../api'
import { accessToken, isDev } from '../session/session'
import { Button } from '../ui/Button'
import { ErrorNote } from '../ui/ErrorNote'
import { Spinner } from '../ui/Spinner'
import { copy } from './copy'
import { curlOf } from './curl'
import { Facts, StatusBadge } from './Facts'
import { Inspector } from './Inspector'
import { Silence } from './Silence'
import { isOver, useContinuedBy, useRun, useStop } from './useRun'
import { type RunLog, useRunLog } from './useRunLog'
import { END_REASON } from './words'

/** Everything that happened in a run, and happens while it goes on. */
export function RunPage() {
  const { run: id } = useParams({ from: '/runs/$run' })
  return <OneRun key={id} id={id} />
}

function OneRun({ id }: { id: string }) {
  const log = useRunLog(id)
  const run = useRun(id, `${log.timeline.attemptAt} ${log.isOver}`)
  const error = run.error ?? log.error
  // All at once, so that nothing moves.
  const isRead = log.isOver || log.isLive
  useEffect(() => {
    const before = document.title
    document.title = 'Run · Tandem'
    return () => {
      document.title = before
    }
  }, [])
  return (
    <main tabIndex={-1} className="flex h-full flex-col overflow-y-auto bg-panel outline-none">
      <header className="shrink-0 border-b border-line px-4 py-4 sm:px-6">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="text-xl font-semibold tracking-tight">{run.data?.action ? 'Action' : 'Run'}</h1>
          {run.data && <StatusBadge status={run.data.status} />}
          <div className="flex w-full flex-wrap gap-2 sm:ml-auto sm:w-72 sm:flex-row-reverse">
            <CurlButton id={id} />
            {run.data && !isOver(run.data) && <StopButton id={id} />}
          </div>
        </div>
        <p className="mt-0.5 font-mono text-xs text-ink-soft foreign">{id}</p>
        {run.data && isRead && <Told run={run.data} log={log} />}
        {run.data && isRead && <Facts run={run.data} timeline={log.timeline} />}
      </header>
      {error ? (
        <ErrorNote error={error} onRetry={() => window.location.reload()}>
          <Link to="/" className="underline underline-offset-3">
            Go to the inbox
          </Link>
        </ErrorNote>
      ) : run.data && isRead ? (
        <Inspector log={log} isAction={run.data.action !== undefined} />
      ) : (
        <div className="p-6">
          <Spinner label="Reading the log" />
        </div>
      )}
    </main>
  )
}

/** Why it is as it is, and where to go from here. */
function Told({ run, log }: { run: Run; log: RunLog }) {
  const next = useContinuedBy(run)
  return (
    <div className="mt-2 mb-4 flex flex-wrap gap-x-5 gap-y-1 text-sm">
      {run.threadId && (
        <Link to="/threads/$thread" params={{ thread: run.threadId }} className={LINK}>
          Open the conversation
        </Link>
      )}
      {run.continues && (
        <Link to="/runs/$run" params={{ run: run.continues }} className={LINK}>
          Goes on with an earlier run
        </Link>
      )}
      {next && (
        <Link to="/runs/$run" params={{ run: next }} className={LINK}>
          Continued by the next run
        </Link>
      )}
      {run.endReason && <p>{END_REASON[run.endReason]}</p>}
      {!isOver(run) && <Silence log={log} />}
    </div>
  )
}
const LINK = 'text-accent underline underline-offset-3'

function StopButton({ id }: { id: string }) {
  const stop = useStop(id)
  return (
    <Button danger disabled={stop.isPending || stop.isSuccess} onClick={() => stop.mutate()}>
      <Square size={13} aria-hidden /> {stop.isSuccess ? 'Stopping' : 'Stop the run'}
    </Button>
  )
}

function CurlButton({ id }: { id: string }) {
  const copyIt = async () => {
    // A real token is nobody's to paste around.
    const token = isDev() ? await accessToken() : undefined
    copy(curlOf(window.location.origin, id, token), 'The command for the log')
  }
  return (
    <Button onClick={() => void copyIt()}>
      <Terminal size={14} aria-hidden /> Copy as curl
    </Button>
  )
}
