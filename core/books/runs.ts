// The books that are being read for callers. One of a million transactions takes minutes, longer than a request may: who asks again with the same words gets the
// same run, and its sums once they are whole.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { addressKey, isSameAddress } from '../base/addresses.ts'
import { SluiceError } from '../base/errors.ts'
import { chargeAlike } from '../base/fair-turns.ts'
import { ownId } from '../config/clients.ts'
import { pairName } from '../store/entry-filters.ts'
import { payerOf, type Entry } from '../transactions/entry.ts'
import type { EntryFilter, EntryPage } from '../transactions/journal/journal.ts'
import { newestEntries } from '../transactions/newest-entries.ts'
import { keyTimeMs } from '../transactions/submit-request.ts'
import { createBook, type Book } from './book.ts'
import { lineOf, type LineReaders, type OnNetwork } from './book-lines.ts'
import type { OrderTrade } from './trades.ts'
import { readLines, unpaired } from './pair-lines.ts'
import { compareHeld, type HeldReader } from './held-positions.ts'
import { readFunding, type FundingReaders } from './funding.ts'
import { readInOrder } from './in-order.ts'
import { noteUnsearched, readLiquidations, type EarlierPositions, type LiquidationReaders, type MarketWallet } from './liquidations.ts'
import { createOrderLiquidations, type OrderLiquidationReader } from './order-liquidations.ts'
import { comparePositions, type PositionReader } from './positions.ts'

export interface BookRequest {
  readonly filter: Omit<EntryFilter, 'from' | 'to' | 'cursor' | 'limit' | 'archived'>
  /** Milliseconds since the Unix epoch. */
  readonly from: number | undefined
  readonly to: number | undefined
}

export interface BookRun {
  readonly book: Book
  /** Transactions that were read, and those that cannot be. */
  entries: number
  damaged: number
  /** Everything before it was read. */
  until: number | undefined
  /** How much of the time that is asked for was read, from 0 to 1; absent where nobody knows when it begins. */
  part: number | undefined
  /** `failed`: `done` has rejected. */
  state: 'reading' | 'whole' | 'failed'
  readonly done: Promise<void>
}

export interface BookRuns {
  /**
   * Where there is no room, one of a client that has several ends for one of a client that has none.
   * @param name who asks, and for what
   * @param signal of the request: exchanges are asked at the expense of whom it works for, also after it
   * @throws SluiceError OVERLOADED
   */
  of(client: string, name: string, request: BookRequest, signal: AbortSignal): BookRun
  /** Its sums are told, or its failure. */
  end(name: string): void
}

const maxRuns = 2
/** Nobody has asked for it in so long: it ends, or its sums are forgotten. */
const unusedMs = 60_000
/** Added up before other work has its turn. */
const linesInTurn = 500

export interface BookReaders extends LineReaders, LiquidationReaders {
  readonly fundingOf: FundingReaders['fundingOf']
  /** Where wallets placed orders in perpetuals before a moment, as far as the filter takes their transactions. */
  marketsBefore(filter: BookRequest['filter'], beforeMs: number, signal: AbortSignal): ReturnType<FundingReaders['marketsBefore']>
  /** Changes of positions on a chain before a moment, as `readChangesBefore` reads them. */
  changesBefore(
    filter: BookRequest['filter'],
    beforeMs: number,
    tells: (entry: Entry) => boolean,
    signal: AbortSignal,
  ): Promise<{ readonly lacksSome: boolean }>
  readonly positionsOf: PositionReader
  readonly orderLiquidationsOf: OrderLiquidationReader
  readonly heldPositions: HeldReader
  /** What wallets held before the journal begins. */
  readonly openings: readonly (OnNetwork & { readonly wallet: string; readonly fill: () => OrderTrade })[]
  /** The token in whose place a token is traded. */
  tokenFor(on: OnNetwork, token: string): string
  /** Whether the server has its key. */
  isWallet(chain: string, address: string): boolean
}

export function createBookRuns(
  list: (filter: EntryFilter) => Promise<EntryPage>,
  readers: BookReaders,
  steadyMs: () => number = () => performance.now(),
): BookRuns {
  const runs = new Map<string, { readonly client: string; readonly run: BookRun; readonly ending: AbortController; usedAt: number }>()

  function end(name: string): void {
    runs.get(name)?.ending.abort()
    runs.delete(name)
  }

  function endUnused(): void {
    for (const [name, { usedAt }] of runs) if (steadyMs() - usedAt > unusedMs) end(name)
  }

  /** The latest of a client that has several, for one that has none: so nobody holds all places. */
  function makeRoomFor(client: string): boolean {
    const clients = [...runs.values()].map((each) => each.client)
    const later = [...runs].findLast(([, each]) => clients.indexOf(each.client) < clients.lastIndexOf(each.client))
    if (!later || clients.includes(client)) return false
    end(later[0])
    return true
  }

  return {
    of(client, name, request, signal) {
      endUnused()
      const known = runs.get(name)
      if (known) {
        known.usedAt = steadyMs()
        return known.run
      }
      if (runs.size >= maxRuns && !makeRoomFor(client))
        throw new SluiceError('OVERLOADED', `The server reads ${maxRuns} books already. Try again shortly.`, { retryAfterSeconds: 5 })
      const ending = new AbortController()
      chargeAlike(ending.signal, signal)
      const own = { client, run: startRun(request, list, readers, ending.signal, endUnused), ending, usedAt: steadyMs() }
      runs.set(name, own)
      return own.run
    },
    end,
  }
}

function startRun(
  { filter, from, to }: BookRequest,
  list: (filter: EntryFilter) => Promise<EntryPage>,
  readers: BookReaders,
  signal: AbortSignal,
  onStretch: () => void,
): BookRun {
  const book = createBook({ isWhole: from === undefined && filter.client === undefined, tokenOf: readers.tokenFor })
  const run: BookRun = { book, entries: 0, damaged: 0, until: from, part: undefined, state: 'reading', done: read() }
  run.done.then(
    () => void (run.state = 'whole'),
    () => void (run.state = 'failed'),
  )
  return run

  async function read(): Promise<void> {
    const { client } = filter
    addOpenings()
    const last = await lastMs()
    const earlier = from === undefined || last === undefined ? [] : await readers.marketsBefore(filter, from, signal)
    if (last !== undefined) await readOwn(Math.min(last + 1, to ?? Infinity), earlier)
    else book.finish()
    if (client !== undefined && client !== ownId) await readUpkeep(client)
    if (last === undefined) return
    const { fundingOf } = readers
    await readFunding(book, { from, to, client }, { fundingOf, marketsBefore: async () => earlier }, signal)
    await readLiquidations(book, { from, to, client }, await positionsBefore(), readers, signal)
    if (from === undefined && to === undefined && client === undefined) await comparePositions(book, readers.positionsOf, signal)
    noteUnsearched(book)
    // What was open at an earlier moment, the chain of now does not tell.
    if (to === undefined) await compareHeld(book, readers.heldPositions, isOwn, signal)
  }

  function isOwn(chain: string, address: string): boolean {
    const { address: only, addresses } = filter
    if (only !== undefined) return isSameAddress(only, address)
    return addresses ? addresses.has(addressKey(address)) : readers.isWallet(chain, address)
  }

  /** They are of a wallet, and of no client or exchange. Of one pair those whose tokens it names. */
  function addOpenings(): void {
    const { client, connector, chain, network, pair, pairAliases = [] } = filter
    if (client !== undefined || connector !== undefined) return
    for (const { fill, wallet, ...on } of readers.openings) {
      const { atMs, trade } = fill()
      const isOf = (chain ?? on.chain) === on.chain && (network ?? on.network) === on.network && isOwn(on.chain, wallet)
      if (!isOf || atMs < (from ?? -Infinity) || atMs >= (to ?? Infinity)) continue
      if (pair !== undefined && ![pair, ...pairAliases.map((each) => each.pair)].includes(pairName(trade.base, trade.quote))) continue
      book.addFill(on, { atMs, trade, isOpening: true })
    }
  }

  /** When the newest of these was requested, also of one that cannot be read: that ends no book, those before it count. */
  async function newestMs(of: BookRequest['filter']): Promise<number | undefined> {
    const { entries, damaged } = await newestEntries(list, { ...of, archived: true, limit: 1 }, { signal })
    const times = [...entries.map(({ key }) => key), ...damaged].map(keyTimeMs)
    return times.length === 0 ? undefined : Math.max(...times)
  }

  /** Undefined where there is nothing. */
  async function lastMs(): Promise<number | undefined> {
    const times: number[] = []
    for (const each of [filter, ...Object.values(unpaired(filter) ?? {})]) times.push((await newestMs(each)) ?? -Infinity)
    const newest = Math.max(...times)
    return Number.isFinite(newest) ? newest : undefined
  }

  async function readOwn(end: number, earlier: readonly MarketWallet[]): Promise<void> {
    const { client } = filter
    const liquidations = createOrderLiquidations({ book, toMs: to, client, read: readers.orderLiquidationsOf, signal })
    if (from !== undefined) for (const each of earlier) await liquidations.add(each, from)
    const extract = (entry: Entry) => (client === undefined || payerOf(entry) === client ? lineOf(entry, readers) : undefined)
    for await (const stretch of readLines({ list, filter, from, to: end, lineOf: extract, readers, signal })) {
      for (const [index, line] of stretch.lines.entries()) {
        if (line.fills) await liquidations.addFor(line)
        book.take(line)
        if (index % linesInTurn === linesInTurn - 1) await nextTurn()
      }
      run.entries += stretch.entries
      run.damaged += stretch.damaged
      if (stretch.until !== undefined) run.until = stretch.until
      if (stretch.until !== undefined && from !== undefined && end > from) run.part = (stretch.until - from) / (end - from)
      onStretch()
    }
    book.finish()
    liquidations.noteUnknown()
  }

  /** Of perpetuals on a chain, by their changes before the book begins. */
  async function positionsBefore(): Promise<EarlierPositions> {
    if (from === undefined) return { positions: [] }
    const positions = new Map<string, MarketWallet>()
    const tells = (entry: Entry): boolean => {
      const { chain, network } = entry
      const { perpetual } = lineOf(entry, readers) ?? {}
      if (!perpetual) return false
      const { connector, market, address } = perpetual
      positions.set(JSON.stringify([chain, network, connector, market, address]), { chain, network, connector, market, address })
      return true
    }
    const { lacksSome } = await readers.changesBefore(filter, from, tells, signal)
    return { positions: [...positions.values()], ...(lacksSome && { unread: 'of positions of which a change cannot be read' }) }
  }

  /** What the server did by itself for a client, to cancel at a deadline or to fill a nonce. It trades nothing, so that it may come last. */
  async function readUpkeep(client: string): Promise<void> {
    const ofServer = { ...filter, client: ownId }
    const last = await newestMs(ofServer)
    if (last === undefined) return
    const extract = (entry: Entry) => (entry.paidBy === client ? { line: lineOf(entry, readers) } : undefined)
    const end = Math.min(last + 1, to ?? Infinity)
    for await (const { kept, damaged } of readInOrder({ list, filter: ofServer, from, to: end, extract, signal })) {
      for (const { line } of kept) if (line) book.take(line)
      run.entries += kept.length
      run.damaged += damaged
      onStretch()
    }
  }
}
