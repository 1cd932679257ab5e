type Props = { at: string | number; className?: string }

/** When, as short as it can be said: a time today, a day this year, else a date. The whole of it when pointed at. */
export function Time({ at, className }: Props) {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return null
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()} className={className}>
      {shortTime(date, new Date())}
    </time>
  )
}

export function shortTime(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) {
    return date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  }
  const sameYear = date.getFullYear() === now.getFullYear()
  return date.toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    ...(sameYear ? {} : { year: 'numeric' }),
  })
}
