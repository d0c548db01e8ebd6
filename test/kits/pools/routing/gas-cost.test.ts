import { expect } from 'chai'
import type { PoolMath } from '../../../../kits/pools/protocol.ts'
import { gasPriceIn } from '../../../../kits/pools/routing/gas-cost.ts'
import { poolGraphOf } from '../../../../kits/pools/routing/graph.ts'
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

/** A little liquidity on one side of a price of anybody's: it takes the coin for next to no token, and has no coin to give. */
const offer: PoolMath = {
  version: 'offer',
  pass: (_pool, { tokenIn }, exact, amountRaw) =>
    exact === 'in' && tokenIn === 'wrapped' ? { amountRaw: amountRaw / 10n ** 15n, gasUnits: 1n } : undefined,
  spot: (_pool, { tokenIn }) =>
    tokenIn === 'wrapped' ? { numerator: 1n, denominator: 10n ** 15n } : { numerator: 10n ** 15n, denominator: 1n },
  fee: () => '0',
}

describe('the cost of gas in a token', () => {
  it('uses the price of the token’s pool with the wrapped coin', () => {
    expect(cost(pool(1000n * ether, 3n * 10n ** 12n))).to.equal(3n * 10n ** 6n)
  })

  it('uses the deepest pool, not the one with the best price', () => {
    expect(cost(pool(20n * ether, 30n * 10n ** 10n), pool(1000n * ether, 3n * 10n ** 12n, 'ticks'))).to.equal(3n * 10n ** 6n)
  })

  it('does not use a price at which a pool takes the coin and has none to give', () => {
    const { pools } = graphOf([pool(1000n * ether, 3n * 10n ** 12n)])
    const offers = ['first', 'second'].map((address) => ({ protocol: offer, pool: { address, tokens: ['wrapped', 'token'], state: {} } }))
    const costIn = (all: typeof pools) => gasPriceIn('token', 'wrapped', poolGraphOf(all), gwei).gasCost(10n ** 6n)
    expect(costIn([...offers, ...pools])).to.equal(3n * 10n ** 6n)
    expect(costIn([...pools, ...offers])).to.equal(3n * 10n ** 6n)
    expect(costIn(offers)).to.equal(0n)
  })

  it('reads state of a pool only where that pool could be the deepest', () => {
    const { pools } = graphOf([pool(1000n * ether, 3n * 10n ** 12n)])
    const partly: PoolMath = {
      ...offer,
      pass: (of, passage, ...amount) => offer.pass(of, passage, ...amount) ?? { missing: passage.tokenIn },
    }
    const unread = { protocol: partly, pool: { address: 'unread', tokens: ['wrapped', 'token'], state: {} } }
    const found = gasPriceIn('token', 'wrapped', poolGraphOf([...pools, unread]), gwei)
    expect(found.gasCost(10n ** 6n)).to.equal(3n * 10n ** 6n)
    expect(found.missing.map(({ pool: address, missing }) => [address, missing])).to.deep.equal([['unread', 'token']])
    const shallow = { ...unread, protocol: { ...partly, spot: () => ({ numerator: 10n, denominator: 10n ** 15n }) } }
    expect(gasPriceIn('token', 'wrapped', poolGraphOf([...pools, shallow]), gwei).missing).to.deep.equal([])
  })

  it('stays as it is in the wrapped coin', () => {
    expect(gasPriceIn('wrapped', 'wrapped', graphOf([]), 2n).gasCost(10n)).to.equal(20n)
  })

  it('comes to 0 if there is no pool, or only one that is too shallow', () => {
    expect(cost()).to.equal(0n)
    expect(cost(pool(ether / 1000n, 10n ** 30n))).to.equal(0n)
  })
})
