import { Button } from '../ui/Button'
import type { Version } from './draft'

type Props = { mine: string; theirs: Version; onChoose: (text: string) => void }

/**
 * Another version that changed the same words, below the box that holds the own one and takes more of it: one is
 * chosen, or both are kept to be edited.
 */
export function DraftVersions({ mine, theirs, onChoose }: Props) {
  const who = theirs.by ?? 'the other'
  const name = `The version of ${who}`
  return (
    <section aria-label="Two versions of the reply" className="px-4 pb-4">
      <p role="alert" className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
        You and {who} have changed the same words. Yours are above, and you can go on writing. Choose a version; nothing
        is lost until then.
      </p>
      <section aria-label={name} className="rounded-md border border-line bg-canvas p-3">
        <h3 className="mb-1 text-xs font-semibold text-ink-soft">{name}</h3>
        <p className="max-h-52 overflow-y-auto text-sm whitespace-pre-wrap foreign">{theirs.text}</p>
      </section>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button onClick={() => onChoose(mine)}>Keep mine</Button>
        <Button onClick={() => onChoose(theirs.text)}>Take that of {who}</Button>
        <Button quiet onClick={() => onChoose(`${mine}\n\n${theirs.text}`)}>
          Keep both, one after the other
        </Button>
      </div>
    </section>
  )
}
