import clsx from 'clsx'
import { Ellipsis, Users } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Thread } from '../api'
import { useGo } from '../layout/usePlace'
import { whoAmI } from '../session/session'
import { Confirm } from '../ui/Confirm'
import { IconButton } from '../ui/IconButton'
import { Menu } from '../ui/Menu'
import { Time } from '../ui/Time'
import { toast } from '../ui/Toast'
import { useChangeThread, useDeleteThread } from './useThreads'

/** A conversation of the list: opens it; its owner renames, shares, archives and deletes it. */
export function ThreadRow({ thread, isOpen }: { thread: Thread; isOpen: boolean }) {
  const go = useGo()
  const [isNaming, setNaming] = useState(false)
  const [asking, setAsking] = useState(false)
  const { threadId, shared, archived, owner, activeRunId, awaitingRunId } = thread
  const title = thread.title || 'Untitled'
  const isMine = owner === whoAmI().user
  const change = useChangeThread(threadId)
  const remove = useDeleteThread(threadId, () => isOpen && void go({ thread: undefined }))
  const set = (body: Parameters<typeof change.mutate>[0], done: string) =>
    change.mutate(body, { onSuccess: () => toast(done) })

  return (
    <li
      className={clsx(
        'group flex items-center rounded-md transition-colors',
        isOpen ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
    >
      {isNaming ? (
        <Name
          title={thread.title}
          onDone={(text) => {
            setNaming(false)
            if (text && text !== thread.title) change.mutate({ title: text })
          }}
        />
      ) : (
        <button
          type="button"
          data-thread={threadId}
          aria-current={isOpen ? 'true' : undefined}
          onClick={() => go({ pane: 'chat', thread: threadId })}
          onKeyDown={(event) => event.key === 'F2' && isMine && setNaming(true)}
          className="flex min-w-0 flex-1 flex-col py-2 pl-2.5 text-left"
        >
          <span className="w-full truncate text-sm foreign">{title}</span>
          <span className="flex items-center gap-1.5 text-xs text-ink-soft">
            <Time at={thread.createdAt} />
            {shared && (
              <>
                <Users size={12} role="img" aria-label="Shared" /> {!isMine && <span className="foreign">{owner}</span>}
              </>
            )}
            {activeRunId && <span className="font-medium text-accent">working…</span>}
            {awaitingRunId && !activeRunId && <span className="font-medium text-warn">needs you</span>}
          </span>
        </button>
      )}
      {isMine && !isNaming && (
        <Menu
          label={`More for “${title}”`}
          trigger={
            <IconButton label={`More for “${title}”`}>
              <Ellipsis size={15} aria-hidden />
            </IconButton>
          }
          items={[
            { label: 'Rename', onSelect: () => setTimeout(() => setNaming(true)) },
            shared
              ? { label: 'Stop sharing', onSelect: () => set({ shared: false }, 'Only you see it now') }
              : { label: 'Share with the team', onSelect: () => set({ shared: true }, 'The team sees it now') },
            archived
              ? {
                  label: 'Take out of the archive',
                  onSelect: () => set({ archived: false }, 'Taken out of the archive'),
                }
              : { label: 'Archive', onSelect: () => set({ archived: true }, 'The conversation is archived') },
            { label: 'Delete…', danger: true, onSelect: () => setAsking(true) },
          ]}
        />
      )}
      <Confirm
        open={asking}
        onOpenChange={setAsking}
        title={`Delete “${title}”?`}
        description="Everything in this conversation is deleted, for everybody. This cannot be taken back."
        action="Delete"
        onConfirm={() => remove.mutate()}
      />
    </li>
  )
}

function Name({ title, onDone }: { title: string; onDone: (text?: string) => void }) {
  const [text, setText] = useState(title)
  const over = useRef(false)
  const end = (result?: string) => {
    if (over.current) return
    over.current = true
    onDone(result?.trim() || undefined)
  }
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
      autoFocus
      aria-label="Title"
      value={text}
      maxLength={200}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => end(text)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') end(text)
        if (event.key === 'Escape') end()
      }}
      className="m-1 h-9 min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-2 text-sm"
    />
  )
}
