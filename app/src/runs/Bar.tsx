import clsx from 'clsx'
import type { Item } from './timeline'
import type { Tone } from './words'

type Piece = { from: number; to: number; look: string }
type Props = { item: Item; tone: Tone; count: number }

/** The chunks of an item, as a bar over those of the whole run. */
export function Bar({ item, tone, count }: Props) {
  const all = Math.max(1, count)
  return (
    <div className="relative h-full" aria-hidden>
      {piecesOf(item, tone).map(({ from, to, look }) => (
        <span
          key={from}
          className={clsx('absolute top-1/2 min-w-1 -translate-y-1/2', look)}
          style={{ left: `min(${(from / all) * 100}%, 100% - 4px)`, width: `${((to - from) / all) * 100}%` }}
        />
      ))}
    </div>
  )
}

const HATCHED = 'bg-[repeating-linear-gradient(135deg,var(--line-strong)_0_2px,transparent_2px_5px)]'
const BOX = 'h-3.5 rounded-[3px]'

function piecesOf(item: Item, tone: Tone): Piece[] {
  const whole = (look: string): Piece[] => [{ from: item.first, to: item.last + 1, look }]
  if (item.kind === 'call') return piecesOfCall(item, tone)
  if (tone === 'void') return whole(clsx(BOX, HATCHED, 'border border-line-strong'))
  switch (item.kind) {
    case 'attempt':
      return whole(clsx('h-1.5 rounded-full', tone === 'bad' ? 'bg-danger' : 'bg-line-strong'))
    case 'step':
      return whole('h-3 rounded-[3px] border border-line-strong bg-hover')
    case 'text':
      return whole(clsx(BOX, 'bg-accent'))
    case 'reasoning':
      return whole(clsx(BOX, 'border border-accent bg-accent-soft'))
    case 'changes':
      return whole('h-1.5 rounded-full bg-warn')
    case 'end':
      return whole(clsx('h-5 rounded-[3px]', tone === 'bad' ? 'bg-danger' : 'bg-accent'))
    default:
      return whole('h-5 border-l-2 border-dashed border-warn')
  }
}

/** Written, waiting, running. */
function piecesOfCall(call: Extract<Item, { kind: 'call' }>, tone: Tone): Piece[] {
  const end = call.last + 1
  const [intent] = call.intents
  const ready = call.ready ?? intent ?? end
  const run = intent ?? end
  const colour = { good: 'bg-accent', plain: 'bg-accent', wait: 'bg-warn', bad: 'bg-danger', void: HATCHED }[tone]
  const pieces: Piece[] = [
    { from: call.first, to: Math.min(ready + 1, end), look: clsx(BOX, 'border border-accent bg-accent-soft') },
    { from: ready + 1, to: run, look: 'h-px bg-line-strong' },
    { from: run, to: end, look: clsx(BOX, colour, tone === 'void' && 'border border-line-strong') },
  ]
  return pieces.filter(({ from, to }) => to > from)
}
