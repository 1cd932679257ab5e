// The newest changes of one scope, so that a snapshot that is read meanwhile can be brought forward. Pure.
import type { Change } from './documents'

export class Journal {
  /** Every change after this position is here. */
  private from: number
  private changes: Change[] = []
  /** The position that the stream can go on from: all of its commit has come. */
  complete: number

  constructor(
    rev: number,
    private readonly most = 5000,
  ) {
    this.from = rev
    this.complete = rev
  }

  /** `ends` says that the change is the last of its commit. */
  add(change: Change, ends: boolean): void {
    this.changes.push(change)
    if (ends) this.complete = change.rev
    if (this.changes.length > this.most) {
      const dropped = this.changes.splice(0, this.changes.length - this.most)
      this.from = dropped[dropped.length - 1]?.rev ?? this.from
    }
  }

  /** Changes after `rev`; undefined if some are not known any more. */
  since(rev: number): Change[] | undefined {
    return rev < this.from ? undefined : this.changes.filter((change) => change.rev > rev)
  }
}
