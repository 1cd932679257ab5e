import { useState } from 'react'
import { useGo } from '../../layout/usePlace'
import type { EmailLine } from './shape'
import { inWords } from './shape'
import { More } from './ValueView'

/** Emails as the inbox lists them; a click opens one beside the conversation. */
export function EmailLines({ emails }: { emails: EmailLine[] }) {
  const go = useGo()
  const [shown, setShown] = useState(5)
  return (
    <div className="flex flex-col items-start gap-1">
      <ul className="-mx-1.5 flex w-[calc(100%+0.75rem)] flex-col">
        {emails.slice(0, shown).map((email) => (
          <li key={email.id}>
            <button
              type="button"
              onClick={() => go({ pane: 'inbox', email: email.id })}
              className="flex w-full flex-col rounded-md px-1.5 py-1 text-left transition-colors hover:bg-hover"
            >
              <span className={`w-full truncate foreign ${email.unread ? 'font-semibold' : ''}`}>{email.subject}</span>
              <span className="flex w-full justify-between gap-3 text-xs text-ink-soft">
                <span className="truncate foreign">{email.from}</span>
                {email.date && <span className="shrink-0 tabular-nums">{inWords(email.date)}</span>}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <More of={emails.length} shown={shown} onMore={() => setShown(shown + 50)} />
    </div>
  )
}
