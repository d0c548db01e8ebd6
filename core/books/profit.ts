// What trades of one pair earned: what they sold against what it had cost, by average cost and by FIFO. Pure.
// A sale of more than was bought opens a short position, which later purchases close. So nothing depends on what the wallet held before: what is realised, and
// what the open position cost, always add up to what was received less what was spent.
import { divideRaw } from '../base/decimal.ts'

/** `average`: every unit that is held cost the same. `fifo`: what was bought first is sold first. */
export type CostMethod = 'average' | 'fifo'

/** Amounts in smallest units. */
interface Lot {
  baseRaw: bigint
  /** What it cost; of a short position what it brought. */
  quoteRaw: bigint
}

export interface Position {
  buy(baseRaw: bigint, quoteRaw: bigint): void
  sell(baseRaw: bigint, quoteRaw: bigint): void
  /** Amounts have so many times as many smallest units from now on. */
  rescale(base: bigint, quote: bigint): void
  /** In quote. What has to be rounded is rounded against the trader. */
  readonly realizedRaw: bigint
  /** Below 0: short. */
  readonly baseRaw: bigint
  /** What the open position cost; of a short one what it brought. */
  readonly openRaw: bigint
}

export function createPosition(method: CostMethod): Position {
  /** All long, or all short, oldest first. */
  let lots: Lot[] = []
  /** Those before it are closed: an array is not moved for each. */
  let first = 0
  let isShort = false
  let [heldRaw, openRaw, realizedRaw] = [0n, 0n, 0n]

  function open(baseRaw: bigint, quoteRaw: bigint): void {
    const [last] = method === 'average' ? lots.slice(-1) : []
    if (last) {
      last.baseRaw += baseRaw
      last.quoteRaw += quoteRaw
    } else lots.push({ baseRaw, quoteRaw })
    heldRaw += baseRaw
    openRaw += quoteRaw
  }

  /** @returns what the closed part had cost, or brought */
  function close(baseRaw: bigint): bigint {
    let [leftRaw, closedRaw] = [baseRaw, 0n]
    while (leftRaw > 0n) {
      const lot = lots[first]
      if (!lot) break
      const isWhole = lot.baseRaw <= leftRaw
      const takenRaw = isWhole ? lot.baseRaw : leftRaw
      const partRaw = isWhole ? lot.quoteRaw : divideRaw(lot.quoteRaw * takenRaw, lot.baseRaw, isShort ? 'down' : 'up')
      if (isWhole) first += 1
      else {
        lot.baseRaw -= takenRaw
        lot.quoteRaw -= partRaw
      }
      leftRaw -= takenRaw
      closedRaw += partRaw
    }
    if (first > 1_000 && first > lots.length / 2) {
      lots = lots.slice(first)
      first = 0
    }
    heldRaw -= baseRaw
    openRaw -= closedRaw
    return closedRaw
  }

  function trade(isSale: boolean, baseRaw: bigint, quoteRaw: bigint): void {
    if (baseRaw <= 0n) return
    if (heldRaw === 0n) {
      ;[lots, first, isShort] = [[], 0, isSale]
    }
    if (isShort === isSale) return open(baseRaw, quoteRaw)
    const closesRaw = baseRaw < heldRaw ? baseRaw : heldRaw
    const exchangedRaw = closesRaw === baseRaw ? quoteRaw : divideRaw(quoteRaw * closesRaw, baseRaw, isSale ? 'down' : 'up')
    const closedRaw = close(closesRaw)
    realizedRaw += isSale ? exchangedRaw - closedRaw : closedRaw - exchangedRaw
    if (closesRaw < baseRaw) trade(isSale, baseRaw - closesRaw, quoteRaw - exchangedRaw)
  }

  return {
    buy: (baseRaw, quoteRaw) => trade(false, baseRaw, quoteRaw),
    sell: (baseRaw, quoteRaw) => trade(true, baseRaw, quoteRaw),
    rescale(base, quote) {
      for (const lot of lots) {
        lot.baseRaw *= base
        lot.quoteRaw *= quote
      }
      ;[heldRaw, openRaw, realizedRaw] = [heldRaw * base, openRaw * quote, realizedRaw * quote]
    },
    get realizedRaw() {
      return realizedRaw
    },
    get baseRaw() {
      return isShort ? -heldRaw : heldRaw
    },
    get openRaw() {
      return openRaw
    },
  }
}
