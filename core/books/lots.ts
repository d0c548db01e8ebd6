// Purchases that are open, oldest first. One sale may close a million of them, so they are kept in blocks with sums: what closes or rescales many looks at
// blocks. Pure.

/** Amounts in smallest units. */
export interface Lot {
  baseRaw: bigint
  /** What it cost; of a short position what it brought. */
  quoteRaw: bigint
}

export interface Lots {
  add(lot: Lot): void
  /** May be changed. */
  oldest(): Lot | undefined
  /** Removes some of the oldest whose base is together at most that much. @returns their sums; undefined where the oldest has more, or there is none */
  take(mostBaseRaw: bigint): Lot | undefined
  /** Amounts have so many times as many smallest units from now on. */
  rescale(base: bigint, quote: bigint): void
}

interface Block {
  readonly lots: Lot[]
  /** Of all its lots, in the units of now. */
  readonly sum: Lot
  /** Units of now in one of its lots' units. */
  base: bigint
  quote: bigint
}

const lotsInBlock = 500

export function createLots(): Lots {
  /** Oldest last. */
  let oldest: Lot[] = []
  const blocks: Block[] = []

  function openBlock(): void {
    if (oldest.length > 0) return
    const { lots, base, quote } = blocks.shift() ?? { lots: [], base: 1n, quote: 1n }
    for (const lot of lots) rescaleLot(lot, base, quote)
    oldest = lots.toReversed()
  }

  return {
    add(lot) {
      let last = blocks.at(-1)
      // Its lots have the units of when they were added.
      if (!last || last.lots.length === lotsInBlock || last.base !== 1n || last.quote !== 1n) {
        last = { lots: [], sum: { baseRaw: 0n, quoteRaw: 0n }, base: 1n, quote: 1n }
        blocks.push(last)
      }
      last.lots.push(lot)
      last.sum.baseRaw += lot.baseRaw
      last.sum.quoteRaw += lot.quoteRaw
    },
    oldest() {
      openBlock()
      return oldest.at(-1)
    },
    take(mostBaseRaw) {
      const [block] = blocks
      if (oldest.length === 0 && block && block.sum.baseRaw <= mostBaseRaw) return blocks.shift()?.sum
      openBlock()
      const lot = oldest.at(-1)
      return lot && lot.baseRaw <= mostBaseRaw ? oldest.pop() : undefined
    },
    rescale(base, quote) {
      for (const lot of oldest) rescaleLot(lot, base, quote)
      for (const block of blocks) {
        rescaleLot(block.sum, base, quote)
        block.base *= base
        block.quote *= quote
      }
    },
  }
}

function rescaleLot(lot: Lot, base: bigint, quote: bigint): void {
  lot.baseRaw *= base
  lot.quoteRaw *= quote
}
