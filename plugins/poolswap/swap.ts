import {
  SluiceError,
  type AMM,
  type At,
  type Fill,
  type Head,
  type Json,
  type Life,
  type Plan,
  type Quote,
  type Swap,
  type SwapTerms,
} from 'sluice/plugin'
import {
  heldIn,
  tokenAccountOf,
  tokenProgram,
  type Solana,
  type SolanaAccount,
  type SolanaAccountUse,
  type SolanaReader,
  type SolanaReceipt,
} from 'sluice/solana'
import { gotFor, paidFor, readPool, type Pool, type Reserves } from './pool.ts'

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

/** https://docs.anza.xyz/runtime/sysvars#clock: slot u64, epoch start i64, epoch u64, leader schedule epoch u64, Unix time i64. */
const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
const unixTimeAt = 32
const clockSize = 40

/** Seconds since the Unix epoch, by the cluster. */
function timeIn(clock: SolanaAccount | undefined): number {
  if (!clock || clock.data.length < clockSize) throw new Error('The network has no clock.')
  const { buffer, byteOffset } = clock.data
  return Number(new DataView(buffer, byteOffset).getBigInt64(unixTimeAt, true))
}

const most = 2n ** 64n - 1n
const wordSize = 8

/** One instruction, with the bound enforced by the program; of a deadline it knows nothing, so the plan has none. */
function swapPlan(program: string, pool: Pool, quote: Quote, { recipient, boundRaw }: SwapTerms): Plan<Solana> {
  const { tokenIn, tokenOut, exact, amountRaw } = quote.swap
  const [vaultIn, vaultOut] = pool.mints[0] === tokenIn.address ? pool.vaults : pool.vaults.toReversed()
  if (!vaultIn || !vaultOut) throw new Error(`The pool ${pool.address} has no vaults.`)
  const accounts = [
    reads(pool.address),
    reads(pool.authority),
    { address: recipient, writable: false, signer: true },
    writes(tokenAccountOf(recipient, tokenIn.address)),
    writes(tokenAccountOf(recipient, tokenOut.address)),
    writes(vaultIn),
    writes(vaultOut),
    reads(tokenProgram),
  ]
  // More than fits is no tighter bound than the most that fits.
  const data = words(exact === 'in' ? 1n : 2n, amountRaw, boundRaw < most ? boundRaw : most)
  return {
    steps: [{ payer: recipient, instructions: [{ program, accounts, data }], value: '0', rent: '0' }],
    needs: [{ is: 'balance', token: tokenIn.address, amountRaw: exact === 'in' ? amountRaw : boundRaw }],
    memo: { program },
  }
}

const reads = (address: string): SolanaAccountUse => ({ address, writable: false, signer: false })
const writes = (address: string): SolanaAccountUse => ({ address, writable: true, signer: false })
/** Little-endian words of 64 bits, in base64. */
function words(...all: readonly bigint[]): string {
  const bytes = Buffer.alloc(all.length * wordSize)
  for (const [index, each] of all.entries()) bytes.writeBigUInt64LE(each, index * wordSize)
  return bytes.toString('base64')
}

/** agave `program-runtime/src/stable_log.rs`, program_return. Programs' own lines begin with "Program log: ". */
const returned = /^Program return: (\w{32,44}) (\S+)$/

/** The program returns what was paid and what was got. */
function fillOf({ status, logs }: SolanaReceipt, memo: Json): Fill | undefined {
  const program = typeof memo === 'object' && memo !== null && 'program' in memo ? memo.program : undefined
  if (status !== 1) return undefined
  const data = logs.map((line) => returned.exec(line)).findLast((found) => found?.[1] === program)?.[2]
  const bytes = Buffer.from(data ?? '', 'base64')
  if (bytes.length !== 2 * wordSize) return undefined
  return { amountInRaw: bytes.readBigUInt64LE(), amountOutRaw: bytes.readBigUInt64LE(wordSize) }
}
