import Type, { type Static } from 'typebox'
import { Check } from 'typebox/value'
import { decimal, whole } from '../api/shape.ts'

/** What an action leaves behind, by which it is found where its answer was lost. */
const trace = Type.Union([
  Type.Object({ of: Type.Literal('orders'), cloids: Type.Array(Type.String()) }),
  Type.Object({ of: Type.Literal('cancels'), orders: Type.Array(Type.Union([Type.String(), whole])) }),
  Type.Object({ of: Type.Literal('leverage'), coin: Type.String(), isCross: Type.Boolean(), leverage: whole }),
  Type.Object({
    of: Type.Literal('borrowLend'),
    operation: Type.String(),
    token: Type.String(),
    amount: Type.Union([decimal, Type.Null()]),
  }),
  Type.Object({ of: Type.Literal('withdraw') }),
  Type.Object({ of: Type.Literal('usdClassTransfer'), amount: decimal, toPerp: Type.Boolean() }),
  Type.Object({ of: Type.Literal('nothing') }),
])
export type Trace = Static<typeof trace>

const traced = Type.Object({
  /** Whose account it is about, in lower case. */
  user: Type.String(),
  trace,
  /** Milliseconds since the Unix epoch; absent for plain actions, which have no such thing. */
  expiresAfter: Type.Optional(whole),
})
/** What is looked for of a step. */
export type Traced = Static<typeof traced>

/** The journal's steps come back from a database, of an older version it may be. */
export const isTraced = (step: unknown): step is Traced => Check(traced, step)
