import { useState } from 'react'
import { useCatalogue } from '../useCatalogue'
import { type Model, named } from './choice'

const keyOf = (thread: string) => `tandem.model.${thread}`

export type ModelChoice = {
  /** What a turn is to name; nothing for the default. */
  model?: string
  models: Model[]
  choose: (id: string) => void
}

/** The model that answers in a thread. This browser keeps the choice. */
export function useModel(thread: string): ModelChoice {
  const models = useCatalogue().data?.models
  const [chosen, setChosen] = useState(() => localStorage.getItem(keyOf(thread)) ?? undefined)
  const choose = (id: string) => {
    localStorage.setItem(keyOf(thread), id)
    setChosen(id)
  }
  return { model: named(chosen, models), models: models ?? [], choose }
}
