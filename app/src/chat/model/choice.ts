// Which model answers, of those that the server lists. Pure.
import type { Output } from '../../api'

export type Model = Output<'listActions'>['models'][number]

/** The model that a document names. Anybody may write anything into their own documents. */
export function modelIn(value: unknown): string | undefined {
  const model = typeof value === 'object' && value !== null && 'model' in value ? value.model : undefined
  return typeof model === 'string' && model !== '' ? model : undefined
}

/** What was chosen: what is being written, else what the document says, else what was known before it was read. */
export function holding(
  writing: string | undefined,
  doc: { value: unknown } | null | undefined,
  before: () => string | undefined,
): string | undefined {
  if (writing !== undefined) return writing
  return doc === undefined ? before() : modelIn(doc?.value)
}

/** What a turn names: nothing where the default is meant, or the chosen one is not there any more. */
export function named(chosen: string | undefined, models: Model[] | undefined): string | undefined {
  if (!models) return chosen
  return models.find(({ id }) => id === chosen)?.default === false ? chosen : undefined
}

/** Without its provider. */
export const shortName = (id: string) => id.slice(id.indexOf('/') + 1)
