import type { GenericSchema, InferOutput } from 'valibot'
import type { Engine } from '../engine.ts'
import type { Account } from '../account.ts'
import type { Nonces, ActionTypes } from '../signing.ts'

export type Answer =
  | { readonly status: 'ok'; readonly response: { readonly type: string; readonly data?: unknown } }
  | { readonly status: 'err'; readonly response: string }

export const done: Answer = { status: 'ok', response: { type: 'default' } }
export const statuses = (type: 'order' | 'cancel', list: readonly unknown[]): Answer => ({
  status: 'ok',
  response: { type, data: { statuses: list } },
})
export const failed = (response: string): Answer => ({ status: 'err', response })

export interface Context {
  readonly nonces: Nonces
  readonly nonce: number
}

/** What an action is judged by, and what it does. */
export interface Action {
  readonly request: GenericSchema
  readonly response: GenericSchema
  /** Of an action that the wallet itself must sign. */
  readonly types?: ActionTypes
  /** How many requests it is of the wallet's, where it is more than one. */
  weight?(action: unknown): number
  readonly isCancel?: true
  run(engine: Engine, account: Account, action: unknown, context: Context): Answer
}

type ActionOf<S extends GenericSchema> = InferOutput<S> extends { action: infer A } ? A : never

interface Definition<S extends GenericSchema> extends Omit<Action, 'request' | 'run' | 'weight'> {
  readonly request: S
  weight?(action: ActionOf<S>): number
  run(engine: Engine, account: Account, action: ActionOf<S>, context: Context): Answer
}

/** What comes to `run` was read by the schema. */
export const defineAction = <S extends GenericSchema>(definition: Definition<S>): Action => definition
