import clsx from 'clsx'
import type { ComponentProps } from 'react'
import { Tooltip } from './Tooltip'

type Props = Omit<ComponentProps<'button'>, 'aria-label'> & { label: string; noTooltip?: boolean }

/** A button that is only an icon: its label is read aloud, and shown when it is pointed at or focused. */
export function IconButton({ label, noTooltip, className, type = 'button', ...rest }: Props) {
  const button = (
    <button
      type={type}
      aria-label={label}
      title={noTooltip ? label : undefined}
      className={clsx(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-md text-ink-soft transition-colors',
        'enabled:hover:bg-hover enabled:hover:text-ink disabled:cursor-not-allowed disabled:opacity-55',
        className,
      )}
      {...rest}
    />
  )
  return noTooltip ? button : <Tooltip text={label}>{button}</Tooltip>
}
