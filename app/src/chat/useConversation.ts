import { useChat } from '@ai-sdk/react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useLive, useLiveEvents } from '../live/hooks'
import { Conversation } from './conversation'
import type { History } from './history'
import { steady } from './placing'

/** How often what streams is shown anew. */
const SHOW_EVERY_MS = 40

export function useConversation(thread: string, history: History) {
  const live = useLive()
  const cache = useQueryClient()
  const [conversation] = useState(
    () =>
      new Conversation(thread, history, {
        followThread: (position) => live.followThread(thread, position),
        onRun: () => {
          live.followThread(thread)
          void cache.invalidateQueries({ queryKey: ['threads'] })
        },
      }),
  )
  useEffect(() => {
    conversation.open()
    return () => conversation.close()
  }, [conversation])
  useLiveEvents((event) => conversation.take(event))
  const extra = useSyncExternalStore(conversation.watch, () => conversation.extra)
  const { messages, status, error } = useChat({ chat: conversation.chat, throttle: SHOW_EVERY_MS })
  const isBusy = status === 'submitted' || status === 'streaming'
  return { conversation, messages: steady(messages, extra.before), isBusy, status, error, extra }
}
