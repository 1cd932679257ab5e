import { wordsOf } from '../../api/problem'
import { useDocument, useWriteDocument } from '../../live/hooks'
import { toast } from '../../ui/Toast'
import { useCatalogue } from '../useCatalogue'
import { type Model, named } from './choice'

/** A document of the person's own, as nobody may write into a conversation that has not begun. */
const keyOf = (thread: string) => `models/${thread}`

export type ModelChoice = {
  /** What a turn is to name; nothing for the default. */
  model?: string
  models: Model[]
  choose: (id: string) => void
}

/** The model that answers this person in a thread, in whatever window and on whatever device it was chosen. */
export function useModel(thread: string): ModelChoice {
  const models = useCatalogue().data?.models
  const chosen = useDocument<{ model: string }>('user', keyOf(thread))?.value.model
  const write = useWriteDocument('user')
  const choose = (model: string) =>
    void write(keyOf(thread), { model }).catch((problem) => toast(wordsOf(problem), { kind: 'failed' }))
  return { model: named(chosen, models), models: models ?? [], choose }
}
