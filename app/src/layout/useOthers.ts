import { useMemo } from 'react'
import { usePresence } from '../live/hooks'
import { type Activity, WINDOW } from '../live/presence'
import { whoAmI } from '../session/session'

/** Somebody in another window. */
export type Other = { client: string; user: string; isMe: boolean; activity: Activity }

/** People at work in the inbox in other windows; somebody's two windows are two. */
export function useOthers(): Other[] {
  const present = usePresence('app:inbox')
  return useMemo(
    () =>
      present.flatMap((one) => {
        if (one.client === WINDOW || 'agent' in one || !one.user) return []
        const isMe = one.user === whoAmI().user
        return [{ client: one.client, user: one.user, isMe, activity: activityOf(one.activity) }]
      }),
    [present],
  )
}

export const nameOf = ({ user, isMe }: Pick<Other, 'user' | 'isMe'>) => (isMe ? `${user} (you)` : user)

/** Any window may say anything of itself. */
function activityOf(told: unknown): Activity {
  const { email, thread, typing } = (typeof told === 'object' && told !== null ? told : {}) as Record<string, unknown>
  return { email: text(email), thread: text(thread), typing: typing === true }
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
