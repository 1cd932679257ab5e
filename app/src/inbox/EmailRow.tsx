import clsx from 'clsx'
import { Archive, ArchiveRestore, PencilLine, Reply } from 'lucide-react'
import { memo } from 'react'
import { Face } from '../layout/Face'
import { nameOf, type Other } from '../layout/useOthers'
import { useGo } from '../layout/usePlace'
import { IconButton } from '../ui/IconButton'
import { Time } from '../ui/Time'
import { type Email, senderOf } from './email'
import { Found } from './Found'
import { Label } from './Label'
import { Flash, Mark } from './Mark'

type Props = {
  email: Email
  /** What is searched for. */
  words?: string
  /** The one line of the list that Tab leads to. */
  isActive: boolean
  hasDraft: boolean
  /** Who else looks at it. */
  readers: Other[]
  onActive: (id: string) => void
  onOpen: (id: string) => void
  onFile: (id: string, archived: boolean) => void
}

/** A line of the list: opens the email, and archives it or puts it back. */
export function EmailRow({ email, words, isActive, hasDraft, readers, onActive, onOpen, onFile }: Props) {
  const go = useGo()
  const tabIndex = isActive ? 0 : -1
  const open = () => {
    onOpen(email.id)
    void go({ pane: 'inbox', email: email.id })
  }
  return (
    <div className="group relative flex h-full items-center gap-1 pr-3 transition-colors hover:bg-hover">
      <Flash id={email.id} />
      <button
        type="button"
        data-email={email.id}
        tabIndex={tabIndex}
        onFocus={() => onActive(email.id)}
        onClick={open}
        className="relative flex h-full min-w-0 flex-1 flex-col justify-center gap-0.5 pl-4 text-left focus-visible:-outline-offset-2"
      >
        <span className="flex items-baseline gap-2">
          {email.unread && (
            <span className="size-2 shrink-0 self-center rounded-full bg-accent" role="img" aria-label="Unread" />
          )}
          <span className={clsx('truncate text-sm foreign', email.unread ? 'font-semibold' : 'text-ink-soft')}>
            <Found words={words}>{senderOf(email.from).name}</Found>
          </span>
          {email.answered && (
            <Reply size={13} role="img" aria-label="Answered" className="shrink-0 self-center text-ink-soft" />
          )}
          {hasDraft && <Note icon={PencilLine}>Draft</Note>}
          {words && email.archived && <Note icon={Archive}>Archived</Note>}
          <Mark id={email.id} />
          {readers.length > 0 && <Readers readers={readers} />}
          <Time at={email.date} className="ml-auto shrink-0 text-xs text-ink-soft" />
        </span>
        <span className="flex items-center gap-2">
          <span className={clsx('truncate foreign', email.unread && 'font-medium')}>
            <Found words={words}>{email.subject}</Found>
          </span>
          {email.labels.slice(0, 2).map((label) => (
            <Label key={label} name={label} />
          ))}
          {email.labels.length > 2 && <span className="text-xs text-ink-soft">+{email.labels.length - 2}</span>}
        </span>
        <span className="truncate text-sm text-ink-soft foreign">
          <Found words={words}>{email.snippet}</Found>
        </span>
      </button>
      <FileButton email={email} tabIndex={tabIndex} onFile={onFile} />
    </div>
  )
}

const FileButton = memo(function FileButton({
  email: { id, subject, archived },
  tabIndex,
  onFile,
}: Pick<Props, 'email' | 'onFile'> & { tabIndex: number }) {
  const Icon = archived ? ArchiveRestore : Archive
  return (
    <IconButton
      label={archived ? `Put “${subject}” back` : `Archive “${subject}”`}
      tabIndex={tabIndex}
      onClick={() => onFile(id, !archived)}
      className="relative"
    >
      <Icon size={16} aria-hidden />
    </IconButton>
  )
})

function Note({ icon: Icon, children }: { icon: typeof Archive; children: string }) {
  return (
    <span className="inline-flex shrink-0 items-center gap-1 self-center text-xs text-ink-soft">
      <Icon size={12} aria-hidden /> {children}
    </span>
  )
}

function Readers({ readers }: { readers: Other[] }) {
  const names = [...new Set(readers.map(nameOf))].join(', ')
  return (
    <span className="inline-flex shrink-0 -space-x-1 self-center" title={`Looking at it: ${names}`}>
      {[...new Set(readers.map(({ user }) => user))].slice(0, 3).map((user) => (
        <Face key={user} name={user} small />
      ))}
      <span className="sr-only">Looking at it: {names}</span>
    </span>
  )
}
