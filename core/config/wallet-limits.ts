// `conf/limits.yml`: what the signer lets each wallet give away on each network, per transaction, hour and day.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { isObject } from '../base/json.ts'
import { compile } from './check.ts'
import { amountPattern, networkPattern } from './patterns.ts'
import type { Section } from './tree.ts'

const amount = Type.Union([Type.String({ pattern: amountPattern }), Type.Number({ minimum: 0 })], {
  description: 'in whole units, in quotes where it is long or very small',
})
const decimals = Type.Integer({ minimum: 0, maximum: 36, description: 'digits after the point of its smallest unit' })
const bounds = {
  perTransaction: Type.Optional(amount),
  perHour: Type.Optional(amount),
  perDay: amount,
}
const row = Type.Object(bounds, { additionalProperties: false })
const rowWithDecimals = Type.Object({ decimals, ...bounds }, { additionalProperties: false })
const counts = Type.Object(
  { perHour: Type.Optional(Type.Integer({ minimum: 0 })), perDay: Type.Integer({ minimum: 0 }) },
  { additionalProperties: false },
)

const networkLimits = Type.Object(
  {
    unreadable: Type.Optional(
      Type.Enum(['refuse', 'allow'], { description: 'What is signed of calls whose amounts the signer cannot read; refuse where absent' }),
    ),
    native: Type.Optional(row),
    gasCost: row,
    transactions: Type.Optional(counts),
    withdrawals: Type.Optional(row),
    tokens: Type.Optional(Type.Record(Type.String(), rowWithDecimals, { description: 'by the address of the token' })),
  },
  { additionalProperties: false },
)

const limitsSchema = Type.Object(
  {
    wallets: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String({ pattern: networkPattern }), networkLimits), {
        description: 'by the address of the wallet, and by chain/network',
      }),
    ),
  },
  { additionalProperties: false },
)
export const validateLimits = compile(limitsSchema)
const isRow = compile(row)
const isRowWithDecimals = compile(rowWithDecimals)

/** Withdrawals from Hyperliquid are signed in dollars with so many decimals. */
export const withdrawalDecimals = 6

export type LimitRow = Static<typeof row> & { readonly decimals?: number }
export type NetworkLimits = Static<typeof networkLimits>
/** By the address of the wallet, and by `chain/network`. */
export type WalletLimits = Readonly<Record<string, Readonly<Record<string, NetworkLimits>>>>

/** The same of a file in which something is wrong. */
export type LimitsAsFarAsRight = Readonly<Record<string, Readonly<Record<string, LimitsOfNetworkAsFarAsRight>>>>
export interface LimitsOfNetworkAsFarAsRight {
  readonly native?: LimitRow | undefined
  readonly gasCost?: LimitRow | undefined
  readonly withdrawals?: LimitRow | undefined
  readonly tokens?: Readonly<Record<string, Partial<LimitRow>>> | undefined
}

/** What is right of it: what is wrong elsewhere is told beside it. */
export function asFarAsRight(file: Section): LimitsAsFarAsRight {
  return eachOf(file['wallets'], (networks) =>
    eachOf(networks, (limits): LimitsOfNetworkAsFarAsRight => {
      const section = isObject(limits) ? limits : {}
      const rowAt = (key: string) => (isRow(section[key]) ? section[key] : undefined)
      const tokens = eachOf(section['tokens'], (token): Partial<LimitRow> => {
        if (isRowWithDecimals(token)) return token
        const decimals = isObject(token) ? token['decimals'] : undefined
        return typeof decimals === 'number' ? { decimals } : {}
      })
      return { native: rowAt('native'), gasCost: rowAt('gasCost'), withdrawals: rowAt('withdrawals'), tokens }
    }),
  )
}

const eachOf = <T>(section: unknown, of: (value: unknown) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(isObject(section) ? section : {}).map(([key, value]) => [key, of(value)]))
