// The exchanges of others on a simulated cluster, where their programs are: with pools that their own instructions make.
import { setTimeout as sleep } from 'node:timers/promises'
import { wrappedSol, type Mint } from '../mints.ts'
import type { Solana } from '../start-solana.ts'
import { createDammPool } from './meteora.ts'
import { createConfig, createConstantProductPool, inOrder } from './raydium.ts'
import { addRealProgram, realProgram } from './real.ts'

/** Pools of the same two tokens cost about the same, so that exchanges differ by fee and depth. */
export interface SeededPools {
  /** 0.25 % and 1 % of BASE and USDC, 0.25 % of wrapped SOL and USDC, and of FEES, whose transfers cost a fee, and USDC. Absent without the program. */
  readonly raydium?: readonly string[]
  /** 0.2 % of BASE and USDC, of wrapped SOL and USDC, and of FEES and USDC. Absent without the program. */
  readonly meteora?: readonly string[]
}

const usdcPerBase = 150n
const [baseUnit, usdcUnit] = [10n ** 9n, 10n ** 6n]

/**
 * Makes the pools of each program that the folder of programs has.
 * @param named the sha256 of further bytes, which the operator named
 */
export async function seedExchanges(solana: Solana, named: readonly string[] = []): Promise<SeededPools> {
  const { faucet, mints } = solana
  for (const mint of [mints.BASE, mints.FEES, wrappedSol]) await solana.mintTo(faucet.address, mint, 20_000n * baseUnit)
  await solana.mintTo(faucet.address, mints.USDC, 10_000_000n * usdcUnit)
  const pools: SeededPools = {
    ...(await seeded('raydium_cp_swap', named, async (bytes) => ({ raydium: raydiumPools(solana, bytes) }))),
    ...(await seeded('cp_amm', named, async (bytes) => ({ meteora: await meteoraPools(solana, bytes) }))),
  }
  // What made the pools is no block's: the node shows them from the next one on. Raydium's open a second after they were made.
  const now = () => solana.svm.getClock().unixTimestamp
  for (const opens = now() + 1n; now() < opens && pools.raydium; solana.blocks(1)) await sleep(100)
  solana.blocks(1)
  return pools
}

/** Nothing without the program. Bytes that only the operator knows may take other instructions: then the rest of the cluster is there all the same. */
async function seeded<T extends object>(
  name: Parameters<typeof realProgram>[0],
  named: readonly string[],
  make: (bytes: Uint8Array) => Promise<T>,
): Promise<T | undefined> {
  const bytes = realProgram(name, undefined, named)
  if ('missing' in bytes) return undefined
  try {
    return await make(bytes)
  } catch (error) {
    console.error(`${name} makes no pools here: ${String(error)}`)
    return undefined
  }
}

function raydiumPools({ svm, faucet, mints: { BASE, USDC, FEES } }: Solana, bytes: Uint8Array): readonly string[] {
  addRealProgram(svm, 'raydium_cp_swap', bytes)
  const shares = { protocol: 120_000n, fund: 40_000n }
  const [usual, dear] = [createConfig(svm, 0, { trade: 2_500n, ...shares }), createConfig(svm, 1, { trade: 10_000n, ...shares })]
  const make = (config: string, base: Mint, count: bigint) => {
    const pair = inOrder(base, USDC)
    const amountOf = (mint: Mint) => (mint === base ? count * baseUnit : count * usdcPerBase * usdcUnit)
    const amountsRaw = [amountOf(pair[0]), amountOf(pair[1])] as const
    return createConstantProductPool(svm, { config, creator: faucet.address, mints: pair, amountsRaw, openTime: 0n })
  }
  return [make(usual, BASE, 4_000n), make(dear, BASE, 100n), make(usual, wrappedSol, 4_000n), make(usual, FEES, 1_000n)]
}

async function meteoraPools({ svm, faucet, mints: { BASE, USDC, FEES } }: Solana, bytes: Uint8Array): Promise<readonly string[]> {
  addRealProgram(svm, 'cp_amm', bytes)
  // src/constants.ts of the SDK: the widest range. The price is a square root in Q64.64: of 0.15 smallest units.
  const [min, max] = [4_295_048_016n, 79_226_673_521_066_979_257_578_248_091n]
  const now = BigInt(Math.floor(Math.sqrt(0.15) * 2 ** 32)) << 32n
  const make = (base: Mint, count: bigint) =>
    createDammPool(svm, {
      creator: faucet.address,
      mints: [base, USDC],
      baseFee: { cliff: 2_000_000n, periods: 0, periodLength: 0n, reduction: 0n, mode: 0 },
      compoundingBasisPoints: 0,
      sqrtPrices: { min, max, now },
      liquidity: ((count * usdcPerBase * usdcUnit) << 128n) / now,
      activationType: 1,
      feeMode: 0,
    })
  return [await make(BASE, 500n), await make(wrappedSol, 500n), await make(FEES, 200n)]
}
