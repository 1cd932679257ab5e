import { Link } from '@tanstack/react-router'
import clsx from 'clsx'
import { ListTree } from 'lucide-react'

const LABEL = 'Look into this run'

/** Leads to everything that happened in a run: in words, or as an icon among others. */
export function RunLink({ run, iconOnly }: { run: string; iconOnly?: boolean }) {
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      aria-label={iconOnly ? LABEL : undefined}
      title={iconOnly ? LABEL : undefined}
      className={clsx(
        'inline-flex items-center text-ink-soft transition-colors hover:text-ink',
        iconOnly
          ? 'size-7 justify-center rounded-md hover:bg-hover'
          : 'min-h-6 gap-1.5 text-xs underline-offset-3 hover:underline',
      )}
    >
      <ListTree size={14} aria-hidden />
      {!iconOnly && LABEL}
    </Link>
  )
}
