import type { AMMShares, SharesAllowance, SharesDeposit, SharesFill, SharesPool, SharesPosition } from '../amm-shares.ts'
import type { Head } from '../family.ts'
import { amount, answers, flag, integer, list, object, orNothing, property, record, text, type Contract } from './contract.ts'
import { headSchema, planSchema, priceSchema, slippageContract } from './common.ts'

const maxPools = 1_000
const maxTokens = 32
const amounts = list(amount(), maxTokens)

const poolSchema = object<SharesPool>({
  address: text(),
  version: text(),
  tokens: list(text(), maxTokens, 2),
  shareToken: text(),
  shareDecimals: integer(0, 77),
  totalSharesRaw: amount(),
  reservesRaw: amounts,
  heldRaw: amounts,
  prices: list(priceSchema, maxTokens),
})
const positionSchema = object<SharesPosition>({ pool: poolSchema, sharesRaw: amount(), amountsRaw: amounts })

/** One for each token of the pool. */
const isOfEach = (values: readonly unknown[], { tokens }: { tokens: readonly unknown[] }) => values.length === tokens.length

export const ammSharesContract: Contract<AMMShares> = {
  sharesVersions: property(list(text(), 100)),
  ...slippageContract,
  boundsShares: property(flag()),
  depositSpenders: property(record(text(), 100)),
  sharePositions: answers(
    object<{ head: Head; positions: readonly SharesPosition[] }>({ head: headSchema, positions: list(positionSchema, maxPools) }),
    ({ positions }, [tokens]) => {
      const isWhole = ({ pool, amountsRaw }: SharesPosition) =>
        isOfEach(tokens, pool) && [pool.reservesRaw, pool.heldRaw, amountsRaw].every((each) => isOfEach(each, pool))
      if (!positions.every(isWhole)) return 'positions must have one token and one amount for each token of the request'
      return positions.every(({ pool }) => pool.prices.length === 0 || isOfEach(pool.prices, pool))
        ? undefined
        : 'prices must be one for each token, or none'
    },
  ),
  depositFor: answers(object<SharesDeposit>({ amountsRaw: amounts, sharesRaw: amount() }), ({ amountsRaw }, [{ pool, maxRaw }]) => {
    if (!isOfEach(amountsRaw, pool)) return 'amountsRaw must be one for each token of the pool'
    const isMore = amountsRaw.some((each, index) => each > (maxRaw[index] ?? each))
    return isMore ? 'amountsRaw must not be more than maxRaw' : undefined
  }),
  returnFor: answers(amounts, (returned, [pool]) => (isOfEach(returned, pool) ? undefined : 'there must be an amount for each token')),
  addShares: answers(planSchema),
  removeShares: answers(planSchema),
  removalAllowance: answers(orNothing(object<SharesAllowance>({ spender: text(), sharesRaw: amount() }))),
  sharesFill: answers(orNothing(object<SharesFill>({ sharesRaw: amount(), amountsRaw: amounts }))),
}
