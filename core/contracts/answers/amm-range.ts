import type {
  AMMRange,
  Deposit,
  PositionAtBlock,
  PriceRange,
  RangeAmounts,
  RangeFill,
  RangeHistory,
  RangePool,
  RangePosition,
  PositionsAtBlock,
  PositionWitness,
  RangePositions,
} from '../amm-range.ts'
import type { Head } from '../family.ts'
import {
  amount,
  answers,
  eachOf,
  either,
  flag,
  integer,
  list,
  object,
  oneOf,
  optional,
  orNothing,
  property,
  record,
  text,
  word,
  words,
  type Contract,
} from './contract.ts'
import { headSchema, planSchema, priceSchema, slippageContract } from './common.ts'

const maxPools = 1_000
const maxPositions = 10_000
const maxNodes = 100
const positionId = word(128)

const poolSchema = object<RangePool>({
  address: text(),
  version: text(),
  token0: text(),
  token1: text(),
  fee: integer(),
  tickSpacing: optional(integer()),
  tick: optional(integer()),
  sqrtPriceX96: optional(amount()),
  liquidity: amount(),
  price: priceSchema,
})

const range = { tickLower: optional(integer()), tickUpper: optional(integer()), lowerPrice: priceSchema, upperPrice: priceSchema }
const amounts = { amount0Raw: amount(), amount1Raw: amount() }
const amountsSchema = object<RangeAmounts>(amounts)
const endSchema = object<{ takes: RangeAmounts; holds: RangeAmounts }>({ takes: amountsSchema, holds: amountsSchema })

const positionSchema = object<RangePosition>({
  ...range,
  tokenId: positionId,
  owner: text(),
  pool: poolSchema,
  liquidity: amount(),
  inRange: flag(),
  amounts: amountsSchema,
  unclaimed: amountsSchema,
})

const historySchema = either(
  object<Extract<RangeHistory, { is: 'prices' }>>({ is: oneOf('prices'), head: headSchema, prices: list(priceSchema, 10_000) }),
  object<Extract<RangeHistory, { is: 'beyond' }>>({ is: oneOf('beyond'), head: headSchema, holdsSeconds: integer() }),
)

const unreadSchema = optional(
  list(
    object<{ tokenId?: string; version: string; reason: string }>({ tokenId: optional(positionId), version: text(), reason: words() }),
    maxPositions,
  ),
)

export const ammRangeContract: Contract<AMMRange> = {
  rangeVersions: property(list(text(), 100)),
  ...slippageContract,
  feeTiers: property(record(integer(), 100)),
  positionManager: property(text()),
  positionManagers: property(record(text(), 100)),
  newAccounts: property(integer(0, 16)),
  rangePools: answers(object<{ head: Head; pools: readonly RangePool[] }>({ head: headSchema, pools: list(poolSchema, maxPools) })),
  poolTokens: answers(orNothing(list(text(), 2))),
  rangeAround: answers(orNothing(object<PriceRange>(range))),
  deposit: answers(object<Deposit>({ ...amounts, liquidity: amount(), most: optional(amountsSchema), ends: optional(list(endSchema, 2)) })),
  add: answers(planSchema),
  position: answers(orNothing(object<PositionAtBlock>({ head: headSchema, position: optional(positionSchema) })), (answer, [tokenId]) =>
    answer?.position && answer.position.tokenId !== tokenId ? 'position.tokenId must be the requested one' : undefined,
  ),
  positionOf: answers(
    orNothing(object<PositionAtBlock>({ head: headSchema, position: optional(positionSchema) })),
    (answer, [{ tokenId }]) =>
      answer?.position && answer.position.tokenId !== tokenId ? 'position.tokenId must be the requested one' : undefined,
  ),
  positionWitnesses: answers(list(object<PositionWitness>({ number: amount(), exists: flag() }), maxNodes)),
  positionsById: answers(
    object<PositionsAtBlock>({
      head: headSchema,
      positions: eachOf(positionSchema, maxPositions, { nameOf: ({ tokenId }) => tokenId }),
      unread: unreadSchema,
    }),
    ({ positions }, [{ tokenIds }]) => {
      const asked = new Set(tokenIds)
      return positions.every(({ tokenId }) => asked.has(tokenId)) ? undefined : 'positions must be of the requested ids'
    },
  ),
  positionsOf: answers(
    object<RangePositions>({
      head: headSchema,
      positions: eachOf(positionSchema, maxPositions, { nameOf: ({ tokenId }) => tokenId }),
      unread: unreadSchema,
      searchedFromBlock: optional(integer(0)),
      notSearched: optional(words()),
      missing: optional(integer(0)),
    }),
  ),
  positions: answers(
    object<{ head: Head; positions: readonly RangePosition[] }>({
      head: headSchema,
      positions: eachOf(positionSchema, maxPositions, { nameOf: ({ tokenId }) => tokenId }),
    }),
  ),
  remove: answers(planSchema),
  collect: answers(planSchema),
  history: answers(historySchema, (history, [, secondsAgo]) =>
    history.is === 'prices' && history.prices.length !== secondsAgo.length - 1
      ? 'prices must be one for each span between two given times'
      : undefined,
  ),
  rangeFill: answers(orNothing(object<RangeFill>({ ...amounts, tokenId: positionId, liquidity: amount(), fees: optional(amountsSchema) }))),
  owedLiquidity: answers(orNothing(amountsSchema)),
}
