import { LongText } from '../../ui/LongText'
import { inWords, isScalar } from './shape'
import { readable } from './words'

const MOST = 200

/** Any value, a level at a time: only what is opened is there. */
export function Tree({ value }: { value: unknown }) {
  if (isScalar(value) || value === undefined)
    return (
      <span className="whitespace-pre-wrap foreign">
        <LongText>{inWords(value)}</LongText>
      </span>
    )
  const entries = Object.entries(value as object)
  if (entries.length === 0) return <span className="text-ink-soft">nothing</span>
  return (
    <ul className="flex flex-col gap-0.5">
      {entries.slice(0, MOST).map(([key, each]) => (
        <li key={key}>
          {isScalar(each) || each === undefined ? (
            <>
              <span className="text-ink-soft foreign">{nameOf(key)}: </span>
              <span className="whitespace-pre-wrap foreign">
                <LongText>{inWords(each)}</LongText>
              </span>
            </>
          ) : (
            <Branch name={nameOf(key)} value={each as object} />
          )}
        </li>
      ))}
      {entries.length > MOST && <li className="text-ink-soft">and {entries.length - MOST} more</li>}
    </ul>
  )
}

const nameOf = (key: string) => (/^\d+$/.test(key) ? `${Number(key) + 1}` : readable(key))

function Branch({ name, value }: { name: string; value: object }) {
  const size = Object.keys(value).length
  return (
    <details className="[&[open]>div]:block">
      <summary className="cursor-pointer text-ink-soft">
        <span className="foreign">{name}</span> ({size})
      </summary>
      <div className="border-l border-line pl-3">
        <Tree value={value} />
      </div>
    </details>
  )
}
