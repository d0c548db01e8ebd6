import { decimal, either, flag, is, list, nothing, object, text, whole, word } from '../shape.ts'
import type { Of } from '../shape.ts'

/** What an action leaves behind, by which it is found where its answer was lost. */
const trace = either(
  object({ of: word('orders'), cloids: list(text) }),
  object({ of: word('cancels'), orders: list(either(text, whole)) }),
  object({ of: word('leverage'), coin: text, isCross: flag, leverage: whole }),
  object({
    of: word('borrowLend'),
    operation: text,
    token: text,
    amount: either(decimal, nothing),
  }),
  object({ of: word('withdraw') }),
  object({ of: word('usdClassTransfer'), amount: decimal, toPerp: flag }),
  object({ of: word('nothing') }),
)
export type Trace = Of<typeof trace>

const traced = object(
  {
    /** Whose account it is about, in lower case. */
    user: text,
    trace,
  },
  {
    /** Milliseconds since the Unix epoch; absent for plain actions, which have no such thing. */
    expiresAfter: whole,
  },
)
/** What is looked for of a step. */
export type Traced = Of<typeof traced>

/** The journal's steps come back from a database, of an older version it may be. */
export const isTraced = (step: unknown): step is Traced => is(traced, step)
