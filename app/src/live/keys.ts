// Keys of the Query cache that the stream keeps up to date.
export const documentsKey = (scope: string, prefix: string) => ['state', scope, prefix] as const
export const presenceKey = (scope: string) => ['presence', scope] as const
export const threadKey = (thread: string) => ['thread', thread] as const
export const threadsKey = (search = '') => ['threads', search] as const
