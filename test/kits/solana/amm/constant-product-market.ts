import { readMintTerms } from '../../../../kits/solana/mint-extensions.ts'
import { accountsOf, decodePool, stateOf, type ConstantProductState } from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { quoteConstantProduct } from '../../../../kits/solana/amm/constant-product/quote.ts'
import { constantProductSwap } from '../../../../kits/solana/amm/constant-product/swap.ts'
import { maxU64, type Swap } from '../../../../kits/solana/amm/swap-quote.ts'
import { openMarket, type Market } from '../../../../tools/solana-node/programs/market.ts'
import { createConfig, createConstantProductPool, inOrder, setPoolStatus } from '../../../../tools/solana-node/programs/raydium.ts'
import { addRealProgram } from '../../../../tools/solana-node/programs/real.ts'
import type { Mint } from '../../../../tools/solana-node/mints.ts'
import type { RandomBits, WalkPool } from './walk.ts'

/** Classes of pools, in millionths, from the dearest fee that a pool can have to the cheapest. */
const classes = [
  { trade: 2_500n, protocol: 120_000n, fund: 40_000n },
  { trade: 10_000n, protocol: 120_000n, fund: 40_000n },
  { trade: 1n, protocol: 0n, fund: 0n },
  { trade: 100n, protocol: 500_000n, fund: 500_000n },
  { trade: 40_000n, protocol: 1_000_000n, fund: 0n },
  { trade: 900_000n, protocol: 333_333n, fund: 333_333n },
]
const largestReserve = 2n ** 62n

/** Pools of the real program, of many sizes, fees and kinds of tokens. */
export async function constantProductMarket({ below, bits }: RandomBits, pools: number): Promise<{ market: Market; pools: WalkPool[] }> {
  const market = await openMarket()
  addRealProgram(market.svm, 'raydium_cp_swap')
  const configs = classes.map((rates, index) => createConfig(market.svm, 256 + index, rates))
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
    try {
      const address = createConstantProductPool(market.svm, { config, creator: market.wallet, mints, amountsRaw, openTime })
      made.push(walkPool(market, address, mints))
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

function walkPool(market: Market, address: string, mints: readonly [Mint, Mint]): WalkPool {
  const state = (): ConstantProductState => {
    const account = market.account(address)
    const found = stateOf(
      account,
      accountsOf(decodePool(account)!).map((each) => market.account(each)),
      'early-2025',
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
      const feeRaw = 'refused' in quote ? 0n : quote.protocolFeeRaw + quote.fundFeeRaw
      return swap.pays === 0 ? [feeRaw, 0n] : [0n, feeRaw]
    },
    vector: () => {
      const { pool, config, vaultsRaw } = state()
      const terms = mints.map((mint) => readMintTerms(market.account(mint.address)))
      return { status: pool.status, openTime: pool.openTime, owedRaw: pool.owedRaw, config, vaultsRaw, mints: terms }
    },
    change({ below }) {
      // Switched off for a while, and what is owed to others in both versions of the fee.
      setPoolStatus(market.svm, address, [0, 0, 1, 2, 3, 4, 7][below(7)]!)
    },
  }
}
