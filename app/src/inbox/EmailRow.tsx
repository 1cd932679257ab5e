import clsx from 'clsx'
import { Archive, Sparkles } from 'lucide-react'
import { useGo } from '../layout/usePlace'
import { IconButton } from '../ui/IconButton'
import { Time } from '../ui/Time'
import { type Email, senderOf } from './email'
import { Label } from './Label'
import { useArchive } from './useArchive'

/** A line of the list: opens the email, and archives it. */
export function EmailRow({ email }: { email: Email }) {
  const go = useGo()
  const archive = useArchive(() => {})
  return (
    <div className="group flex h-full items-center gap-1 pr-3 transition-colors hover:bg-hover">
      <button
        type="button"
        onClick={() => go({ pane: 'inbox', email: email.id })}
        className="flex h-full min-w-0 flex-1 flex-col justify-center gap-0.5 pl-4 text-left focus-visible:-outline-offset-2"
      >
        <span className="flex items-baseline gap-2">
          {email.unread && (
            <span className="size-2 shrink-0 self-center rounded-full bg-accent" role="img" aria-label="Unread" />
          )}
          <span className={clsx('truncate text-sm foreign', email.unread ? 'font-semibold' : 'text-ink-soft')}>
            {senderOf(email.from).name}
          </span>
          {email.by?.caller === 'agent' && (
            <Sparkles
              size={12}
              className="shrink-0 self-center text-accent"
              role="img"
              aria-label="Changed by the agent"
            />
          )}
          <Time at={email.date} className="ml-auto shrink-0 text-xs text-ink-soft" />
        </span>
        <span className="flex items-center gap-2">
          <span className={clsx('truncate foreign', email.unread && 'font-medium')}>{email.subject}</span>
          {email.labels.slice(0, 2).map((label) => (
            <Label key={label} name={label} />
          ))}
        </span>
        <span className="truncate text-sm text-ink-soft foreign">{email.snippet}</span>
      </button>
      {!email.archived && (
        <IconButton
          label={`Archive “${email.subject}”`}
          disabled={archive.isPending}
          onClick={() => archive.mutate(email.id)}
        >
          <Archive size={16} aria-hidden />
        </IconButton>
      )}
    </div>
  )
}
