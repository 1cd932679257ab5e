import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../../api/client'

/** The catalogue's word about an action; null where it says nothing, undefined while it is read. */
export function useAction(name: string) {
  const { data, isError } = useQuery({
    queryKey: ['catalogue'],
    queryFn: ({ signal }) => answer(api.GET('/api', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (isError) return null
  return data && (data.actions.find((action) => action.name === name) ?? null)
}
