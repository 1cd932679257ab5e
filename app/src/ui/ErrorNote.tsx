import type { ReactNode } from 'react'
import { ProblemError, wordsOf } from '../api/problem'
import { Button } from './Button'

/** `retry` is what the button says. `children` are other ways to go on. */
type Props = { error: unknown; onRetry?: () => void; retry?: string; children?: ReactNode }

/** What went wrong, in plain words, with what can be done. */
export function ErrorNote({ error, onRetry, retry = 'Try again', children }: Props) {
  const requestId = error instanceof ProblemError ? error.problem.requestId : undefined
  return (
    <div role="alert" className="m-4 flex flex-col items-start gap-2 rounded-lg bg-danger-soft p-4 text-sm text-danger">
      <p className="foreign">{wordsOf(error)}</p>
      {requestId && <p className="font-mono text-xs foreign">Request {requestId}</p>}
      {(onRetry || children) && (
        <div className="flex flex-wrap items-center gap-4">
          {onRetry && <Button onClick={onRetry}>{retry}</Button>}
          {children}
        </div>
      )}
    </div>
  )
}
