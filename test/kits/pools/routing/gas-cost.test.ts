import { expect } from 'chai'
import { gasPriceIn } from '../../../../kits/pools/routing/gas-cost.ts'
import { graphOf } from './graph.ts'

const ether = 10n ** 18n
const gwei = 10n ** 9n
const pool = (wrappedRaw: bigint, tokenRaw: bigint, version = 'pairs') => ({
  version,
  tokens: ['wrapped', 'token'],
  reservesRaw: [wrappedRaw, tokenRaw],
  feePercent: 0n,
  gasUnits: 60_000n,
})
const cost = (...pools: ReturnType<typeof pool>[]) => gasPriceIn('token', 'wrapped', graphOf(pools), gwei).gasCost(10n ** 6n)

describe('the cost of gas in a token', () => {
  it('uses the price of the token’s pool with the wrapped coin', () => {
    expect(cost(pool(1000n * ether, 3n * 10n ** 12n))).to.equal(3n * 10n ** 6n)
  })

  it('uses the deepest pool, not the one with the best price', () => {
    expect(cost(pool(20n * ether, 30n * 10n ** 10n), pool(1000n * ether, 3n * 10n ** 12n, 'ticks'))).to.equal(3n * 10n ** 6n)
  })

  it('stays as it is in the wrapped coin', () => {
    expect(gasPriceIn('wrapped', 'wrapped', graphOf([]), 2n).gasCost(10n)).to.equal(20n)
  })

  it('comes to 0 if there is no pool, or only one that is too shallow', () => {
    expect(cost()).to.equal(0n)
    expect(cost(pool(ether / 1000n, 10n ** 30n))).to.equal(0n)
  })
})
