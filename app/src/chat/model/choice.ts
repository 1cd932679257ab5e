// Which model answers, of those that the server lists. Pure.
import type { Output } from '../../api'

export type Model = Output<'listActions'>['models'][number]

/** What a turn names: nothing where the default is meant, or the chosen one is not there any more. */
export function named(chosen: string | undefined, models: Model[] | undefined): string | undefined {
  if (!models) return chosen
  return models.find(({ id }) => id === chosen)?.default === false ? chosen : undefined
}

/** Without its provider. */
export const shortName = (id: string) => id.slice(id.indexOf('/') + 1)
