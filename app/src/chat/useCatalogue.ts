import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client'

/** The actions and the models that this person may use. They do not change while a page is open. */
export function useCatalogue() {
  return useQuery({
    queryKey: ['catalogue'],
    queryFn: ({ signal }) => answer(api.GET('/api', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
