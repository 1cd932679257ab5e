import { useEffect, useState } from 'react'
import { GAP_MS } from './timeline'
import type { RunLog } from './useRunLog'
import { duration } from './words'

/** How the connection to a run that is under way stands. */
export function Silence({ log: { isLost, isLive, timeline } }: { log: RunLog }) {
  const [opened] = useState(() => Date.now())
  const [now, setNow] = useState(opened)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  if (isLost) return <p className="text-warn">The connection is lost. Connecting again…</p>
  if (!isLive) return null
  const since = now - (timeline.lastArrival ?? opened)
  if (since < GAP_MS) return <p className="text-ink-soft">Chunks come as they are written.</p>
  const seconds = Math.floor(since / 1000) * 1000
  return (
    <p className="text-ink-soft tabular-nums">No chunk for {duration(seconds).replace('.0 ', ' ')}, as seen here.</p>
  )
}
