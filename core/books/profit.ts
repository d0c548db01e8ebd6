// What trades of one pair earned: what they sold against what it had cost, by average cost and by FIFO. Pure.
// A sale of more than was bought opens a short position, which later purchases close. So nothing depends on what the wallet held before: what is realised, and
// what the open position cost, always add up to what was received less what was spent.
import { divideRaw } from '../base/decimal.ts'
import { createLots } from './lots.ts'

/** `average`: every unit that is held cost the same. `fifo`: what was bought first is sold first. */
export type CostMethod = 'average' | 'fifo'

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
  /** All long, or all short. By average cost there is one. */
  const lots = createLots()
  let isShort = false
  let [heldRaw, openRaw, realizedRaw] = [0n, 0n, 0n]

  function open(baseRaw: bigint, quoteRaw: bigint): void {
    const only = method === 'average' ? lots.oldest() : undefined
    if (only) {
      only.baseRaw += baseRaw
      only.quoteRaw += quoteRaw
    } else lots.add({ baseRaw, quoteRaw })
    heldRaw += baseRaw
    openRaw += quoteRaw
  }

  /** @returns what the closed part had cost, or brought */
  function close(baseRaw: bigint): bigint {
    let [leftRaw, closedRaw] = [baseRaw, 0n]
    while (leftRaw > 0n) {
      const whole = lots.take(leftRaw)
      if (whole) {
        leftRaw -= whole.baseRaw
        closedRaw += whole.quoteRaw
        continue
      }
      const lot = lots.oldest()
      if (!lot) break
      const partRaw = divideRaw(lot.quoteRaw * leftRaw, lot.baseRaw, isShort ? 'down' : 'up')
      lot.baseRaw -= leftRaw
      lot.quoteRaw -= partRaw
      closedRaw += partRaw
      leftRaw = 0n
    }
    heldRaw -= baseRaw
    openRaw -= closedRaw
    return closedRaw
  }

  function trade(isSale: boolean, baseRaw: bigint, quoteRaw: bigint): void {
    if (baseRaw <= 0n) return
    if (heldRaw === 0n) isShort = isSale
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
      lots.rescale(base, quote)
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
