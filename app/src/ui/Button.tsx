import clsx from 'clsx'
import type { ComponentProps } from 'react'

type Props = ComponentProps<'button'> & {
  /** The one thing to do here. */
  primary?: boolean
  /** Looks like text until it is pointed at. */
  quiet?: boolean
  danger?: boolean
}

export function Button({ primary, quiet, danger, className, type = 'button', ...rest }: Props) {
  return (
    <button
      type={type}
      className={clsx(
        'inline-flex min-h-8 items-center justify-center gap-2 rounded-md px-3 py-1 text-sm font-medium transition-colors',
        'disabled:cursor-not-allowed disabled:opacity-55',
        primary && 'bg-accent text-on-accent enabled:hover:brightness-110',
        !primary && quiet && 'text-ink-soft enabled:hover:bg-hover enabled:hover:text-ink',
        !primary && !quiet && 'border border-line bg-panel enabled:hover:bg-hover',
        danger && 'text-danger',
        className,
      )}
      {...rest}
    />
  )
}
