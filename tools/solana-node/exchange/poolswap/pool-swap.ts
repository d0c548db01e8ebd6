import { SluiceError, type AMM, type At, type Head, type Life, type Quote, type Swap } from 'sluice/plugin'
import { heldIn, type Solana, type SolanaAccount, type SolanaReader } from 'sluice/solana'
import { clockSysvar, timeIn } from './clock.ts'
import { gotFor, paidFor, type Reserves } from './constant-product.ts'
import { readPool, type Pool } from './pool-account.ts'
import { fillOf } from './pool-fill.ts'
import { swapPlan } from './swap-plan.ts'

export interface PoolSwapParts {
  program: string
  /** Their accounts. */
  pools: readonly string[]
  reader: SolanaReader
}

/** What a swap of the program uses, the transfers of both tokens with it. */
const swapUnits = 30_000n

/** The best of the pools of a pair, each a constant product. */
export function poolSwap({ program, pools: addresses, reader }: PoolSwapParts): { AMM: AMM<Solana> } & Required<Pick<Life, 'start'>> {
  let pools: readonly Pool[] = []

  async function quote(swap: Swap, _choice: object, at: At): Promise<Quote> {
    const ways = pools.flatMap((pool) => waysThrough(pool, swap))
    if (ways.length === 0) throw noPool(swap)
    const { head, accounts } = await reader.accounts([clockSysvar, ...ways.flatMap(({ vaults }) => vaults)], at)
    const [clock, ...vaults] = accounts
    const found = ways.flatMap((way, index) => priced(way, swap, vaults.slice(2 * index, 2 * index + 2)))
    const [best] = found.toSorted((a, b) => (swap.exact === 'in' ? compare(b.amountRaw, a.amountRaw) : compare(a.amountRaw, b.amountRaw)))
    if (!best) throw new SluiceError('PRICE_FAILED', `No pool can trade that much ${swap.tokenIn.symbol} for ${swap.tokenOut.symbol}.`)
    const { pool, amountRaw, spotAmountRaw } = best
    const hop = { pool: pool.address, version: '', tokenIn: swap.tokenIn.address, tokenOut: swap.tokenOut.address, fee: feeOf(pool) }
    const timed: Head = { number: head.number, timestamp: timeIn(clock) }
    return { swap, amountRaw, spotAmountRaw, gasUnits: swapUnits, route: [hop], head: timed, spender: program }
  }

  const poolOf = ({ route: [hop] }: Quote): Pool => {
    const found = pools.find(({ address }) => address === hop?.pool)
    if (!found) throw new Error(`The quote names no pool of ${program}.`)
    return found
  }

  return {
    AMM: { versions: [], quote, swap: (quoted, terms) => swapPlan(program, poolOf(quoted), quoted, terms), fill: fillOf },
    async start(signal) {
      const { accounts } = await reader.accounts(addresses, { signal })
      pools = addresses.map((address, index) => readPool(program, address, accounts[index]))
    },
  }
}

interface Way {
  pool: Pool
  /** Of what is paid, of what is got. */
  vaults: readonly [string, string]
}

function waysThrough(pool: Pool, { tokenIn, tokenOut }: Swap): readonly Way[] {
  const [first, second] = pool.vaults
  const [mintIn, mintOut] = [tokenIn, tokenOut].map(({ address }) => address)
  if (pool.mints[0] === mintIn && pool.mints[1] === mintOut) return [{ pool, vaults: [first, second] }]
  return pool.mints[1] === mintIn && pool.mints[0] === mintOut ? [{ pool, vaults: [second, first] }] : []
}

function priced({ pool }: Way, swap: Swap, [vaultIn, vaultOut]: readonly (SolanaAccount | undefined)[]) {
  const { tokenIn, tokenOut, exact, amountRaw: given } = swap
  const inRaw = heldIn(vaultIn, { mint: tokenIn.address, owner: pool.authority })
  const outRaw = heldIn(vaultOut, { mint: tokenOut.address, owner: pool.authority })
  if (!inRaw || !outRaw) return []
  const reserves: Reserves = { inRaw, outRaw }
  const amountRaw = exact === 'in' ? gotFor(given, reserves, pool.feeBasisPoints) : paidFor(given, reserves, pool.feeBasisPoints)
  if (amountRaw === undefined) return []
  const spotAmountRaw = exact === 'in' ? (given * outRaw) / inRaw : (given * inRaw) / outRaw
  return [{ pool, amountRaw, spotAmountRaw }]
}

const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)

/** Basis points as a fraction: "0.003". */
const feeOf = ({ feeBasisPoints }: Pool) => String(Number(feeBasisPoints) / 10_000)

function noPool({ tokenIn, tokenOut }: Swap): SluiceError {
  const wrapped = tokenIn.native || tokenOut.native ? ': the native coin is in none, its wrapped token may be' : ''
  return new SluiceError('PAIR_NOT_FOUND', `There is no pool of ${tokenIn.symbol} and ${tokenOut.symbol}${wrapped}.`)
}
