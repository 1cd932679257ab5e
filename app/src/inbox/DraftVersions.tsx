import { Button } from '../ui/Button'
import type { Version } from './draft'

type Props = { mine: string; theirs: Version; onChoose: (text: string) => void }

/** Two versions that changed the same words: one is chosen, or both are kept to be edited. */
export function DraftVersions({ mine, theirs, onChoose }: Props) {
  const who = theirs.by ?? 'the other'
  const versions = [
    { name: 'Your version', text: mine, choice: 'Keep mine' },
    { name: `The version of ${who}`, text: theirs.text, choice: `Take that of ${who}` },
  ]
  return (
    <section aria-label="Two versions of the reply" className="p-4">
      <p role="alert" className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
        You and {who} have changed the same words. Choose a version; nothing is lost until then.
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        {versions.map(({ name, text, choice }) => (
          <section key={choice} aria-label={name} className="flex flex-col rounded-md border border-line bg-canvas p-3">
            <h3 className="mb-1 text-xs font-semibold text-ink-soft">{name}</h3>
            <p className="max-h-52 flex-1 overflow-y-auto text-sm whitespace-pre-wrap foreign">{text}</p>
            <Button className="mt-3 self-start" onClick={() => onChoose(text)}>
              {choice}
            </Button>
          </section>
        ))}
      </div>
      <Button quiet className="mt-3" onClick={() => onChoose(`${mine}\n\n${theirs.text}`)}>
        Keep both, one after the other
      </Button>
    </section>
  )
}
