// What the agent remembers, as people read it. Pure.
import type { Author } from '../api'
import type { Documents } from '../live/documents'

export const MEMORY = 'memory/'

export type Memory = { key: string; name: string; text: string; date?: string; rev: number; by: Author; value: unknown }

/** In the order of their names. Whatever a person has written there is a memory. */
export function memoriesOf({ docs }: Documents): Memory[] {
  const memories = [...docs.values()].map(({ key, value, rev, by }) => {
    const date = fieldOf(value, 'date')
    return { key, name: key.slice(MEMORY.length), text: textOf(value), date, rev, by, value }
  })
  return memories.sort((a, b) => a.name.localeCompare(b.name))
}

/** The document with another text; what else is in it stays. */
export function withText(value: unknown, text: string, now: Date): unknown {
  const rest = typeof value === 'object' && value !== null && !Array.isArray(value) && 'text' in value ? value : {}
  return { ...rest, text, date: now.toISOString() }
}

/** What the agent takes as a name. */
export const isMemoryName = (name: string) => /^[a-z0-9-]{1,64}$/.test(name)

/** A name from how the text begins. */
export function nameFor(text: string): string {
  const words =
    text
      .normalize('NFD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return words.slice(0, 5).join('-').slice(0, 64).replace(/-+$/, '')
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return fieldOf(value, 'text') ?? JSON.stringify(value)
}

function fieldOf(value: unknown, name: string): string | undefined {
  const field = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  return typeof field === 'string' ? field : undefined
}
