import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { toast } from '../ui/Toast'
import { keyOf, mailNotSent, sentAs } from './sending'

const FIELD = 'w-full rounded-md border border-line-strong bg-panel px-3 py-1.5'
const PLACE = 'new email'
const NOTHING = { to: '', subject: '', body: '' }

/** An email to somebody, with the action that the agent uses. It cannot be taken back. */
export function NewEmail({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const [mail, setMail] = useState(NOTHING)
  const write = (change: Partial<typeof mail>) => setMail({ ...mail, ...change })
  const send = useMutation({
    mutationFn: () => {
      // The same text sent again, after a lost answer, is the same email.
      const header = { 'Idempotency-Key': keyOf(PLACE, JSON.stringify(mail)) }
      return answer(api.POST('/api/send-email', { body: mail, params: { header } }))
    },
    onSuccess: ({ to }) => {
      toast(`Sent to ${to}`)
      sentAs(PLACE)
      write(NOTHING)
      onOpenChange(false)
    },
  })
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="New email">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        <label className="text-sm font-medium">
          To
          <input
            required
            value={mail.to}
            onChange={(event) => write({ to: event.target.value })}
            placeholder="ann@example.com"
            className={`mt-1 font-normal ${FIELD}`}
          />
        </label>
        <label className="text-sm font-medium">
          Subject
          <input
            required
            maxLength={200}
            value={mail.subject}
            onChange={(event) => write({ subject: event.target.value })}
            className={`mt-1 font-normal ${FIELD}`}
          />
        </label>
        <label className="text-sm font-medium">
          Text
          <textarea
            required
            rows={8}
            maxLength={20_000}
            value={mail.body}
            onChange={(event) => write({ body: event.target.value })}
            className={`mt-1 font-normal ${FIELD}`}
          />
        </label>
        {send.isError && (
          <p role="alert" className="text-sm text-danger foreign">
            {mailNotSent(send.error)}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={() => onOpenChange(false)}>Close</Button>
          <Button type="submit" primary disabled={send.isPending}>
            Send
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
