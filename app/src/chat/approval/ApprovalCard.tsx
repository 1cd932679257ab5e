import { useState } from 'react'
import { ProblemError, wordsOf } from '../../api/problem'
import { whoAmI } from '../../session/session'
import { Button } from '../../ui/Button'
import { viewOf } from '../tool/shape'
import type { Call } from '../tool/ToolCard'
import { ValueView } from '../tool/ValueView'
import { type Field, faultsOf, fieldsOf, inputOf, parsed, type Typed, typedOf } from './fields'
import { InputForm } from './InputForm'
import { useAction } from './useAction'
import { type Answered, nameOf, useAnswer, useAsker } from './useApproval'

type Props = { name: string; call: Call; run?: string; answered?: Answered }

/** Asks a person to agree to a call: as it is, with changes, or not at all. */
export function ApprovalCard({ name, call, run, answered }: Props) {
  const action = useAction(name)
  const asker = useAsker(run)
  const { say, isSaying, problem, overruled, taken } = useAnswer(run, call.toolCallId)
  const [way, setWay] = useState<'look' | 'edit' | 'deny'>('look')

  if (answered) {
    return (
      <p className="border-t border-line px-3 py-2.5 text-ink-soft">
        {answered.approved ? 'Approved' : 'Refused'} by <span className="foreign">{nameOf(answered.by)}</span>.
        {overruled && ' Your answer came later.'}
      </p>
    )
  }
  if (taken) {
    return <p className="border-t border-line px-3 py-2.5 text-ink-soft">{taken.approved ? 'Approved' : 'Refused'}.</p>
  }
  const mayAgree = asker === undefined || asker === whoAmI().user
  const isOver = problem instanceof ProblemError && problem.code === 'conflict'
  return (
    <div className="flex flex-col gap-3 border-t border-line bg-warn-soft/40 px-3 py-3">
      {action && <p className="text-ink-soft">{action.description}</p>}
      {way === 'edit' ? (
        <EditForm
          fields={fieldsOf(action?.inputSchema)}
          call={call}
          isSaying={isSaying}
          onCancel={() => setWay('look')}
          onApprove={(input) => say({ approved: true, input })}
        />
      ) : (
        <ValueView view={viewOf(call.input)} />
      )}
      {way === 'look' && !isOver && (
        <div className="flex flex-wrap gap-2">
          <Button
            primary
            disabled={!mayAgree || isSaying || !run}
            onClick={() => void say({ approved: true }).catch(() => {})}
          >
            Approve
          </Button>
          <Button disabled={!mayAgree || isSaying || !run} onClick={() => setWay('edit')}>
            Edit first
          </Button>
          <Button disabled={isSaying || !run} onClick={() => setWay('deny')}>
            Refuse
          </Button>
        </div>
      )}
      {way === 'deny' && !isOver && (
        <DenyForm
          isSaying={isSaying}
          onCancel={() => setWay('look')}
          onDeny={(reason) => void say({ approved: false, reason: reason || undefined }).catch(() => {})}
        />
      )}
      {!mayAgree && (
        <p className="text-xs text-ink-soft">
          Only <span className="foreign">{asker}</span>, who asked the agent, may approve it, as it runs with their
          rights. You may refuse it.
        </p>
      )}
      {overruled && <p role="status">Somebody else was faster: the call goes on as they said.</p>}
      {isOver && <p role="status">The conversation has gone on, so this was not carried out.</p>}
      {problem && !isOver && way !== 'edit' && (
        <p role="alert" className="text-danger foreign">
          {wordsOf(problem)}
        </p>
      )}
    </div>
  )
}

type EditProps = {
  fields?: Field[]
  call: Call
  isSaying: boolean
  onApprove: (input: unknown) => Promise<void>
  onCancel: () => void
}

/** Where nothing is known of the fields. */
const AS_JSON: Field[] = [{ name: '', label: 'Input, as JSON', required: true, kind: 'json' }]

function EditForm({ fields: known, call, isSaying, onApprove, onCancel }: EditProps) {
  const fields = known ?? AS_JSON
  const [typed, setTyped] = useState<Typed>(() =>
    known ? typedOf(known, call.input) : { '': JSON.stringify(call.input, null, 2) },
  )
  const [faults, setFaults] = useState<Typed>({})
  const approve = async () => {
    const made = known ? inputOf(known, typed, call.input) : wholeInput(typed[''] ?? '')
    if ('faults' in made) return setFaults(made.faults)
    setFaults({})
    try {
      await onApprove(made.input)
    } catch (error) {
      const errors = error instanceof ProblemError ? error.problem.errors : undefined
      setFaults(errors?.length ? faultsOf(errors) : { '': wordsOf(error) })
    }
  }
  const others = Object.keys(faults).filter((name) => !fields.some((field) => field.name === name))
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void approve()
      }}
    >
      <InputForm fields={fields} typed={typed} faults={faults} onType={setTyped} />
      {others.length > 0 && (
        <p role="alert" className="text-danger foreign">
          {others.map((name) => faults[name]).join(' ')}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button primary type="submit" disabled={isSaying}>
          Approve with changes
        </Button>
        <Button quiet onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

function wholeInput(text: string): { input: unknown } | { faults: Typed } {
  const input = parsed(text)
  return input === undefined ? { faults: { '': 'This is not valid JSON.' } } : { input }
}

type DenyProps = { isSaying: boolean; onDeny: (reason: string) => void; onCancel: () => void }

function DenyForm({ isSaying, onDeny, onCancel }: DenyProps) {
  const [reason, setReason] = useState('')
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        onDeny(reason.trim())
      }}
    >
      <label className="flex flex-col gap-1">
        <span className="text-xs font-medium text-ink-soft">Why not? The agent reads it. (You may leave it out.)</span>
        <input
          // biome-ignore lint/a11y/noAutofocus: the person has just asked for it.
          autoFocus
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.target.value)}
          className="w-full rounded-md border border-line-strong bg-canvas px-2.5 py-1.5 outline-none focus-visible:border-accent"
        />
      </label>
      <div className="flex flex-wrap gap-2">
        <Button primary type="submit" disabled={isSaying}>
          Refuse it
        </Button>
        <Button quiet onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
