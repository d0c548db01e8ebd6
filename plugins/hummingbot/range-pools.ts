// Pools with ranges of prices, in their own order of tokens: ticks are what clients call bins.
import { fromRaw, multiply } from 'sluice/decimal'
import { SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import type { Networks } from './networks.ts'
import { liquidityPaths, venueFields, venueOf, type Venue } from './venues.ts'

/** Pools of v4 whose fee changes have this one: https://github.com/Uniswap/v4-core/blob/v4.0.0/src/libraries/LPFeeLibrary.sol */
const changingFee = 8_388_608

export const PoolAddress = Type.String({ minLength: 1, maxLength: 256, description: 'Its address, or the id of a pool of v4.' })

export const poolInfoFields = {
  address: Type.String(),
  baseTokenAddress: Type.String(),
  quoteTokenAddress: Type.String(),
  price: Type.String(),
  feePct: Type.String(),
  baseTokenAmount: Type.String(),
  quoteTokenAmount: Type.String(),
}

export const rangePoolPaths = (networks: Networks): InterfacePath[] =>
  liquidityPaths('clmm', ['pool-info', 'pool-info'], {
    method: 'GET',
    summary: 'A pool with ranges of prices, in its own order of tokens.',
    permission: 'read',
    request: Type.Object({ ...venueFields, poolAddress: PoolAddress }),
    response: Type.Object({ ...poolInfoFields, activeBinId: Type.Number(), binStep: Type.Number() }),
    async answer(request, call) {
      const venue = venueOf(request, networks)
      const pool = await rangePoolAt(request.poolAddress, venue, call)
      const { token0, token1, tick, tickSpacing, sqrtPriceX96, price } = pool
      if (tick === undefined || tickSpacing === undefined || sqrtPriceX96 === undefined)
        throw new SluiceError('UNSUPPORTED', `The pool ${pool.pool} has no ticks, and clients of Hummingbot need them.`)
      return {
        address: pool.pool,
        baseTokenAddress: token0,
        quoteTokenAddress: token1,
        price,
        feePct: await feePercent(pool, venue, call),
        ...(await amountsAt({ liquidity: BigInt(pool.liquidity), sqrtPriceX96: BigInt(sqrtPriceX96) }, [token0, token1], venue, call)),
        activeBinId: tick,
        binStep: tickSpacing,
      }
    },
  })

/** @throws SluiceError PAIR_NOT_FOUND, INCOMPLETE_PARAMS */
export const rangePoolAt = (pool: string, { own }: Venue, { call }: InterfaceCall) => call('AMMLiquidityPrice', { ...own, pool })
type RangePool = Awaited<ReturnType<typeof rangePoolAt>>

async function feePercent({ fee, pool, token0, token1 }: RangePool, { own }: Venue, { call }: InterfaceCall): Promise<string> {
  if (fee !== changingFee) return multiply(String(fee), '0.0001')
  const now = await call('AMMPool', { ...own, pool, base: token0, quote: token1 })
  return multiply(now.fee, '100')
}

/** What a pool without ranges would hold that was as deep at this price: of one with ranges nobody needs to hold more. Rounded down. */
async function amountsAt(
  { liquidity, sqrtPriceX96 }: { liquidity: bigint; sqrtPriceX96: bigint },
  tokenSymbols: readonly [string, string],
  { on }: Venue,
  { call }: InterfaceCall,
) {
  const [base, quote] = await call('NetworkTokens', { ...on.own, tokenSymbols: [...tokenSymbols] })
  const baseRaw = sqrtPriceX96 === 0n ? 0n : (liquidity << 96n) / sqrtPriceX96
  const quoteRaw = (liquidity * sqrtPriceX96) >> 96n
  return { baseTokenAmount: fromRaw(baseRaw, base?.decimals ?? 0), quoteTokenAmount: fromRaw(quoteRaw, quote?.decimals ?? 0) }
}
