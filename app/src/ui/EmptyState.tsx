import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

type Props = { icon: LucideIcon; title: string; children?: ReactNode }

/** Says why there is nothing here, and what to do. */
export function EmptyState({ icon: Icon, title, children }: Props) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <Icon size={28} strokeWidth={1.5} className="mb-1 text-accent" aria-hidden />
      <p className="font-medium">{title}</p>
      {children && <div className="max-w-80 text-sm text-ink-soft">{children}</div>}
    </div>
  )
}
