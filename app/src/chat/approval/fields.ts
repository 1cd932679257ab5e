// The fields of an action's input, from its schema, and back. Pure.
import { isFields, readable } from '../tool/words'

export type Schema = Record<string, unknown>

export type Field = {
  name: string
  label: string
  help?: string
  required: boolean
  /** `json` is for what has no plainer form. */
  kind: 'line' | 'text' | 'number' | 'yes-no' | 'choice' | 'words' | 'json'
  choices?: string[]
}

/** What a person has typed, by field. */
export type Typed = Record<string, string>

/** Texts that may be longer than this are written on several lines. */
const LONG = 300

/** None where the schema is not that of an object with fields. */
export function fieldsOf(schema: unknown): Field[] | undefined {
  if (!isFields(schema) || !isFields(schema.properties)) return undefined
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, about]) => ({
    name,
    label: readable(name),
    help: isFields(about) && typeof about.description === 'string' ? about.description : undefined,
    required: required.includes(name),
    ...kindOf(isFields(about) ? about : {}),
  }))
}

function kindOf(about: Schema): Pick<Field, 'kind' | 'choices'> {
  const choices = choicesOf(about)
  if (choices) return { kind: 'choice', choices }
  const types = [about.type].flat().filter((type) => type !== 'null')
  switch (types.length === 1 ? types[0] : undefined) {
    case 'string':
      return { kind: typeof about.maxLength === 'number' && about.maxLength > LONG ? 'text' : 'line' }
    case 'integer':
    case 'number':
      return { kind: 'number' }
    case 'boolean':
      return { kind: 'yes-no' }
    case 'array':
      return { kind: isFields(about.items) && about.items.type === 'string' ? 'words' : 'json' }
    default:
      return { kind: 'json' }
  }
}

function choicesOf(about: Schema): string[] | undefined {
  if (Array.isArray(about.enum)) return about.enum.map(String)
  const of = [about.oneOf, about.anyOf].find(Array.isArray)
  const names = of
    ?.flatMap((one) => (isFields(one) ? (choicesOf(one) ?? [one.const]) : []))
    .filter((name) => typeof name === 'string')
  return names && names.length > 0 ? names : undefined
}

export function typedOf(fields: Field[], input: unknown): Typed {
  const values = isFields(input) ? input : {}
  return Object.fromEntries(fields.map((field) => [field.name, asText(field, values[field.name])]))
}

function asText({ kind }: Field, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (kind === 'json') return JSON.stringify(value, null, 2)
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** The input that was typed, over what the model wanted; or what is wrong with each field. */
export function inputOf(fields: Field[], typed: Typed, before: unknown): { input: Schema } | { faults: Typed } {
  const input: Schema = isFields(before) ? { ...before } : {}
  const faults: Typed = {}
  for (const field of fields) {
    const text = typed[field.name] ?? ''
    if (text.trim() === '' && field.kind !== 'text' && field.kind !== 'line') {
      if (field.required) faults[field.name] = 'This is needed.'
      delete input[field.name]
      continue
    }
    if (text === '' && !field.required) {
      // A text that was empty already is one; another one is taken away.
      if (input[field.name] !== '') delete input[field.name]
      continue
    }
    const value = asValue(field, text)
    if (value === undefined)
      faults[field.name] = field.kind === 'number' ? 'This must be a number.' : 'This is not valid JSON.'
    else input[field.name] = value
  }
  return Object.keys(faults).length > 0 ? { faults } : { input }
}

function asValue({ kind }: Field, text: string): unknown {
  switch (kind) {
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : undefined
    case 'yes-no':
      return text === 'true'
    case 'words':
      return text
        .split(',')
        .map((word) => word.trim())
        .filter(Boolean)
    case 'json':
      return parsed(text)
    default:
      return text
  }
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The faults that a server found, by field; those of no field under ''. */
export function faultsOf(errors: { pointer?: string; detail: string }[]): Typed {
  const faults: Typed = {}
  for (const { pointer, detail } of errors) {
    const name = (pointer ?? '').split('/').filter((step) => step !== '' && step !== '#' && step !== 'input')[0] ?? ''
    const words = detail.charAt(0).toUpperCase() + detail.slice(1)
    faults[name] = faults[name] ? `${faults[name]} ${words}` : words
  }
  return faults
}
