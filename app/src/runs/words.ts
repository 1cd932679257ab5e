// What an operator is told about a run and its parts, in plain words.
import type { components, Run } from '../api'
import type { Item, Timeline } from './timeline'

type EndReason = components['schemas']['EndReason']

export type Tone = 'plain' | 'good' | 'wait' | 'bad' | 'void'
/** `name` is what it is, `told` how it went. Both may hold text of strangers. */
export type Described = { name: string; told: string; tone: Tone }

export const STATUS: Record<Run['status'], { name: string; tone: Tone }> = {
  dispatched: { name: 'Waiting', tone: 'wait' },
  running: { name: 'Under way', tone: 'wait' },
  completed: { name: 'Completed', tone: 'good' },
  failed: { name: 'Failed', tone: 'bad' },
  aborted: { name: 'Stopped', tone: 'void' },
  awaiting_approval: { name: 'Needs approval', tone: 'wait' },
}

export const END_REASON: Record<EndReason, string> = {
  completed: 'It did what it was asked.',
  aborted: 'Somebody stopped it.',
  awaiting_approval: 'A person must agree to a call. The answer starts the run that goes on.',
  action_failed: 'The action that it was for refused or failed.',
  never_claimed: 'No background worker ever took it. Check that the background function can be invoked.',
  no_progress: 'Its holders kept disappearing before a step or a call was done. Look at what each attempt began.',
  spending_limit: 'A budget for the model is used up: of the run, the person or the team.',
  run_budget_exhausted: 'It was handed over too often, or took too long in all.',
  too_many_steps: 'The model asked for more steps than a run may have.',
  model_overloaded: 'The model was overloaded, also after several tries.',
  model_rate_limited: 'The model takes no more requests at the moment. Check the limits of its account.',
  model_refused: 'The model refused to answer.',
  model_failed: 'The model failed, also after several tries.',
  context_too_long: 'The conversation has become too long for the model.',
  missing_credentials: 'The credentials for the model are missing. Set them where the program runs.',
  setup_failed: 'The turn could not be prepared.',
  internal: 'Something went wrong inside. The log of the program has the cause.',
}

const TOOK: Record<components['schemas']['AttemptReason'], string> = {
  claimed: 'was given the run',
  reclaimed: 'took it, as nobody else did in time',
  continued: 'went on after a hand-over',
  recovered: 'took over, as the holder before disappeared',
  stopped: 'took over, to stop it',
}

const FINISHED: Record<string, string> = {
  stop: 'The answer is complete',
  length: 'The model reached its output limit',
  'content-filter': 'The provider held the answer back',
  'tool-calls': 'A person must agree to a call',
  error: 'The model failed',
  other: 'The model stopped',
}

export const count = (number: number, one: string, many = `${one}s`) =>
  `${number.toLocaleString()} ${number === 1 ? one : many}`

/** How long, as short as it can be said. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`
}

/** The numbers of its chunks. */
export const range = ({ first, last }: { first: number; last: number }) =>
  first === last ? `chunk ${first}` : `chunks ${first} to ${last}`

/** What it is part of. `isOver`: nothing comes any more, so that what is open now was cut off. */
export type Whole = { timeline: Timeline; isOver: boolean; isAction: boolean }

export function describe(item: Item, whole: Whole): Described {
  const { name, told, tone } = described(item, whole)
  return { name: shortened(name), told: shortened(told), tone }
}

function described(item: Item, { timeline: { attemptAt, items }, isOver, isAction }: Whole): Described {
  switch (item.kind) {
    case 'attempt': {
      const name = `Attempt ${item.number} · ${item.holder}`
      const took = TOOK[item.reason]
      if (item.handedOver) return { name, told: `${took}; handed over: ${reasonOf(item.handedOver)}`, tone: 'plain' }
      const isLast = items[attemptAt] === item
      return isLast ? { name, told: took, tone: 'plain' } : { name, told: `${took}; disappeared`, tone: 'bad' }
    }
    case 'step': {
      const name = isAction ? `Step ${item.number}` : `Step ${item.number} · model call`
      const { tokens } = item
      const used =
        tokens && !isAction
          ? `${tokens.inputTokens.toLocaleString()} tokens in, ${tokens.outputTokens.toLocaleString()} out`
          : ''
      if (item.isFinished) return { name, told: used || 'finished', tone: 'plain' }
      return isOver ? { name, told: 'cut off', tone: 'void' } : { name, told: 'under way', tone: 'wait' }
    }
    case 'text':
    case 'reasoning': {
      const name = item.kind === 'text' ? 'Text' : 'Thoughts'
      const length = count(item.length, 'character')
      if (item.isVoid) return { name, told: `${length}, void`, tone: 'void' }
      return { name, told: length, tone: item.isClosed || isOver ? 'plain' : 'wait' }
    }
    case 'call': {
      const again = item.intents.length > 1 ? `, begun ${item.intents.length} times` : ''
      const { told, tone } = outcomeOf(item, isOver)
      return { name: item.name, told: told + again, tone }
    }
    case 'changes':
      return {
        name: `Changes in ${item.scope}`,
        told: `${count(item.count, 'commit')}, up to revision ${item.rev}`,
        tone: 'plain',
      }
    case 'reset':
      return { name: 'Step begun anew', told: 'what it had shown is void', tone: 'void' }
    case 'gap':
      return { name: 'No chunk', told: `for ${duration(item.ms)}, as seen here`, tone: 'wait' }
    case 'end':
      if (item.chunk.type === 'abort')
        return { name: 'Stopped', told: item.chunk.reason ?? 'by a person', tone: 'void' }
      if (item.chunk.type === 'error') return { name: 'Failed', told: item.chunk.errorText, tone: 'bad' }
      return { name: 'End', told: FINISHED[item.chunk.finishReason] ?? item.chunk.finishReason, tone: 'good' }
  }
}

function outcomeOf(call: Extract<Item, { kind: 'call' }>, isOver: boolean): { told: string; tone: Tone } {
  const { outcome, approval, decidedBy, progress, intents, ready } = call
  const agreed = approval === 'agreed' && decidedBy ? `, as ${decidedBy} agreed` : ''
  if (outcome?.is === 'output') return { told: `done${agreed}`, tone: 'good' }
  if (outcome?.is === 'denied') return { told: `refused by ${decidedBy ?? 'a person'}`, tone: 'void' }
  if (outcome?.is === 'unusable') return { told: `its input cannot be used: ${outcome.text}`, tone: 'bad' }
  if (outcome) return { told: `failed: ${outcome.text}`, tone: 'bad' }
  if (call.isVoid) return { told: 'void', tone: 'void' }
  if (approval === 'asked') return { told: 'waits for a person to agree', tone: 'wait' }
  if (isOver) return { told: intents.length > 0 ? 'cut off, its outcome is unknown' : 'never begun', tone: 'void' }
  if (progress) {
    const done = progress.done.toLocaleString()
    const told = progress.total === undefined ? done : `${done} of ${progress.total.toLocaleString()}`
    return { told: `${progress.label}: ${told}`, tone: 'wait' }
  }
  if (intents.length > 0) return { told: 'running', tone: 'wait' }
  return { told: ready === undefined ? 'its input is being written' : 'about to run', tone: 'wait' }
}

const reasonOf = (reason: string) => (reason === 'soft_timeout' ? 'its time was up' : reason)

const MOST = 200
const shortened = (text: string) => (text.length > MOST ? `${text.slice(0, MOST)}…` : text)
