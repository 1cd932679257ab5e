import type { Author } from '../api'
import { Face } from '../layout/Face'
import { Tooltip } from '../ui/Tooltip'
import { useRecent } from './recent'
import { whoseName } from './useNews'

/** Who has just changed this email. */
export function Mark({ id }: { id: string }) {
  const change = useRecent(id)
  if (!change) return null
  const told = `${whoseName(change.by).replace(/,$/, '')} has just changed it`
  return (
    <Tooltip text={told}>
      <span className="inline-flex shrink-0 self-center">
        <Face name={change.by.user} isAgent={isAgent(change.by)} small />
        <span className="sr-only">{told}</span>
      </span>
    </Tooltip>
  )
}

/** A highlight that fades. It is behind the text, and begins anew with each change. */
export function Flash({ id }: { id: string }) {
  const change = useRecent(id)
  if (!change) return null
  return (
    <span key={change.at} aria-hidden className="pointer-events-none absolute inset-0 animate-flash bg-accent-soft" />
  )
}

const isAgent = (by: Author) => by.caller === 'agent'
