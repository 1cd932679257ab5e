import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answer, api } from '../api/client'
import { type EffectOf, effectsOf } from './done'

/** The actions and the models that this person may use. They do not change while a page is open. */
export function useCatalogue() {
  return useQuery({
    queryKey: ['catalogue'],
    queryFn: ({ signal }) => answer(api.GET('/api', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** What each action changes, as far as the catalogue is read and tells. */
export function useEffects(): EffectOf {
  const { data } = useCatalogue()
  return useMemo(() => effectsOf(data), [data])
}
