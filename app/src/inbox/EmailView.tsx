import { Archive, ArrowLeft } from 'lucide-react'
import { useGo } from '../layout/usePlace'
import { Button } from '../ui/Button'
import { ErrorNote } from '../ui/ErrorNote'
import { IconButton } from '../ui/IconButton'
import { Spinner } from '../ui/Spinner'
import { Time } from '../ui/Time'
import { senderOf } from './email'
import { Label } from './Label'
import { useArchive } from './useArchive'
import { useEmail } from './useEmails'

/** One email and the replies to it. */
export function EmailView({ id }: { id: string }) {
  const go = useGo()
  const { data: email, error, isPending, refetch } = useEmail(id)
  const close = () => void go({ pane: 'inbox', email: undefined })
  const archive = useArchive(close)
  return (
    <>
      <div className="flex h-12 shrink-0 items-center justify-between gap-2 border-b border-line px-2">
        <IconButton label="Back to the list" onClick={close}>
          <ArrowLeft size={18} aria-hidden />
        </IconButton>
        {email && !email.archived && (
          <Button disabled={archive.isPending} onClick={() => archive.mutate(id)}>
            <Archive size={15} aria-hidden /> Archive
          </Button>
        )}
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && (
        <div className="p-6">
          <Spinner label="Opening the email" />
        </div>
      )}
      {email && (
        <article tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-6 py-6 focus-visible:-outline-offset-2">
          <h2 className="text-xl leading-snug font-semibold tracking-tight foreign">{email.subject}</h2>
          <div className="mt-2 mb-6 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-soft">
            <span className="font-medium text-ink foreign">{senderOf(email.from).name}</span>
            <span className="foreign">{senderOf(email.from).address}</span>
            <Time at={email.date} />
            {email.labels.map((label) => (
              <Label key={label} name={label} />
            ))}
          </div>
          <div className="max-w-[68ch] leading-relaxed whitespace-pre-wrap foreign">{email.body}</div>
          {email.replies.map((reply) => (
            <section key={reply.id} className="mt-8 rounded-lg border border-line bg-canvas p-4">
              <p className="mb-2 flex gap-3 text-sm text-ink-soft">
                <span className="font-medium text-ink foreign">{reply.by}</span> replied
                <Time at={reply.date} />
              </p>
              <div className="max-w-[68ch] whitespace-pre-wrap foreign">{reply.body}</div>
            </section>
          ))}
        </article>
      )}
    </>
  )
}
