import { expect } from 'chai'
import { poolPricing, type CachedPool } from '../../../kits/pools/pricing.ts'
import type { PoolMath } from '../../../kits/pools/protocol.ts'

/** Both are addresses of 32 bytes, which differ in the case of a letter. */
const [mint, twin] = ['So11111111111111111111111111111111111111112', 'so11111111111111111111111111111111111111112']
const usd = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

const halves: PoolMath<bigint> = {
  version: 'halves',
  pass: ({ state }, _passage, _exact, amountRaw) => ({ amountRaw: amountRaw * state, gasUnits: 0n }),
  spot: ({ state }) => ({ numerator: state, denominator: 1n }),
  fee: () => '0',
  spotIsBest: true,
}
const program = { address: 'program', carries: (versions: readonly string[]) => versions.length === 1 }
const token = (address: string) => ({ symbol: address, address, decimals: 0 })

describe('pools of tokens whose addresses differ in the case of a letter', () => {
  const pricing = poolPricing({
    exchange: { protocols: [halves], routers: [program] },
    wrapped: token('wrapped'),
    intermediates: [],
    gasPriceRaw: () => 0n,
  })
  const pool = (address: string, of: string, state: bigint): CachedPool => ({
    protocol: halves,
    pool: { address, tokens: [of, usd], state },
  })
  const states = [pool('Pool', mint, 2n), pool('pool', twin, 3n)]
  const head = { number: 1n, timestamp: 1 }

  it('gives a swap the pool of its own token, and its price', () => {
    const through = [mint, twin].map((of) => {
      const swap = { tokenIn: token(of), tokenOut: token(usd), exact: 'in', amountRaw: 10n } as const
      const quote = pricing.quote(swap, {}, states, head, 0)
      return 'missing' in quote ? quote : [quote.route.map((hop) => hop.pool), quote.amountRaw]
    })
    expect(through).to.deep.equal([
      [['Pool'], 20n],
      [['pool'], 30n],
    ])
  })

  it('shows the pool of the asked address alone', async () => {
    const choice = { depths: [100], most: 9, pool: 'pool' }
    const at = { signal: new AbortController().signal }
    const shown = await Promise.all(
      [mint, twin].map((of) => pricing.pools({ tokenIn: token(of), tokenOut: token(usd) }, choice, states, head, at)),
    )
    expect(shown.map((views) => views.map((view) => view.pool))).to.deep.equal([[], ['pool']])
  })

  it('takes both for a pair, and one alone for none', () => {
    expect(pricing.reach({ tokenIn: token(mint), tokenOut: token(twin) }, undefined).pairs).to.deep.equal([[mint, twin]])
    expect(() => pricing.reach({ tokenIn: token(mint), tokenOut: token(mint) }, undefined)).to.throw('the same token')
  })
})
