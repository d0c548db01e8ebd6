// The process behind `sluice devnet programs fetch`: it runs the bytes of a program in a simulated cluster, and compares what they do with the arithmetic
// that quotes pools. judge.js <name> <file> <swaps>. It prints one line of JSON. The bytes run in the virtual machine of Solana alone.
import { readFileSync } from 'node:fs'
import { randomBits } from '../../../testkit/random-bits.ts'
import { constantProductMarket, creatorFeeKinds } from './constant-product-market.ts'
import { dammMarket } from './damm-market.ts'
import { walk, WalkDifference, type WalkCount } from './walk.ts'

/** What a walk came to, for one version of the arithmetic. */
export type Judgement =
  | { readonly is: 'equal'; readonly version: string; readonly swaps: number; readonly refused: number; readonly why?: string }
  | { readonly is: 'different'; readonly version: string; readonly after: number; readonly why: string }
  /** No pool could be made by its instructions: nothing was compared. */
  | { readonly is: 'not compared'; readonly version: string; readonly why: string }

const versionsOf = { raydium_cp_swap: ['creator-fees', 'early-2025'], cp_amm: ['damm-v2'] } as const
const seed = 1

/** Compares bytes with each version of the arithmetic of their program; those that are equal first. */
export async function judgeProgram(name: keyof typeof versionsOf, bytes: Uint8Array, trades: number): Promise<readonly Judgement[]> {
  const found: Judgement[] = []
  for (const version of versionsOf[name]) {
    const random = randomBits(seed)
    const opened = await open(name, version, bytes, random).catch(String)
    if (typeof opened === 'string' || opened.pools.length === 0) {
      found.push({ is: 'not compared', version, why: typeof opened === 'string' ? opened : 'no pool could be made' })
      continue
    }
    try {
      const count = walk(opened.market, opened.pools, { trades, random })
      const { equal, refused } = count
      found.push({ is: 'equal', version, swaps: equal, refused, ...(name === 'raydium_cp_swap' && { why: ofCreatorFees(count) }) })
    } catch (error) {
      if (error instanceof WalkDifference) found.push({ is: 'different', version, after: error.equal, why: error.message })
      else found.push({ is: 'not compared', version, why: String(error) })
    }
  }
  return found.toSorted((one, other) => Number(other.is === 'equal') - Number(one.is === 'equal'))
}

/** How much of a walk was of pools with a creator's fee: builds without them make none. */
export function ofCreatorFees({ kinds }: Pick<WalkCount, 'kinds'>): string {
  const [paid = 0, came = 0] = [kinds[creatorFeeKinds.in], kinds[creatorFeeKinds.out]]
  if (paid + came === 0) return "none with a creator's fee: these were not compared"
  return `${paid} with ${creatorFeeKinds.in}, ${came} with ${creatorFeeKinds.out}`
}

function open(name: keyof typeof versionsOf, version: string, bytes: Uint8Array, random: ReturnType<typeof randomBits>) {
  if (name === 'cp_amm') return dammMarket(random, 36, bytes)
  return constantProductMarket(random, 24, { bytes, version: version === 'early-2025' ? version : 'creator-fees' })
}

const isKnown = (name: string | undefined): name is keyof typeof versionsOf => name !== undefined && Object.hasOwn(versionsOf, name)

if (process.argv[1]?.endsWith('judge.js')) {
  const [name, file, trades] = process.argv.slice(2)
  if (!isKnown(name) || file === undefined) throw new Error('judge.js <name> <file> <swaps>')
  console.log(JSON.stringify(await judgeProgram(name, readFileSync(file), Number(trades))))
  // The simulated cluster has threads of its own.
  process.exit(0)
}
