import { Link } from '@tanstack/react-router'
import { Activity } from 'lucide-react'

/** Leads to everything that happened in a run. */
export function RunLink({ run, label = 'Look into this run' }: { run: string; label?: string }) {
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      className="inline-flex min-h-6 items-center gap-1.5 text-xs text-ink-soft underline-offset-3 hover:text-ink hover:underline"
    >
      <Activity size={13} aria-hidden />
      {label}
    </Link>
  )
}
