// Names for the generated types. `schema.d.ts` is made by `make types` from docs/openapi.json: do not edit it.
import type { components, operations, paths } from './schema'

export type { components, operations, paths }

type Schemas = components['schemas']
export type Problem = Schemas['Problem']
export type Code = Schemas['Code']
export type Chunk = Schemas['Chunk']
export type Run = Schemas['Run']
export type Thread = Schemas['Thread']
export type RunStatus = Schemas['RunStatus']
export type Author = Schemas['Author']
export type Snapshot = Schemas['Snapshot']
/** An event of `GET /events`. */
export type WindowEvent = Schemas['WindowEvent']

type Operation = { parameters: { query?: unknown }; requestBody?: unknown; responses: unknown }
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never

/** What an operation takes: the body, or the query where there is no body. Named by `operationId`. */
export type Input<Name extends keyof operations> = operations[Name] extends infer Op extends Operation
  ? [Json<NonNullable<Op['requestBody']>>] extends [never]
    ? NonNullable<Op['parameters']['query']>
    : Json<NonNullable<Op['requestBody']>>
  : never

/** What it answers with status 200. */
export type Output<Name extends keyof operations> = operations[Name]['responses'] extends { 200: infer Answer }
  ? Json<Answer>
  : never
