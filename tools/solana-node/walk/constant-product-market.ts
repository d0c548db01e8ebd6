import { readMintTerms } from '../../../kits/solana/mint-extensions.ts'
import { accountsOf, decodePool, stateOf, type ConstantProductState } from '../../../kits/solana/amm/constant-product/accounts.ts'
import { quoteConstantProduct } from '../../../kits/solana/amm/constant-product/quote.ts'
import { constantProductSwap } from '../../../kits/solana/amm/constant-product/swap.ts'
import { maxU64, type Swap } from '../../../kits/solana/amm/swap-quote.ts'
import { openMarket, type Market } from '../programs/market.ts'
import { createConfig, createConstantProductPool, inOrder, permitCreatorFees, setPoolStatus } from '../programs/raydium.ts'
import { addRealProgram } from '../programs/real.ts'
import type { Mint } from '../mints.ts'
import type { RandomBits, WalkPool } from './walk.ts'

/** Classes of pools, in millionths, from the dearest fee that a pool can have to the cheapest. */
const classes = [
  { trade: 2_500n, protocol: 120_000n, fund: 40_000n, creator: 500n },
  { trade: 10_000n, protocol: 120_000n, fund: 40_000n, creator: 10_000n },
  { trade: 1n, protocol: 0n, fund: 0n, creator: 1n },
  { trade: 100n, protocol: 500_000n, fund: 500_000n, creator: 0n },
  { trade: 40_000n, protocol: 1_000_000n, fund: 0n, creator: 777_777n },
  { trade: 900_000n, protocol: 333_333n, fund: 333_333n, creator: 99_999n },
]
const largestReserve = 2n ** 62n

type Version = 'creator-fees' | 'early-2025'

/**
 * Pools of the real program, of many sizes, fees and kinds of tokens; most of them with a creator's fee where the program has that.
 * @param own bytes of the program, where they are not those of the folder of programs, and the arithmetic that they are compared with
 */
export async function constantProductMarket(
  { below, bits }: RandomBits,
  pools: number,
  own?: { readonly bytes: Uint8Array; readonly version: Version },
): Promise<{ market: Market; pools: WalkPool[] }> {
  const market = await openMarket()
  addRealProgram(market.svm, 'raydium_cp_swap', own?.bytes)
  const configs = classes.map((rates, index) => createConfig(market.svm, 256 + index, rates))
  const hasCreatorFees = permitCreatorFees(market.svm, market.wallet)
  const made: WalkPool[] = []
  for (let index = 0; index < pools; index += 1) {
    const seed = (name: string) => {
      const transferFee = { basisPoints: [0, 1, 100, 777, 9_999, 10_000][below(6)]!, maximumRaw: [0n, 1n, 5_000n, maxU64][below(4)]! }
      return { symbol: `${name}${index}`, decimals: below(10), ...(below(3) === 0 && { transferFee }) }
    }
    const mints = inOrder(await market.createMint(seed('A'), maxU64), await market.createMint(seed('B'), maxU64))
    const config = configs[below(configs.length)]!
    const amountsRaw = [reserve(), reserve()] as const
    const openTime = below(4) === 0 ? market.clock.unixTime + 50n : 0n
    const creatorFeeOn = hasCreatorFees ? ([0, 1, 2, undefined] as const)[below(4)] : undefined
    const fee = creatorFeeOn === undefined ? {} : { creatorFeeOn }
    try {
      const address = createConstantProductPool(market.svm, { config, creator: market.wallet, mints, amountsRaw, openTime, ...fee })
      made.push(constantProductPool(market, address, mints, own?.version ?? 'early-2025'))
    } catch {
      // A token's own fee left one side empty.
    }
  }
  return { market, pools: made }

  function reserve(): bigint {
    const raw = bits(8 + below(54)) + 200n
    return raw < largestReserve ? raw : largestReserve
  }
}

/** What a swap has of a creator's fee, for the count of a walk. */
export const creatorFeeKinds = { in: "a creator's fee of what is paid", out: "a creator's fee of what comes out" } as const

/** One pool of the program beside our arithmetic of it. */
export function constantProductPool(
  market: Pick<Market, 'account' | 'clock' | 'wallet' | 'tokenAccount' | 'svm'>,
  address: string,
  mints: readonly [Mint, Mint],
  version: Version,
): WalkPool {
  const state = (): ConstantProductState => {
    const account = market.account(address)
    const found = stateOf(
      account,
      accountsOf(decodePool(account)!).map((each) => market.account(each)),
      version,
    )
    if ('refused' in found) throw new Error(`No state of ${address}: ${found.refused}`)
    return found
  }
  return {
    name: `cpmm ${mints.map(({ symbol }) => symbol).join('/')}`,
    mints,
    reserves: () => state().vaultsRaw,
    quote: (swap) => quoteConstantProduct(state(), market.clock, swap),
    instruction: (swap: Swap, boundRaw) =>
      constantProductSwap({ address, pool: decodePool(market.account(address))! }, swap, {
        boundRaw,
        owner: market.wallet,
        from: market.tokenAccount(mints[swap.pays]),
        to: market.tokenAccount(mints[swap.pays === 0 ? 1 : 0]),
      }),
    owed: () => state().pool.owedRaw,
    adds: (swap) => {
      const quote = quoteConstantProduct(state(), market.clock, swap)
      if ('refused' in quote) return [0n, 0n]
      const sharesRaw = quote.protocolFeeRaw + quote.fundFeeRaw
      const [inRaw, outRaw] = quote.creatorFeeOn === 'in' ? [sharesRaw + quote.creatorFeeRaw, 0n] : [sharesRaw, quote.creatorFeeRaw]
      return swap.pays === 0 ? [inRaw, outRaw] : [outRaw, inRaw]
    },
    kindOf: (swap) => {
      const quote = quoteConstantProduct(state(), market.clock, swap)
      return 'refused' in quote || quote.creatorFeeRaw === 0n ? undefined : creatorFeeKinds[quote.creatorFeeOn]
    },
    vector: () => {
      const { pool, config, vaultsRaw } = state()
      const terms = mints.map((mint) => readMintTerms(market.account(mint.address)))
      const { status, openTime, owedRaw, creatorFee } = pool
      return { status, openTime, owedRaw, ...(creatorFee.isTaken && { creatorFee }), config, vaultsRaw, mints: terms }
    },
    change({ below }) {
      // Switched off for a while, and what is owed to others in both versions of the fee.
      setPoolStatus(market.svm, address, [0, 0, 1, 2, 3, 4, 7][below(7)]!)
    },
  }
}
