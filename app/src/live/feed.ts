// What the events of the stream do to the Query cache. It knows nothing of connections.
import type { QueryClient } from '@tanstack/react-query'
import type { WindowEvent } from '../api'
import { type Change, type Documents, takeChanges } from './documents'
import { Journal } from './journal'
import { documentsKey, presenceKey, threadKey } from './keys'

/** Changes come in crowds: they are shown together, so many milliseconds after the first. */
export const CROWD_MS = 40

export class Feed {
  private journals = new Map<string, Journal>()
  private crowds = new Map<string, Change[]>()

  constructor(private readonly cache: QueryClient) {}

  /** The position to go on from in this scope, once the stream has told one. */
  position(scope: string): number | undefined {
    return this.journals.get(scope)?.complete
  }

  /** Positions that the server does not take: the next `ready` gives others. */
  forgetPositions(): void {
    this.journals.clear()
  }

  /** `hasId` says that the stream may be taken up again after this event. */
  take(event: WindowEvent, hasId: boolean): void {
    switch (event.type) {
      case 'ready':
        for (const [scope, rev] of Object.entries(event.scopes)) this.begin(scope, rev)
        if (event.thread) this.cache.setQueryData(threadKey(event.thread.threadId), event.thread)
        return
      case 'reset':
        this.begin(event.scope, event.rev, true)
        return
      case 'state':
        this.journals.get(event.scope)?.add(event, hasId)
        this.showSoon(event)
        return
      case 'presence':
        this.cache.setQueryData(presenceKey(event.scope), event.present)
        return
      case 'thread':
        this.cache.setQueryData(threadKey(event.thread.threadId), event.thread)
        void this.cache.invalidateQueries({ queryKey: ['threads'] })
        return
      case 'gone':
        this.cache.removeQueries({ queryKey: threadKey(event.threadId) })
        void this.cache.invalidateQueries({ queryKey: ['threads'] })
        return
      case 'message':
      case 'run':
      case 'chunk':
        // The open conversation listens to these itself.
        return
    }
  }

  /** A snapshot brought forward to now; undefined if it is too old for that and must be read again. */
  bringForward(scope: string, prefix: string, snapshot: Documents): Documents | undefined {
    const journal = this.journals.get(scope)
    // Before the stream has begun nothing is missed: `ready` looks at what was read until then.
    if (!journal) return snapshot
    const changes = journal.since(snapshot.rev)
    return changes && takeChanges(snapshot, changes, prefix)
  }

  /** The stream goes on from here: what was read before, and cannot be brought here, is read again. */
  private begin(scope: string, rev: number, anew = false): void {
    const journal = this.journals.get(scope)
    if (journal && rev <= journal.complete && !anew) return
    this.journals.set(scope, new Journal(rev))
    for (const { queryKey, state } of this.cache.getQueryCache().findAll({ queryKey: ['state', scope] })) {
      const have = state.data as Documents | undefined
      const isOld = have !== undefined && (journal !== undefined || have.rev < rev)
      if (isOld) void this.cache.invalidateQueries({ queryKey, exact: true })
    }
  }

  private showSoon(change: Change): void {
    const crowd = this.crowds.get(change.scope)
    if (crowd) {
      crowd.push(change)
      return
    }
    this.crowds.set(change.scope, [change])
    setTimeout(() => this.show(change.scope), CROWD_MS)
  }

  private show(scope: string): void {
    const changes = this.crowds.get(scope) ?? []
    this.crowds.delete(scope)
    for (const { queryKey } of this.cache.getQueryCache().findAll({ queryKey: ['state', scope] })) {
      const prefix = String(queryKey[2])
      this.cache.setQueryData<Documents>(
        documentsKey(scope, prefix),
        (have) => have && takeChanges(have, changes, prefix),
      )
    }
  }
}
