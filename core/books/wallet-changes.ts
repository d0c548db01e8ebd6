// What is known to have changed a wallet's balances, and where the balances say that there was more.
import type { At, PastHoldings, WalletHistory } from '../contracts/index.ts'

/** What a wallet held at a block, smallest units by token (`addressKey`). */
export interface Balances {
  readonly nonce: number
  readonly amounts: ReadonlyMap<string, bigint>
}

/** Under this name the number of transactions is counted like a token. No address is it. */
export const nonceKey = 'nonce'

/** What is known to have moved, by token and block. */
export class KnownChanges {
  readonly #changes = new Map<string, { block: number; amountRaw: bigint }[]>()
  /** By token: blocks in their order, and the sums up to each. */
  readonly #sums = new Map<string, { blocks: readonly number[]; sums: readonly bigint[] }>()

  add(token: string, block: number, amountRaw: bigint): void {
    const list = this.#changes.get(token)
    if (list) list.push({ block, amountRaw })
    else this.#changes.set(token, [{ block, amountRaw }])
    this.#sums.delete(token)
  }

  /** Above the first block, and up to the last. */
  sum(token: string, after: number, upTo: number): bigint {
    return this.#until(token, upTo) - this.#until(token, after)
  }

  #until(token: string, block: number): bigint {
    const { blocks, sums } = this.#sumsOf(token)
    let [low, high] = [0, blocks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((blocks[middle] ?? 0) <= block) low = middle + 1
      else high = middle
    }
    return sums[low] ?? 0n
  }

  #sumsOf(token: string) {
    const known = this.#sums.get(token)
    if (known) return known
    const sorted = (this.#changes.get(token) ?? []).toSorted((a, b) => a.block - b.block)
    const sums = [0n]
    for (const { amountRaw } of sorted) sums.push((sums.at(-1) ?? 0n) + amountRaw)
    const made = { blocks: sorted.map(({ block }) => block), sums }
    this.#sums.set(token, made)
    return made
  }
}

/** Blocks after one up to another, whose balances differ by more than what is known. */
export interface OpenRange {
  readonly after: number
  readonly upTo: number
  readonly start: Balances
  readonly end: Balances
}

/** What the balances say beyond what is known, but for zeros; of the number of transactions where the coin is looked at. */
export function leftOver({ after, upTo, start, end }: OpenRange, changes: KnownChanges, coin: string): ReadonlyMap<string, bigint> {
  const left = new Map<string, bigint>()
  const add = (key: string, changed: bigint) => {
    const amountRaw = changed - changes.sum(key, after, upTo)
    if (amountRaw !== 0n) left.set(key, amountRaw)
  }
  if (end.amounts.has(coin)) add(nonceKey, BigInt(end.nonce - start.nonce))
  for (const [token, raw] of end.amounts) add(token, raw - (start.amounts.get(token) ?? 0n))
  return left
}

interface SearchParts {
  readonly history: Pick<WalletHistory, 'holdings'>
  readonly wallet: string
  /** The native coin's `addressKey`. */
  readonly coin: string
  readonly changes: KnownChanges
  /** Kept while the server ran, for nodes without the state of old blocks; with the number of transactions, where the ends of the range have it. */
  readonly kept: ReadonlyMap<number, ReadonlyMap<string, bigint>>
  /** Readings of a wallet at a block. */
  readonly maxReadings: number
}

/** Readings of one round trip. */
const readingsAtOnce = 32

/**
 * Halves a range until each part with something left over is one block, or no node tells more: then it is as narrow as it is known. Equal amounts
 * that came and went within a part without anything left over are not looked for.
 */
export async function narrow(whole: OpenRange, parts: SearchParts, at: At): Promise<readonly OpenRange[]> {
  const { changes, coin, maxReadings } = parts
  const found: OpenRange[] = []
  let open: readonly OpenRange[] = leftOver(whole, changes, coin).size > 0 ? [whole] : []
  for (let readings = 0; open.length > 0;) {
    const wide = open.filter(({ after, upTo }) => upTo - after > 1)
    found.push(...open.filter(({ after, upTo }) => upTo - after <= 1))
    const now = wide.slice(0, Math.min(readingsAtOnce, maxReadings - readings))
    if (now.length === 0) {
      found.push(...wide)
      break
    }
    readings += now.length
    const next: OpenRange[] = wide.slice(now.length)
    for (const [index, halves] of (await halve(now, parts, at)).entries()) {
      const range = now[index]
      if (!halves && range) found.push(range)
      for (const half of halves ?? []) if (leftOver(half, changes, coin).size > 0) next.push(half)
    }
    open = next
  }
  return found.toSorted((a, b) => a.after - b.after)
}

/** Undefined for a range whose inside nobody knows. */
async function halve(ranges: readonly OpenRange[], { history, wallet, coin, changes, kept }: SearchParts, at: At) {
  const left = ranges.map((range) => leftOver(range, changes, coin))
  const tokens = [...new Set(left.flatMap((each) => [...each.keys()]))].filter((key) => key !== nonceKey && key !== coin)
  const middles = ranges.map(({ after, upTo }) => Math.floor((after + upTo) / 2))
  const holdings = await history.holdings(wallet, tokens, middles, at)
  return ranges.map(({ after, upTo, start, end }, index): readonly OpenRange[] | undefined => {
    const read = holdings[index]
    const middle = read ? middles[index] : middleKept([...kept.keys()], after, upTo)
    if (middle === undefined) return undefined
    const between = read
      ? balancesOf(read, tokens, coin)
      : keptBetween(kept.get(middle) ?? new Map(), { after, upTo, start, end }, middle, changes)
    const of = [...start.amounts.keys()].filter((key) => key === coin || left[index]?.has(key))
    return [
      { after, upTo: middle, start: only(start, of), end: only(between, of) },
      { after: middle, upTo, start: only(between, of), end: only(end, of) },
    ]
  })
}

/** Of some of the tokens. */
export const only = ({ nonce, amounts }: Balances, keys: readonly string[]): Balances => ({
  nonce,
  amounts: new Map(keys.map((key) => [key, amounts.get(key) ?? 0n])),
})

/** The number of transactions at a kept block; undefined where an earlier version kept it without. */
export function keptNonce(kept: ReadonlyMap<string, bigint> | undefined): number | undefined {
  const nonce = kept?.get(nonceKey)
  return nonce === undefined ? undefined : Number(nonce)
}

/** What was not kept then is taken to be what it was before, and what is known to have moved since. */
function keptBetween(amounts: ReadonlyMap<string, bigint>, range: OpenRange, block: number, changes: KnownChanges): Balances {
  const { after, start } = range
  const nonce = keptNonce(amounts) ?? start.nonce + Number(changes.sum(nonceKey, after, block))
  const known = [...start.amounts].map(([token, raw]) => [token, amounts.get(token) ?? raw + changes.sum(token, after, block)] as const)
  return { nonce, amounts: new Map(known) }
}

/** The kept block that is nearest to the middle. */
function middleKept(blocks: readonly number[], after: number, upTo: number): number | undefined {
  const middle = (after + upTo) / 2
  return blocks.filter((block) => block > after && block < upTo).toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0]
}

/** Of a contract that does not answer as a token nothing is held. */
export function balancesOf({ nonce, coinRaw, balances }: PastHoldings, tokens: readonly string[], coin: string): Balances {
  return { nonce, amounts: new Map([...tokens.map((token, index) => [token, balances[index] ?? 0n] as const), [coin, coinRaw] as const]) }
}
