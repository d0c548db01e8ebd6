import type { GenericSchema, InferOutput } from 'valibot'
import type { Engine } from '../engine.ts'

/** A question, what it is judged by, and its answer. */
export interface Query {
  readonly request: GenericSchema
  readonly response: GenericSchema
  /** Of the limit by address: 20 where nothing is said. https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits */
  readonly weight?: number
  answer(engine: Engine, request: unknown): unknown
}

interface Definition<S extends GenericSchema> extends Omit<Query, 'request' | 'answer'> {
  readonly request: S
  answer(engine: Engine, request: InferOutput<S>): unknown
}

/** What comes to `answer` was read by the schema. */
export const defineQuery = <S extends GenericSchema>(definition: Definition<S>): Query => definition
