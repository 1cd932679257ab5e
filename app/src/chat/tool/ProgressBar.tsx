import type { Progress } from '../history'
import { amount } from './words'

/** How far a long call is: a bar where the end is known. */
export function ProgressBar({ progress: { label, done, total } }: { progress: Progress }) {
  const share = total ? Math.min(1, done / total) : undefined
  return (
    <div className="px-3 pb-3">
      <div className="mb-1.5 flex justify-between gap-3 text-xs text-ink-soft">
        <span className="foreign">{label}</span>
        <span className="shrink-0 tabular-nums">{total ? `${amount(done)} of ${amount(total)}` : amount(done)}</span>
      </div>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={share === undefined ? undefined : done}
        className="h-1.5 overflow-hidden rounded-full bg-sunken"
      >
        <div
          className={`h-full origin-left rounded-full bg-accent transition-transform duration-300 ${share === undefined ? 'animate-pulse' : ''}`}
          style={{ transform: `scaleX(${share ?? 1})` }}
        />
      </div>
    </div>
  )
}
