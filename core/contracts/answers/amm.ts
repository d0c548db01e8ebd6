import type { AMM, Fill, FollowedPricing, Hop, LoanTrial, PoolDepth, PoolView, Quote, QuoteBound, QuotePart, Swap } from '../amm.ts'
import type { BoundForAll } from '../../base/amount-bound.ts'
import type { Head } from '../family.ts'
import type { MissingState } from '../followed.ts'
import {
  amount,
  answers,
  either,
  flag,
  given,
  integer,
  json,
  list,
  nothing,
  object,
  oneOf,
  optional,
  orNothing,
  part,
  positiveAmount,
  property,
  text,
  type Contract,
  type Schema,
} from './contract.ts'
import { basisSchema, headSchema, planSchema, slippageContract, tokenSchema, missingStateSchema } from './common.ts'

const maxHops = 100
const maxStates = 10_000

const swapSchema = object<Swap>({ tokenIn: tokenSchema, tokenOut: tokenSchema, exact: oneOf('in', 'out'), amountRaw: amount() })

const hopSchema = object<Hop>({
  pool: text(),
  version: text(),
  tokenIn: text(),
  tokenOut: text(),
  fee: optional(text()),
  share: optional(text()),
})

const quotePartSchema = object<QuotePart>({ hops: integer(1), exactRaw: positiveAmount(), otherRaw: positiveAmount() })

/** A quote of less than nothing would be a trade at any price. */
const quoteSchema = (head: Schema<Head>) =>
  object<Quote>({
    swap: given(0, swapSchema),
    amountRaw: positiveAmount(),
    // A price times an amount: more than any token has, where a pool is out of balance.
    spotAmountRaw: amount(1_024),
    gasUnits: positiveAmount(),
    firstWriteUnits: optional(amount()),
    route: list(hopSchema, maxHops),
    parts: optional(list(quotePartSchema, maxHops, 1)),
    head,
    spender: text(),
    otherSpenders: optional(list(text(), 100)),
    asked: optional(flag()),
  })

/** It is about the requested swap, and its parts cover the whole swap and the whole route: bounds and fills are computed from them. */
function quoteMismatch({ swap, amountRaw, route, parts }: Quote, requested: Swap): string | undefined {
  if (swap.exact !== requested.exact || swap.amountRaw !== requested.amountRaw) return 'swap must be the swap that was requested'
  if (!parts) return undefined
  let [hops, exactRaw, otherRaw] = [0, 0n, 0n]
  for (const each of parts) {
    hops += each.hops
    exactRaw += each.exactRaw
    otherRaw += each.otherRaw
  }
  const isWhole = hops === route.length && otherRaw === amountRaw && exactRaw === swap.amountRaw
  return isWhole ? undefined : 'parts must be all of its route and of both its amounts'
}

/** Of a price that is out of balance. */
const priceBits = 1_024

const poolViewSchema = object<PoolView>({
  pool: text(),
  version: text(),
  tokens: list(text(), maxHops),
  tokenIn: text(),
  tokenOut: text(),
  fee: text(),
  spot: object<PoolView['spot']>({ numerator: amount(priceBits), denominator: amount(priceBits) }),
  reserveInRaw: optional(amount()),
  reserveOutRaw: optional(amount()),
  liquidityRaw: optional(amount()),
  noLiquidityFor: optional(list(oneOf('BUY', 'SELL'), 2)),
  depth: list(object<PoolDepth>({ basisPoints: integer(1), sellRaw: amount(), buyRaw: amount(), atLeast: optional(flag()) }), 10),
})
const poolsSchema = object<{ readonly head: Head; readonly pools: readonly PoolView[] }>({
  head: headSchema,
  pools: list(poolViewSchema, maxStates),
})

const boundForAllSchema = object<BoundForAll>({ rateX128: amount(), offsetRaw: amount() })

const followedPricingContract: Contract<FollowedPricing> = {
  basis: answers(list(basisSchema, maxStates)),
  quote: answers(
    either(
      object<{ readonly missing: readonly MissingState[] }>({ missing: list(missingStateSchema, maxStates, 1) }),
      quoteSchema(given(3, headSchema)),
    ),
    (answer, [swap, , states]) => {
      if (!('missing' in answer)) return quoteMismatch(answer, swap)
      return answer.missing.every(({ index }) => index < states.length)
        ? undefined
        : 'missing must have indexes of the states that were given'
    },
  ),
  bound: answers(orNothing(object<QuoteBound>({ amountRaw: amount(), gasUnits: amount(), forAll: optional(boundForAllSchema) }))),
  conditions: answers(text(1_000)),
  pools: { answer: list(poolViewSchema, maxStates), atOnce: true },
  vet: { answer: nothing(), atOnce: true },
}

const loanTrialSchema = object<LoanTrial>({
  pool: text(),
  version: text(),
  token: text(),
  outcome: oneOf('exact', 'inexact', 'failed'),
})

export const ammContract: Contract<AMM> = {
  versions: property(list(text(), 100)),
  ...slippageContract,
  quote: answers(quoteSchema(headSchema), (quote, [swap]) => quoteMismatch(quote, swap)),
  followed: part(followedPricingContract),
  pools: { answer: poolsSchema, longList: { name: 'pools', most: maxStates } },
  listedPools: answers(list(object<{ readonly pool: string; readonly version: string }>({ pool: text(), version: text() }), maxStates)),
  poolTokens: answers(orNothing(list(text(), maxHops))),
  readForSwap: answers(json(10_000)),
  swap: answers(planSchema),
  tryLoans: answers(list(loanTrialSchema, maxStates)),
  swapSpenders: answers(list(text(), 100, 1)),
  fill: answers(orNothing(object<Fill>({ amountInRaw: positiveAmount(), amountOutRaw: positiveAmount() }))),
}
