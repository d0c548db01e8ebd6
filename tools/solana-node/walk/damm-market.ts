import { dammAccountsOf, dammStateOf, decodeDammPool, type DammState } from '../../../kits/solana/amm/damm/accounts.ts'
import { quoteDamm } from '../../../kits/solana/amm/damm/quote.ts'
import { dammSwap } from '../../../kits/solana/amm/damm/swap.ts'
import { maxU64 } from '../../../kits/solana/amm/swap-quote.ts'
import { openMarket, type Market } from '../programs/market.ts'
import { createDammPool, type DammSeed } from '../programs/meteora.ts'
import { addRealProgram } from '../programs/real.ts'
import type { Mint } from '../mints.ts'
import type { RandomBits, WalkPool } from './walk.ts'

/** src/constants.ts of the SDK. */
const [minSqrtPrice, maxSqrtPrice] = [4_295_048_016n, 79_226_673_521_066_979_257_578_248_091n]
const cliffs = [100_000n, 2_500_000n, 10_000_000n, 250_000_000n, 500_000_000n]

/**
 * Pools of the real program in its three modes of fees, with schedules of both kinds by slot and by time, and dynamic fees.
 * @param bytes of the program, where they are not those of the folder of programs
 */
export async function dammMarket({ below }: RandomBits, pools: number, bytes?: Uint8Array): Promise<{ market: Market; pools: WalkPool[] }> {
  const market = await openMarket()
  addRealProgram(market.svm, 'cp_amm', bytes)
  const made: WalkPool[] = []
  for (let index = 0; index < pools; index += 1) {
    const seed = (name: string) => {
      const transferFee = { basisPoints: [0, 1, 100, 777, 9_999][below(5)]!, maximumRaw: [0n, 1n, 5_000n, maxU64][below(4)]! }
      return { symbol: `${name}${index}`, decimals: below(10), ...(below(3) === 0 && { transferFee }) }
    }
    const mints = [await market.createMint(seed('A'), maxU64), await market.createMint(seed('B'), maxU64)] as const
    const wish = dammSeed(market, mints, index)
    try {
      made.push(walkPool(market, await createDammPool(market.svm, wish), mints))
    } catch (error) {
      // Earlier builds have no compounding pools. Others have to make each of these.
      if (wish.feeMode !== 2) throw error
    }
  }
  return { market, pools: made }

  function dammSeed({ clock, wallet }: Market, mints: readonly [Mint, Mint], index: number): DammSeed {
    const feeMode = (index % 3) as 0 | 1 | 2
    const activationType = below(2) as 0 | 1
    const now = ((1n << 64n) >> 8n) << BigInt(below(17))
    const range = BigInt(1 + below(30))
    const isWide = feeMode === 2 || below(3) === 0
    const cliff = cliffs[below(cliffs.length)]!
    const schedules: DammSeed['baseFee'][] = [
      { cliff, periods: 0, periodLength: 0n, reduction: 0n, mode: 0 },
      { cliff, periods: 100, periodLength: 900n, reduction: (cliff - 100_000n) / 100n, mode: 0 },
      { cliff: 500_000_000n, periods: 300, periodLength: 700n, reduction: 150n, mode: 1 },
    ]
    return {
      creator: wallet,
      mints,
      baseFee: schedules[below(cliff === 100_000n ? 1 : 3)]!,
      compoundingBasisPoints: feeMode === 2 ? [1, 2_500, 10_000][below(3)]! : 0,
      ...(below(2) === 0 && { dynamicFeeControl: [1, 956, 20_000][below(3)]! }),
      sqrtPrices: isWide ? { min: minSqrtPrice, max: maxSqrtPrice, now } : { min: now - now / (range + 1n), max: now + now / range, now },
      liquidity: BigInt(1 + below(1_000_000)) << BigInt(64 + 8 + below(24)),
      activationType,
      ...(below(5) === 0 && { activationPoint: (activationType === 0 ? clock.slot : clock.unixTime) + 1n }),
      feeMode,
    }
  }
}

function walkPool(market: Market, address: string, mints: readonly [Mint, Mint]): WalkPool {
  const state = (): DammState => {
    const account = market.account(address)
    const found = dammStateOf(
      account,
      dammAccountsOf(decodeDammPool(account)!).map((each) => market.account(each)),
    )
    if ('refused' in found) throw new Error(`No state of ${address}: ${found.refused}`)
    return found
  }
  return {
    name: `damm ${mints.map(({ symbol }) => symbol).join('/')}`,
    mints,
    reserves: () => {
      const { feeMode, amountsRaw, liquidity, sqrtPrices } = state().pool
      if (feeMode === 'compounding') return amountsRaw
      const { min, max, now } = sqrtPrices
      return [(liquidity * (max - now)) / (max * now), (liquidity * (now - min)) >> 128n]
    },
    quote: (swap) => quoteDamm(state(), market.clock, swap),
    instruction: (swap, boundRaw) =>
      dammSwap({ address, pool: state().pool }, swap, {
        boundRaw,
        owner: market.wallet,
        from: market.tokenAccount(mints[swap.pays]),
        to: market.tokenAccount(mints[swap.pays === 0 ? 1 : 0]),
      }),
    owed: () => state().pool.owedRaw,
    adds: (swap) => {
      const quote = quoteDamm(state(), market.clock, swap)
      if ('refused' in quote) return [0n, 0n]
      const token = quote.feeOn === 'in' ? swap.pays : 1 - swap.pays
      return token === 0 ? [quote.protocolFeeRaw, 0n] : [0n, quote.protocolFeeRaw]
    },
    vector: () => {
      const { pool, mints: terms } = state()
      const { mints: _mints, vaults: _vaults, programs: _programs, ...numbers } = pool
      return { ...numbers, terms }
    },
    // Its status is an operator's to change, whose right another account has to show.
    change: () => undefined,
  }
}
