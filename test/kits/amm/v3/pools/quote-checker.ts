import { expect } from 'chai'
import { maxSqrtRatioX96, minSqrtRatioX96 } from '../../../../../kits/amm/v3/math.ts'
import type { V3PoolState } from '../../../../../kits/amm/v3/swap.ts'
import { v3Protocol } from '../../../../../kits/amm/v3/pools.ts'
import type { Passed, Pool } from '../../../../../kits/amm/index.ts'
import { completeReading } from '../../../../../kits/amm/protocol.ts'
import { at } from '../../../evm/test-chain.ts'
import type { SwapQuery, V3Exchange } from './v3-exchange.ts'

// UniswapV3Pool of @uniswap/v3-core@1.0.1.
export const initCodeHash = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'
export const fees = [100, 500, 3000, 10_000] as const
export type FeeTier = (typeof fees)[number]
export const spacings = { 100: 1, 500: 10, 3000: 60, 10_000: 200 } as const

export type V3QuoteChecker = ReturnType<typeof v3QuoteChecker>

/** Compares our quotes with the exchange's own. */
export function v3QuoteChecker(exchange: V3Exchange, tiers: readonly number[] = fees) {
  const protocol = v3Protocol({ version: 'v3', factory: exchange.factory, initCodeHash, fees: tiers })
  const counted = { furtherReadings: 0 }

  const read = async (missing: readonly unknown[] = []): Promise<readonly Pool<V3PoolState>[]> => {
    const reading = protocol.read([exchange.tokens], missing)
    return completeReading(reading, await exchange.reader.read(reading.calls, at), exchange.reader, at)
  }
  const poolOf = async (fee: number, missing: readonly unknown[] = []): Promise<Pool<V3PoolState>> => {
    const pool = (await read(missing)).find(({ state }) => state.fee === fee)
    if (!pool) throw new Error(`There is no pool of ${fee}.`)
    return pool
  }
  const pass = (pool: Pool<V3PoolState>, { zeroForOne, exact, amountRaw }: SwapQuery) => {
    const [token0, token1] = exchange.tokens
    const passage = zeroForOne ? { tokenIn: token0, tokenOut: token1 } : { tokenIn: token1, tokenOut: token0 }
    return protocol.pass(pool, passage, exact, amountRaw)
  }

  /** The quote after as many reads as needed. The bound of each incomplete quote must hold. */
  const quote = async (fee: number, asked: SwapQuery): Promise<Passed | undefined> => {
    const missing: unknown[] = []
    const promisedRaw: bigint[] = []
    for (let readings = 0; readings < 4; readings += 1) {
      const passed = pass(await poolOf(fee, missing), asked)
      if (!passed || 'amountRaw' in passed) {
        const broken = promisedRaw.filter(
          (bestRaw) => passed && (asked.exact === 'in' ? passed.amountRaw > bestRaw : passed.amountRaw < bestRaw),
        )
        expect(broken).to.deep.equal([])
        return passed
      }
      missing.push(passed.missing)
      promisedRaw.push(passed.atBestRaw ?? 0n)
      counted.furtherReadings += 1
    }
    throw new Error('There is always more to read.')
  }

  /** The exchange's own quote; undefined where it reverts, or does not take all of an input. */
  const theirs = async (fee: number, asked: SwapQuery): Promise<bigint | undefined> => {
    const quoted = await exchange.quote(fee, asked)
    // QuoterV2 does not say that it did not take all of an input; a price at its limit does.
    const ranOut = asked.exact === 'in' && quoted && [minSqrtRatioX96 + 1n, maxSqrtRatioX96 - 1n].includes(quoted.sqrtPriceX96)
    return ranOut ? undefined : quoted?.amountRaw
  }

  /** The quote on which both agree. */
  const quoteAlike = async (fee: number, asked: SwapQuery): Promise<bigint | undefined> => {
    const [mine, expected] = [await quote(fee, asked), await theirs(fee, asked)]
    expect(mine?.amountRaw, `${fee} ${asked.exact} ${asked.amountRaw} ${asked.zeroForOne ? '0→1' : '1→0'}`).to.equal(expected)
    return expected
  }

  return { protocol, counted, read, poolOf, pass, quote, theirs, quoteAlike }
}
