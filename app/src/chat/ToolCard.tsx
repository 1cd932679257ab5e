import type { DynamicToolUIPart, ToolUIPart } from 'ai'
import { Check, CircleAlert, LoaderCircle } from 'lucide-react'

type Props = { name: string; part: ToolUIPart | DynamicToolUIPart }

/** A call of an action: which, how it stands, and what went in and came out. */
export function ToolCard({ name, part }: Props) {
  const failed = part.state === 'output-error' || part.state === 'output-denied'
  const over = failed || part.state === 'output-available'
  const Icon = failed ? CircleAlert : over ? Check : LoaderCircle
  return (
    <details className="rounded-lg border border-line bg-panel text-sm">
      <summary className="flex min-h-9 cursor-pointer items-center gap-2 px-3">
        <Icon
          size={15}
          aria-hidden
          className={failed ? 'text-danger' : over ? 'text-accent' : 'animate-spin text-ink-soft'}
        />
        <span className="font-medium">{name}</span>
        <span className="ml-auto text-xs text-ink-soft">{STATES[part.state]}</span>
      </summary>
      <div className="flex flex-col gap-2 border-t border-line p-3">
        <Value label="Input" value={part.input} />
        {part.state === 'output-available' && <Value label="Output" value={part.output} />}
        {part.state === 'output-error' && <p className="text-danger foreign">{part.errorText}</p>}
      </div>
    </details>
  )
}

const STATES: Record<ToolUIPart['state'], string> = {
  'input-streaming': 'Preparing',
  'input-available': 'Working',
  'approval-requested': 'Needs your word',
  'approval-responded': 'Answered',
  'output-available': 'Done',
  'output-error': 'Failed',
  'output-denied': 'Refused',
}

function Value({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <p className="mb-1 text-xs text-ink-soft">{label}</p>
      <pre
        tabIndex={0}
        className="max-h-60 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs foreign whitespace-pre-wrap"
      >
        {JSON.stringify(value, null, 2)}
      </pre>
    </div>
  )
}
