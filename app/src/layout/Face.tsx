import clsx from 'clsx'
import { Sparkles } from 'lucide-react'

/** Somebody, as a small round picture. The agent is a participant like others, and looks different. */
export function Face({ name, isAgent, small }: { name: string; isAgent?: boolean; small?: boolean }) {
  return (
    <span
      aria-hidden
      className={clsx(
        'inline-flex shrink-0 items-center justify-center rounded-full font-semibold uppercase',
        small ? 'size-5 text-[0.625rem]' : 'size-7 text-xs',
        isAgent ? 'bg-accent text-on-accent' : 'bg-accent-soft text-accent',
      )}
    >
      {isAgent ? <Sparkles size={small ? 11 : 14} /> : [...name].slice(0, 2).join('')}
    </span>
  )
}
