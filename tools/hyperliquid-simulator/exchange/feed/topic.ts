import type { GenericSchema, InferOutput } from 'valibot'
import type { Engine } from '../engine.ts'

/** Something that can be subscribed to. */
export interface Topic {
  readonly request: GenericSchema
  readonly event: GenericSchema
  /** What its messages are called by. */
  channel(engine: Engine, subscription: unknown): string
  /** What is told at once to who subscribes. */
  first(engine: Engine, subscription: unknown, time: number): readonly unknown[]
  /** What is told of what happened since. */
  next(engine: Engine, subscription: unknown, time: number): readonly unknown[]
}

interface Definition<S extends GenericSchema> {
  readonly request: S
  readonly event: GenericSchema
  channel(engine: Engine, subscription: InferOutput<S>): string
  first?(engine: Engine, subscription: InferOutput<S>, time: number): readonly unknown[]
  next?(engine: Engine, subscription: InferOutput<S>, time: number): readonly unknown[]
  /** Where the whole is told each time: whether it is another than before. */
  changed?(engine: Engine, subscription: InferOutput<S>): boolean
}

/** What comes to its functions was read by the schema. */
export const defineTopic = <S extends GenericSchema>({ changed, first = () => [], next, ...definition }: Definition<S>): Topic => ({
  ...definition,
  first,
  next: next ?? ((engine, subscription, time) => (changed?.(engine, subscription) ? first(engine, subscription, time) : [])),
})
