import { QueryClient } from '@tanstack/react-query'
import { isPassing } from './api/problem'

/** What cannot succeed later is not asked again; what can is, up to three times. */
export const makeCache = () =>
  new QueryClient({
    defaultOptions: {
      queries: { staleTime: 15_000, retry: (failures, error) => failures < 3 && isPassing(error) },
    },
  })
