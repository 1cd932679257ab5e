import { useEffect, useRef, useState } from 'react'
import { wordsOf } from '../../api/problem'
import { useDocument, useWriteDocument } from '../../live/hooks'
import { toast } from '../../ui/Toast'
import { useCatalogue } from '../useCatalogue'
import { holding, type Model, modelIn, named } from './choice'
import { recall, remember } from './remembered'

/** A document of the person's own, as nobody may write into a conversation that has not begun. */
const keyOf = (thread: string) => `models/${thread}`

export type ModelChoice = {
  /** What a turn is to name; nothing for the default. */
  model?: string
  models: Model[]
  choose: (id: string) => void
}

/**
 * The model that answers this person in a thread, in whatever window and on whatever device it was chosen. While that is
 * not known, what this browser knew last.
 */
export function useModel(thread: string): ModelChoice {
  const models = useCatalogue().data?.models
  const doc = useDocument<unknown>('user', keyOf(thread))
  const write = useWriteDocument('user')
  const [writing, setWriting] = useState<string>()
  const writes = useRef(0)
  useEffect(() => {
    if (doc !== undefined && writing === undefined) remember(thread, modelIn(doc?.value))
  }, [thread, doc, writing])
  const choose = async (model: string) => {
    writes.current += 1
    const mine = writes.current
    remember(thread, model)
    setWriting(model)
    try {
      await write(keyOf(thread), { model })
    } catch (problem) {
      toast(wordsOf(problem), { kind: 'failed' })
    }
    // Who chose again meanwhile waits for that.
    if (mine === writes.current) setWriting(undefined)
  }
  const chosen = holding(writing, doc, () => recall(thread))
  return { model: named(chosen, models), models: models ?? [], choose: (id) => void choose(id) }
}
