import clsx from 'clsx'
import { Inbox, ListTree, MessageSquare } from 'lucide-react'
import { lazy, type ReactNode, Suspense } from 'react'
import { ThreadList } from '../chat/ThreadList'
import { InboxPane } from '../inbox/InboxPane'
import { useSayPresence } from '../live/presence'
import { Spinner } from '../ui/Spinner'
import { type Pane, useGo, usePlace } from './usePlace'
import { useNavigateCommand, useTellView } from './view'

const ChatPane = lazy(() => import('../chat/ChatPane').then(({ ChatPane }) => ({ default: ChatPane })))

/** Threads, inbox and chat beside each other; on a narrow screen one at a time, with tabs below. */
export function Workspace() {
  const place = usePlace()
  useTellView(place)
  useNavigateCommand()
  useSayPresence('app:inbox', { email: place.email, thread: place.thread })
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

function Area({ pane, label, shown, children }: { pane: Pane; label: string; shown: Pane; children: ReactNode }) {
  return (
    <section
      aria-label={label}
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
