import { isDeepStrictEqual } from 'node:util'
import { maxU64, type Swap, type SwapQuote, type SwapResult } from '../../../kits/solana/amm/swap-quote.ts'
import type { SolanaInstruction } from '../../../kits/solana/types.ts'
import type { Mint } from '../mints.ts'
import type { Market } from '../programs/market.ts'
import type { randomBits } from '../../../testkit/random-bits.ts'

export type RandomBits = ReturnType<typeof randomBits>

/** A pool of a real program beside our arithmetic of it. */
export interface WalkPool {
  name: string
  mints: readonly [Mint, Mint]
  reserves(): readonly [bigint, bigint]
  quote(swap: Swap): SwapResult
  /** @param boundRaw the least that arrives, or the most that leaves */
  instruction(swap: Swap, boundRaw: bigint): SolanaInstruction
  /** The state in numbers. */
  vector(): unknown
  /** What the pool owes to others, of both tokens. */
  owed(): readonly [bigint, bigint]
  /** What of the quote's fees the pool then owes beside, of both tokens. */
  adds(swap: Swap): readonly [bigint, bigint]
  /** What is told of a swap in the count. */
  kindOf?(swap: Swap): string | undefined
  /** What its admin or owner may change. */
  change(random: RandomBits): void
}

/** The program does something else than our arithmetic says. */
export class WalkDifference extends Error {
  /** Steps before it that were equal. */
  readonly equal: number
  constructor(message: string, equal: number) {
    super(message)
    this.equal = equal
  }
}

/** One step in numbers: what was asked in which state, and what the real program did with it. */
export interface WalkVector {
  state: unknown
  clock: unknown
  swap: Swap
  /** What left and what arrived; absent where the program refused. */
  moved?: readonly [bigint, bigint]
  /** Why our arithmetic refuses. */
  refused?: string
}

export interface WalkCount {
  equal: number
  refused: number
  /** One unit past what the quote promises is refused too. */
  tight: number
  in: number
  out: number
  /** Of swaps that were equal, and why others were refused. */
  kinds: Record<string, number>
}

/**
 * Swaps on real programs until so many went as quoted. Each is sent with the quote itself as its bound, and has to move what the quote says;
 * what is not quoted has to be refused even where one unit would do, or any price.
 */
export function walk(
  market: Market,
  pools: readonly WalkPool[],
  { trades, random, keep }: { trades: number; random: RandomBits; keep?(vector: WalkVector): void },
): WalkCount {
  const { below } = random
  const count: WalkCount = { equal: 0, refused: 0, tight: 0, in: 0, out: 0, kinds: {} }
  const differs = (why: string): never => {
    throw new WalkDifference(why, count.equal + count.refused)
  }
  for (let step = 0; count.equal < trades; step += 1) {
    const pool = pools[below(pools.length)]!
    if (below(10) === 0) passTime(market, random)
    if (below(40) === 0) pool.change(random)
    if (below(200) === 0) changeFees(market, pool, random)
    const swap = anySwap(pool, random)
    const what = `step ${step}, ${pool.name}: ${swap.amountRaw} ${swap.exact}, pays ${swap.pays}`
    const quote = pool.quote(swap)
    const vector = { state: keep && pool.vector(), clock: market.clock, swap }
    if ('refused' in quote) {
      const failure = market.run([pool.instruction(swap, swap.exact === 'in' ? 1n : maxU64)])
      if (failure === null) differs(`${what} was traded, and refused by us: ${quote.refused}`)
      count.refused += 1
      count.kinds[quote.refused] = (count.kinds[quote.refused] ?? 0) + 1
      keep?.({ ...vector, refused: quote.refused })
      continue
    }
    if (cannotPay(market, pool, swap, quote)) continue
    if (below(8) === 0 && count.equal > 0) count.tight += isTight(market, pool, swap, quote, what, differs)
    const [owed, added, kind] = [pool.owed(), pool.adds(swap), pool.kindOf?.(swap)]
    const moved = carryOut(market, pool, swap, quote, what, differs)
    const owes = pool.owed()
    if (!isDeepStrictEqual(moved, [quote.inRaw, quote.outRaw]))
      differs(`${what} moved ${moved.join(' for ')}, and was quoted as ${quote.inRaw} for ${quote.outRaw}`)
    if (!isDeepStrictEqual(owes, [owed[0] + added[0], owed[1] + added[1]])) differs(`${what}: the pool owes ${owes.join(' and ')}`)
    count.equal += 1
    count[swap.exact] += 1
    if (kind !== undefined) count.kinds[kind] = (count.kinds[kind] ?? 0) + 1
    keep?.({ ...vector, moved })
  }
  return count
}

/** From one unit to more than the pool has; often so much that it moves the price a little. */
function anySwap(pool: WalkPool, { below, bits }: RandomBits): Swap {
  const [pays, exact] = [below(2) as 0 | 1, below(2) === 0 ? 'in' : 'out'] as const
  const side = exact === 'in' ? pays : 1 - pays
  const reserve = pool.reserves()[side]!
  const size = [
    () => BigInt(1 + below(1_000)),
    () => (reserve * BigInt(1 + below(1_000))) / 20_000n,
    () => bits(1 + below(63)),
    () => maxU64,
  ]
  const which = below(40)
  const amount = size[which < 8 ? 0 : which < 30 ? 1 : which < 39 ? 2 : 3]!()
  return { pays, exact, amountRaw: amount > 0n ? amount : 1n }
}

function cannotPay(market: Market, { mints }: WalkPool, { pays }: Swap, quote: SwapQuote): boolean {
  const got = market.balance(mints[1 - pays]!)
  return quote.inRaw > market.balance(mints[pays]) || got + quote.outRaw > maxU64
}

type Differs = (why: string) => never

function carryOut(market: Market, pool: WalkPool, swap: Swap, quote: SwapQuote, what: string, differs: Differs): readonly [bigint, bigint] {
  const balances = () => [market.balance(pool.mints[swap.pays]), market.balance(pool.mints[1 - swap.pays]!)] as const
  const before = balances()
  const failure = market.run([pool.instruction(swap, swap.exact === 'in' ? quote.outRaw : quote.inRaw)])
  if (failure !== null) differs(`${what} was quoted as ${quote.inRaw} for ${quote.outRaw}: ${failure}`)
  const after = balances()
  return [before[0] - after[0], after[1] - before[1]]
}

/** The program refuses one unit more than it gives, and one less than it takes. */
function isTight(market: Market, pool: WalkPool, swap: Swap, quote: SwapQuote, what: string, differs: Differs): 1 {
  const past = swap.exact === 'in' ? quote.outRaw + 1n : quote.inRaw - 1n
  if (market.run([pool.instruction(swap, past)]) === null) differs(`${what} gave more than ${quote.outRaw} for ${quote.inRaw}`)
  return 1
}

function passTime(market: Market, { below }: RandomBits): void {
  const seconds = BigInt(below(1_500))
  const { clock } = market
  market.setClock({
    unixTime: clock.unixTime + seconds,
    slot: clock.slot + (seconds * 5n) / 2n,
    epoch: clock.epoch + (below(12) === 0 ? 1n : 0n),
  })
}

/** A token's own fee changes: the newer of its two holds from two epochs on. */
function changeFees(market: Market, pool: WalkPool, { below }: RandomBits): void {
  const mint = pool.mints[below(2)]!
  const data = market.account(mint.address)?.data
  if (!data || data.length < 200) return
  market.changeTransferFee(mint, { basisPoints: [0, 3, 250, 5_000, 10_000][below(5)]!, maximumRaw: [0n, 7n, 10_000n, maxU64][below(4)]! })
}
