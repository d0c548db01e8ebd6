import { expect } from 'chai'
import { ammRangeContract } from '../../../core/contracts/answers/amm-range.ts'
import type { ConnectorContext } from '../../../core/handlers/context.ts'
import { ammLiquidityPrice } from '../../../core/handlers/amm/range-pools.ts'
import { parserOf } from '../../../core/plugins/code/parser.ts'

const pool = {
  address: 'BVRbyLjjfSBcoyiYFuxbgKYnWuiFaF9CSXEa5vdSZ9Hh',
  version: 'v1',
  token0: 'A',
  token1: 'B',
  fee: 500,
  liquidity: 7n,
  price: { numerator: 3n, denominator: 2n },
}
const ofTicks = { tickSpacing: 10, tick: -3, sqrtPriceX96: 2n ** 96n }

describe('pools whose prices are not those of ticks', () => {
  if (!('answer' in ammRangeContract.rangePools)) throw new Error('The contract does not say what rangePools answers.')
  const parse = parserOf(ammRangeContract.rangePools.answer)
  const priceOf = async (found: object) => {
    const rangePools = async () => parse({ head: { number: 5n, timestamp: 0 }, pools: [found] }, [])
    const context = {
      venue: { connector: 'bins', impl: { AMM_RANGE: { rangeVersions: ['v1'], feeTiers: {}, rangePools } } },
      network: { tokens: { resolve: async (address: string) => ({ symbol: address, address, decimals: 6 }) } },
      services: { settings: { limits: { pageSize: 500 } } },
      signal: AbortSignal.timeout(60_000),
    } as unknown as ConnectorContext
    return ammLiquidityPrice({ chain: 'c', network: 'n', connector: 'bins', token0: 'A', token1: 'B' }, context)
  }

  it('show their price, and neither tick nor sqrtPriceX96', async () => {
    const shown = await priceOf(pool)
    expect(shown).to.include({ price: '1.5000000000000000000', liquidity: '7', pool: pool.address })
    expect(shown).to.not.have.any.keys('tick', 'sqrtPriceX96')
  })

  it('leave those with ticks as they are', async () => {
    expect(await priceOf({ ...pool, ...ofTicks })).to.include({ tick: -3, sqrtPriceX96: String(2n ** 96n) })
  })
})
