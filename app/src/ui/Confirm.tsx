import { AlertDialog as Radix } from 'radix-ui'
import { Button } from './Button'

type Props = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description: string
  /** What the button does, in a word. */
  action: string
  onConfirm: () => void
}

/** Asks before something that cannot be taken back. */
export function Confirm({ open, onOpenChange, title, description, action, onConfirm }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content className="fixed top-1/2 left-1/2 z-50 w-[min(26rem,calc(100vw-2rem))] -translate-1/2 rounded-lg border border-line bg-raised p-5 shadow-float">
          <Radix.Title className="text-lg font-semibold foreign">{title}</Radix.Title>
          <Radix.Description className="mt-1 mb-5 text-sm text-ink-soft">{description}</Radix.Description>
          <div className="flex justify-end gap-2">
            <Radix.Cancel asChild>
              <Button>Cancel</Button>
            </Radix.Cancel>
            <Radix.Action asChild>
              <Button danger onClick={onConfirm}>
                {action}
              </Button>
            </Radix.Action>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
