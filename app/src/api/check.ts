// Nothing runs this: it is here so that `tsc` sees the generated types used as a program uses them.
import type { Chunk, Code, Input, Output, Problem, Run } from './index'

export const query: Input<'list-emails'> = { label: 'customers', limit: 5 }
export const reply: Input<'email'> = { emailId: 'e-1', body: 'Thanks!' }
// @ts-expect-error: the body is missing
export const half: Input<'email'> = { emailId: 'e-1' }
// @ts-expect-error: there is no such code
export const code: Code = 'no_such_code'

export function subjects(listed: Output<'list-emails'>): string[] {
  return listed.emails.map((email) => email.subject)
}

export function text(chunk: Chunk): string {
  return chunk.type === 'text-delta' ? chunk.delta : ''
}

export function faults(problem: Problem): string[] {
  return (problem.errors ?? []).map((fault) => `${fault.pointer} ${fault.detail}`)
}

export function isOver(run: Run): boolean {
  return run.status !== 'dispatched' && run.status !== 'running'
}
