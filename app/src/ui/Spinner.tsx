export function Spinner({ label = 'Loading' }: { label?: string }) {
  return (
    <span role="status" className="inline-flex items-center gap-2 text-sm text-ink-soft">
      <span className="size-4 animate-spin rounded-full border-2 border-line border-t-accent" aria-hidden />
      <span>{label}</span>
    </span>
  )
}
