export function Label({ name }: { name: string }) {
  return (
    <span className="max-w-28 shrink-0 truncate rounded-full border border-line bg-sunken px-2 text-xs leading-5 text-ink-soft foreign">
      {name}
    </span>
  )
}
