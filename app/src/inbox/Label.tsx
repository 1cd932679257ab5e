export function Label({ name, onClick }: { name: string; onClick?: () => void }) {
  const look =
    'max-w-32 shrink-0 truncate rounded-full border border-line bg-sunken px-2 text-xs leading-5 text-ink-soft foreign'
  if (!onClick) return <span className={look}>{name}</span>
  return (
    <button
      type="button"
      title={`Show all with ${name}`}
      onClick={onClick}
      className={`${look} min-h-6 hover:text-ink`}
    >
      {name}
    </button>
  )
}
