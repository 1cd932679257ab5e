import { useCatalogue } from '../useCatalogue'

/** The catalogue's word about an action; null where it says nothing, undefined while it is read. */
export function useAction(name: string) {
  const { data, isError } = useCatalogue()
  if (isError) return null
  return data && (data.actions.find((action) => action.name === name) ?? null)
}
