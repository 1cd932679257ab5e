import clsx from 'clsx'
import { Inbox, ListTree, MessageSquare } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { InboxPane } from '../inbox/InboxPane'
import { useSayPresence } from '../live/presence'
import { ThreadList } from '../threads/ThreadList'
import { Spinner } from '../ui/Spinner'
import type { Pane, Place } from './places'
import { LIST } from './places'
import { useShortcut } from './shortcuts'
import { useIsTyping } from './typing'
import { useGo, usePlace } from './usePlace'
import { useNavigateCommand, useTellView } from './view'

const ChatPane = lazy(() => import('../chat/ChatPane').then(({ ChatPane }) => ({ default: ChatPane })))

/** Threads, inbox and chat beside each other; on a narrow screen one at a time, with tabs below. */
export function Workspace() {
  const place = usePlace()
  useTellView(place)
  useNavigateCommand()
  const typing = useIsTyping() || undefined
  useSayPresence('app:inbox', { email: place.email, thread: place.thread, typing })
  usePlaceKeys()
  useTitle(place)
  return (
    <div className="flex h-full flex-col">
      <main className="min-h-0 flex-1 lg:grid lg:grid-cols-[15rem_minmax(0,1fr)_minmax(22rem,28rem)]">
        <h1 className="sr-only">Inbox, conversations and chat</h1>
        <Area pane="threads" label="Conversations" shown={place.pane}>
          <ThreadList />
        </Area>
        <Area pane="inbox" label="Inbox" shown={place.pane}>
          <InboxPane />
        </Area>
        <Area pane="chat" label="Chat" shown={place.pane}>
          <Suspense
            fallback={
              <div className="p-6">
                <Spinner label="Opening the chat" />
              </div>
            }
          >
            <ChatPane />
          </Suspense>
        </Area>
      </main>
      <Tabs shown={place.pane} />
    </div>
  )
}

function usePlaceKeys() {
  const go = useGo()
  useShortcut('g i', () => void go(LIST))
  useShortcut('g a', () => void go({ ...LIST, archived: true }))
  useShortcut('g s', () => void go({ ...LIST, view: 'summary' }))
  useShortcut('g m', () => void go({ ...LIST, view: 'memory' }))
  useShortcut('g t', () => enter('threads', go))
  useShortcut('g c', () => enter('chat', go))
  useShortcut('n', () => enter('chat', (to) => go({ ...to, thread: undefined })))
}

/** Shows a pane, and puts the focus into it: into what is written there, or on the first thing to choose. */
async function enter(pane: Pane, go: (to: Partial<Place>) => Promise<void>) {
  await go({ pane })
  requestAnimationFrame(() => {
    const area = document.querySelector<HTMLElement>(`[data-pane=${pane}]`)
    const best = ['textarea', '[aria-current=true]', 'input', 'button'].map((one) =>
      area?.querySelector<HTMLElement>(one),
    )
    best.find(Boolean)?.focus()
  })
}

function useTitle({ pane, email, view, archived, q }: Place) {
  const inbox = email ?? view ?? (q ? `“${q}”` : archived ? 'archive' : 'inbox')
  const title = pane === 'chat' ? 'Chat' : pane === 'threads' ? 'Conversations' : inbox
  useEffect(() => {
    document.title = `${title.charAt(0).toUpperCase()}${title.slice(1)} – Tandem`
    return () => {
      document.title = 'Tandem'
    }
  }, [title])
}

function Area({ pane, label, shown, children }: { pane: Pane; label: string; shown: Pane; children: ReactNode }) {
  return (
    <section
      aria-label={label}
      data-pane={pane}
      className={clsx(
        'h-full min-h-0 min-w-0 flex-col overflow-hidden lg:flex',
        pane === 'inbox' ? 'bg-panel' : 'bg-canvas',
        pane !== 'chat' && 'border-line lg:border-r',
        pane === shown ? 'flex' : 'hidden',
      )}
    >
      {children}
    </section>
  )
}

const TABS = [
  { pane: 'threads', label: 'Conversations', icon: ListTree },
  { pane: 'inbox', label: 'Inbox', icon: Inbox },
  { pane: 'chat', label: 'Chat', icon: MessageSquare },
] as const

function Tabs({ shown }: { shown: Pane }) {
  const go = useGo()
  return (
    <nav aria-label="Views" className="flex border-t border-line bg-panel lg:hidden">
      {TABS.map(({ pane, label, icon: Icon }) => (
        <button
          key={pane}
          type="button"
          aria-current={pane === shown ? 'page' : undefined}
          onClick={() => go({ pane })}
          className={clsx(
            'flex flex-1 flex-col items-center gap-0.5 py-2 text-xs font-medium',
            pane === shown ? 'text-accent' : 'text-ink-soft',
          )}
        >
          <Icon size={18} aria-hidden />
          {label}
        </button>
      ))}
    </nav>
  )
}
