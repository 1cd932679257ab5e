import type { DynamicToolUIPart, ToolUIPart } from 'ai'
import {
  Check,
  CircleAlert,
  CircleQuestionMark,
  CircleSlash,
  LoaderCircle,
  MessageCircleQuestionMark,
} from 'lucide-react'
import { memo } from 'react'
import { Button } from '../../ui/Button'
import { ApprovalCard } from '../approval/ApprovalCard'
import { Decision } from '../approval/Decision'
import { useAnswered } from '../approval/useApproval'
import type { Progress } from '../history'
import { ProgressBar } from './ProgressBar'
import { viewOf } from './shape'
import { Tree } from './Tree'
import { ValueView } from './ValueView'
import { callInWords, errorInWords, isStopped, isUnknown } from './words'

export type Call = ToolUIPart | DynamicToolUIPart

type Props = {
  name: string
  call: Call
  progress?: Progress
  /** The run that asked, for calls that wait for a person. */
  run?: string
  /** Who answered, where it asked a person. */
  decidedBy?: string
  /** Its run has ended: nothing of it goes on. */
  isOver?: boolean
  /** What can be done where it failed. */
  retry?: { label: string; run: () => void }
}

/** A call of an action: what it does, how it stands, and what came out. */
export const ToolCard = memo(function ToolCard({ name, call, progress, run, decidedBy, isOver, retry }: Props) {
  const answered = useAnswered(call.toolCallId)
  const { icon: Icon, label, look, box } = howItStands(call, answered !== undefined, isOver)
  const words = callInWords(name, call.input)
  return (
    <section aria-label={words} className="overflow-hidden rounded-lg border border-line bg-panel text-sm">
      <div className="flex min-h-10 items-center gap-2.5 px-3 py-2">
        <Icon size={15} aria-hidden className={`shrink-0 ${look}`} />
        <span className="min-w-0 flex-1 font-medium foreign">{words}</span>
        <span className="shrink-0 text-xs text-ink-soft">{label}</span>
      </div>
      {progress && call.state === 'input-available' && <ProgressBar progress={progress} />}
      {call.state === 'approval-requested' && <ApprovalCard name={name} call={call} run={run} answered={answered} />}
      {call.state === 'output-available' && <Output call={call} />}
      {call.state === 'output-error' && (
        <div className={`flex flex-col items-start gap-2 border-t border-line px-3 py-2.5 ${box}`}>
          <p className="foreign">{errorInWords(call.errorText)}</p>
          {retry && <Button onClick={retry.run}>{retry.label}</Button>}
        </div>
      )}
      {call.approval?.approved !== undefined && <Decision call={call} by={decidedBy} />}
      {call.state !== 'input-streaming' && call.state !== 'approval-requested' && <Data call={call} />}
    </section>
  )
}, isSame)

/** While a message streams its parts are copied with every chunk; what they hold stays the same. */
function isSame(a: Props, b: Props): boolean {
  const fields = ['state', 'input', 'output', 'errorText', 'approval'] as const
  const held = (call: Call) => call as Partial<Record<(typeof fields)[number], unknown>>
  return (
    fields.every((field) => held(a.call)[field] === held(b.call)[field]) &&
    a.progress === b.progress &&
    a.run === b.run &&
    a.decidedBy === b.decidedBy &&
    a.isOver === b.isOver &&
    a.retry === b.retry
  )
}

type Look = { label: string; icon: typeof Check; look: string; box?: string }

const STATES: Record<Call['state'], Look> = {
  'input-streaming': { label: 'Preparing', icon: LoaderCircle, look: 'animate-spin text-ink-soft' },
  'input-available': { label: 'Working', icon: LoaderCircle, look: 'animate-spin text-accent' },
  'approval-requested': { label: 'Needs your word', icon: MessageCircleQuestionMark, look: 'text-warn' },
  'approval-responded': { label: 'Answered', icon: LoaderCircle, look: 'animate-spin text-accent' },
  'output-available': { label: 'Done', icon: Check, look: 'text-accent' },
  'output-error': { label: 'Failed', icon: CircleAlert, look: 'text-danger', box: 'bg-danger-soft text-danger' },
  'output-denied': { label: 'Refused', icon: CircleSlash, look: 'text-ink-soft' },
}

/** It waits for the answers to other calls. */
const ANSWERED: Look = { label: 'Answered', icon: Check, look: 'text-ink-soft' }
const UNKNOWN: Look = {
  label: 'Outcome unknown',
  icon: CircleQuestionMark,
  look: 'text-warn',
  box: 'bg-warn-soft text-warn',
}
const STOPPED: Look = { label: 'Stopped', icon: CircleSlash, look: 'text-ink-soft', box: 'text-ink-soft' }

function howItStands(call: Call, isAnswered: boolean, isOver?: boolean): Look {
  if (call.state === 'approval-requested' && isAnswered) return ANSWERED
  if (call.state === 'approval-responded' && isOver) return ANSWERED
  if (call.state === 'output-error' && isUnknown(call.errorText)) return UNKNOWN
  if (call.state === 'output-error' && isStopped(call.errorText)) return STOPPED
  return STATES[call.state]
}

function Output({ call }: { call: Call }) {
  const view = viewOf(call.output)
  if (view.kind === 'nothing') return null
  return (
    <div className="border-t border-line px-3 py-2.5">
      <ValueView view={view} />
    </div>
  )
}

/** What went in and what came out, all of it. */
function Data({ call }: { call: Call }) {
  return (
    <details className="border-t border-line text-xs">
      <summary className="cursor-pointer px-3 py-1.5 text-ink-soft hover:text-ink">Show data</summary>
      <div className="flex flex-col gap-2 px-3 pb-3">
        <Side label="What went in" value={call.input} />
        {call.state === 'output-available' && <Side label="What came out" value={call.output} />}
      </div>
    </details>
  )
}

function Side({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <p className="mb-0.5 font-medium">{label}</p>
      <div tabIndex={0} className="max-h-72 overflow-auto rounded-md bg-sunken p-2">
        <Tree value={value} />
      </div>
    </div>
  )
}
