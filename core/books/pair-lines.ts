// The lines of a book in the order of time. That of one pair also has what is of it, and does not say so: orders that were placed together with those in other
// markets, or by an earlier version, which kept no pair of a batch, and withdrawals of collateral, which settle funding in all markets.
import { isOfPair, pairInName } from '../store/entry-filters.ts'
import type { Entry } from '../transactions/entry.ts'
import type { EntryFilter, EntryPage } from '../transactions/journal/journal.ts'
import { lineOf, type BookLine, type LineReaders } from './book-lines.ts'
import { readInOrder } from './in-order.ts'

type BookFilter = Omit<EntryFilter, 'from' | 'to' | 'cursor' | 'limit' | 'archived'>

/** Where that may be; undefined where the filter asks for no pair. */
export function unpaired({ pair, pairAliases: _aliases, hasUnlisted: _unlisted, ...others }: BookFilter) {
  if (pair === undefined) return undefined
  return { orders: { ...others, kind: 'order' }, withdrawals: { ...others, kind: 'collateral' } } satisfies Record<string, BookFilter>
}

interface LineReading {
  list(filter: EntryFilter): Promise<EntryPage>
  readonly filter: BookFilter
  /** Milliseconds since the Unix epoch: from then on, and before. */
  readonly from: number | undefined
  readonly to: number
  /** Of those that the filter finds. */
  lineOf(entry: Entry): BookLine | undefined
  readonly readers: LineReaders
  readonly signal: AbortSignal
}

interface LineStretch {
  readonly lines: readonly BookLine[]
  readonly entries: number
  readonly damaged: number
  /** Absent where more of the same time comes. */
  readonly until?: number
}

export async function* readLines({ filter, from, to, readers, lineOf: extract, ...reading }: LineReading): AsyncGenerator<LineStretch> {
  const others = unpaired(filter)
  let start = from
  for await (const { kept, entries, damaged, until } of readInOrder({ ...reading, filter, from, to, extract })) {
    // Keys may be ahead of the clock: then they are not in the order of time.
    let lines = isSorted(kept) ? kept : merged(kept, [])
    if (others) {
      const period = { ...reading, from: start, to: until }
      // These are few.
      const withdrawn = { ...period, filter: others.withdrawals, extract: (entry: Entry) => withdrawalOf(entry, readers) }
      for await (const each of readInOrder(withdrawn)) lines = merged(lines, each.kept)
      const orders = { ...others.orders, isOfNoPair: true as const }
      for await (const placed of readInOrder({ ...period, filter: orders, extract: (entry) => ordersIn(entry, filter, readers) })) {
        const lastMs = placed.kept.at(-1)?.atMs ?? -Infinity
        const later = lines.findIndex(({ atMs }) => atMs > lastMs)
        const before = later < 0 ? lines : lines.slice(0, later)
        lines = later < 0 ? [] : lines.slice(later)
        yield { lines: merged(before, placed.kept), entries: placed.kept.length, damaged: placed.damaged }
      }
    }
    yield { lines, entries, damaged, until }
    start = until
  }
}

const isSorted = (lines: readonly BookLine[]): boolean => lines.every(({ atMs }, index) => atMs >= (lines[index - 1]?.atMs ?? -Infinity))

const merged = (some: readonly BookLine[], more: readonly BookLine[]): readonly BookLine[] =>
  [...some, ...more].toSorted((one, other) => one.atMs - other.atMs)

/** What its transaction cost and moved is of no pair. */
function withdrawalOf(entry: Entry, readers: LineReaders): BookLine | undefined {
  const line = lineOf(entry, readers)
  return line?.withdrawal && { ...line, feeRaw: undefined, movements: undefined, lacksFee: false, lacksMovements: false }
}

/** Of the orders in the pair. What their transaction cost and moved is that of all its orders: where some are in other markets, nobody knows which part is these'. */
function ordersIn(entry: Entry, filter: BookFilter, readers: LineReaders): BookLine | undefined {
  const { chain, network, orders = [] } = entry
  const own = orders.filter(({ market }) => isOfPair(filter, { chain, network, pair: pairInName(market) ?? null }))
  const line = own.length === 0 ? undefined : lineOf({ ...entry, orders: own }, readers)
  if (!line || own.length === orders.length) return line
  const isOnChain = entry.signer === undefined
  return { ...line, feeRaw: undefined, movements: undefined, lacksFee: isOnChain, lacksMovements: isOnChain }
}
