// Schemas of what several contracts have: tokens, heads, plans, states that are followed.
import type { SlippageReasons } from '../amm.ts'
import type { Head, Token } from '../family.ts'
import type { Basis, MissingState } from '../followed.ts'
import type { Need, Plan } from '../rail.ts'
import {
  amount,
  decimals,
  either,
  integer,
  json,
  list,
  object,
  oneOf,
  opaque,
  optional,
  positiveAmount,
  property,
  signedAmount,
  someOf,
  text,
  time,
  word,
  words,
  type Contract,
  type Schema,
} from './contract.ts'

const token = { symbol: words(200), address: text(), native: optional(oneOf(true)) }
/** Contracts count the decimals in one byte. */
export const tokenSchema = object<Token>({ ...token, decimals: integer(0, 255) })
/** One that is computed with. */
export const collateralSchema = object<Token>({ ...token, decimals: decimals() })

export const headSchema = object<Head>({
  number: amount(),
  timestamp: time(),
  hash: optional(text()),
  parentHash: optional(text()),
  baseFeeRaw: optional(amount()),
})

/** Exact prices multiply several numbers of 256 bits. */
const ratioBits = 2_048
interface Fraction {
  numerator: bigint
  denominator: bigint
}
/** It is divided by, so its denominator is above 0. */
export const ratioSchema = object<Fraction>({ numerator: signedAmount(ratioBits), denominator: positiveAmount(ratioBits) })
/** Above 0: prices are divided by, either way round. */
export const priceSchema = object<Fraction>({ numerator: positiveAmount(ratioBits), denominator: positiveAmount(ratioBits) })

export const maxSteps = 100
const need = <Is extends Need['is']>(is: Is) => oneOf(is)
const allowance = { token: text(), spender: text(), amountRaw: amount() }
const needSchema: Schema<Need> = either(
  object<Extract<Need, { is: 'balance' }>>({ is: need('balance'), token: text(), amountRaw: amount() }),
  object<Extract<Need, { is: 'allowance' }>>({
    is: need('allowance'),
    ...allowance,
    permit2: optional(text()),
    until: optional(integer()),
  }),
  object<Extract<Need, { is: 'allowance-at-most' }>>({ is: need('allowance-at-most'), ...allowance }),
)

/** Steps and memo are journaled with the transaction. */
export const planSchema = object<Plan>({
  steps: someOf(json(), maxSteps),
  needs: list(needSchema, maxSteps),
  deadline: optional(integer()),
  memo: json(),
})

/** States and what is said of them are the plugin's own. */
export const basisSchema = object<Basis>({ followed: opaque(), key: word(), about: optional(opaque()) })
export const missingStateSchema = object<MissingState>({ index: integer(0), more: opaque() })

/** Of every trading type whose contracts enforce a bound. */
export const slippageContract: Contract<SlippageReasons> = {
  slippageReasons: property(list(text(), 100)),
  coinSlippageReasons: property(list(text(), 100)),
}
