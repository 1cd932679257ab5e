import { Archive, ArchiveRestore, ArrowLeft, Mail, MailOpen } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Face } from '../layout/Face'
import { LIST } from '../layout/places'
import { useShortcut } from '../layout/shortcuts'
import { nameOf, useOthers } from '../layout/useOthers'
import { useGo } from '../layout/usePlace'
import { Button } from '../ui/Button'
import { ErrorNote } from '../ui/ErrorNote'
import { IconButton } from '../ui/IconButton'
import { LongText } from '../ui/LongText'
import { Spinner } from '../ui/Spinner'
import { Time } from '../ui/Time'
import { senderOf } from './email'
import { Label } from './Label'
import { LabelEditor } from './LabelEditor'
import { Flash, Mark } from './Mark'
import { ReplyBox } from './ReplyBox'
import { type OpenEmail, useEmail } from './useEmails'
import { useFiling } from './useFiling'

/** One email, the replies to it, and the next reply. */
export function EmailView({ id }: { id: string }) {
  const go = useGo()
  const { email, error, retry } = useEmail(id)
  const close = () => void go({ pane: 'inbox', email: undefined })
  const filing = useFiling((to) => 'archived' in to && to.archived && close())
  const readers = useOthers().filter(({ activity }) => activity.email === id)
  useShortcut('u', close)
  useShortcut('e', () => {
    if (email && !email.archived && !filing.isPending) filing.mutate({ emailId: id, to: { archived: true } })
  })
  const mark = () => {
    if (email && !filing.isPending) filing.mutate({ emailId: id, to: { unread: !email.unread } })
  }
  useShortcut('m', mark)
  return (
    <>
      <div className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-2">
        <IconButton label="Back to the list" onClick={close}>
          <ArrowLeft size={18} aria-hidden />
        </IconButton>
        {readers.length > 0 && (
          <p className="flex min-w-0 items-center gap-1.5 text-sm text-ink-soft">
            {readers.slice(0, 3).map(({ client, user }) => (
              <Face key={client} name={user} small />
            ))}
            <span className="truncate">{readers.map(nameOf).join(', ')} also here</span>
          </p>
        )}
        <div className="ml-auto flex shrink-0 items-center gap-2">
          {email && (
            <>
              <IconButton label={email.unread ? 'Mark as read' : 'Mark as unread'} onClick={mark}>
                {email.unread ? <MailOpen size={16} aria-hidden /> : <Mail size={16} aria-hidden />}
              </IconButton>
              <LabelEditor id={id} labels={email.labels} />
              <Button
                disabled={filing.isPending}
                onClick={() => filing.mutate({ emailId: id, to: { archived: !email.archived } })}
              >
                {email.archived ? <ArchiveRestore size={15} aria-hidden /> : <Archive size={15} aria-hidden />}
                {email.archived ? 'Put back' : 'Archive'}
              </Button>
            </>
          )}
        </div>
      </div>
      {error !== undefined && <ErrorNote error={error} onRetry={retry} />}
      {!email && error === undefined && (
        <div className="p-6">
          <Spinner label="Opening the email" />
        </div>
      )}
      {email && <Content email={email} />}
    </>
  )
}

function Content({ email }: { email: OpenEmail }) {
  const go = useGo()
  const sender = senderOf(email.from)
  const title = useRef<HTMLHeadingElement>(null)
  // Who came from the list is at the email now. Who writes in the chat stays there.
  useEffect(() => {
    if (document.activeElement === document.body) title.current?.focus({ preventScroll: true })
  }, [])
  return (
    <article tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-4 py-6 focus-visible:-outline-offset-2 sm:px-6">
      <h2 ref={title} tabIndex={-1} className="text-xl leading-snug font-semibold tracking-tight outline-none foreign">
        {email.subject}
      </h2>
      <div className="relative mt-2 mb-6 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md text-sm text-ink-soft">
        <Flash id={email.id} />
        <span className="relative font-medium text-ink foreign">{sender.name}</span>
        <span className="relative foreign">{sender.address}</span>
        <Time at={email.date} className="relative" />
        {email.archived && <span className="relative">Archived</span>}
        {email.labels.map((label) => (
          <Label key={label} name={label} onClick={() => go({ ...LIST, label })} />
        ))}
        <Mark id={email.id} />
      </div>
      <div className="max-w-[76ch] leading-relaxed whitespace-pre-wrap foreign">
        <LongText>{email.body}</LongText>
      </div>
      {email.replies.map((reply) => (
        <section
          key={reply.id}
          aria-label={`Reply of ${reply.by}`}
          className="mt-8 rounded-lg border border-line bg-canvas p-4"
        >
          <p className="mb-2 flex items-center gap-2 text-sm text-ink-soft">
            <Face name={reply.by} small />
            <span className="font-medium text-ink foreign">{reply.by}</span> replied
            <Time at={reply.date} className="ml-auto" />
          </p>
          <div className="max-w-[76ch] whitespace-pre-wrap foreign">
            <LongText>{reply.body}</LongText>
          </div>
        </section>
      ))}
      <ReplyBox id={email.id} to={sender.name} />
    </article>
  )
}
