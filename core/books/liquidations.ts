// What exchanges on a chain liquidated of the wallets of a book: it is in no transaction of the journal, so each wallet is asked for, once these are read.
import { addressKey } from '../base/addresses.ts'
import type { Book } from './book.ts'
import { maxWallets, type ExchangeWallet } from './funding.ts'
import { addLiquidation, type Liquidation } from './perpetuals.ts'
import { at } from './trades.ts'

/** A wallet in a market of an exchange on a chain. */
export type MarketWallet = ExchangeWallet & { readonly market: string }

export interface LiquidationPeriod extends MarketWallet {
  /** Those in later blocks are wanted. */
  readonly afterBlock: number
  /** Milliseconds since the Unix epoch: those before it. */
  readonly toMs: number | undefined
}

/** Or why nobody knows, of some blocks or of all. */
export type Liquidations = { readonly found: readonly Liquidation[]; readonly unsearched?: string } | { readonly unknown: string }

export type LiquidationReader = (of: LiquidationPeriod, signal: AbortSignal) => Promise<Liquidations>

export interface LiquidationReaders {
  readonly liquidationsOf: LiquidationReader
  /** The number of the last block before a moment, milliseconds since the Unix epoch; undefined where nobody can tell. */
  blockBefore(of: ExchangeWallet, momentMs: number, signal: AbortSignal): Promise<number | undefined>
}

interface BookPeriod {
  readonly from: number | undefined
  readonly to: number | undefined
  /** Only a client's transactions are in the book. */
  readonly client: string | undefined
}

/** Positions that were changed before a book begins: they may be liquidated in its time. */
export interface EarlierPositions {
  readonly positions: readonly MarketWallet[]
  /** Of which positions nobody knows whether they are among these, where some may be missing. */
  readonly unread?: string
}

/** Adds them to the book's perpetuals. A position is a wallet's, and not a client's: of one client it is only said that there are some. */
export async function readLiquidations(
  book: Book,
  { from, to, client }: BookPeriod,
  before: EarlierPositions,
  { liquidationsOf, blockBefore }: LiquidationReaders,
  signal: AbortSignal,
): Promise<void> {
  const asked = new Set<string>()
  const firstBlocks = new Map<string, Promise<number | undefined>>()
  const positions = positionsIn(book, before.positions)
  for (const { firstBlock, ...of } of positions) {
    asked.add(of.address)
    const startBlock =
      from === undefined ? undefined : await at(firstBlocks, [of.chain, of.network, of.connector], () => blockBefore(of, from, signal))
    const isLate = from !== undefined && startBlock === undefined
    const afterBlock = startBlock ?? firstBlock
    const all = await (asked.size > maxWallets
      ? tooMany
      : afterBlock === undefined
        ? untimed
        : liquidationsOf({ ...of, afterBlock, toMs: to }, signal))
    const { connector, address } = of
    if ('unknown' in all) {
      book.perpetualOf(of).lacksFills = `what ${connector} liquidated is not known: ${all.unknown}`
      continue
    }
    const unsearched = all.unsearched ?? (isLate ? 'before the first change in the book' : undefined)
    if (all.found.length === 0 && unsearched === undefined) continue
    const perpetual = book.perpetualOf(of)
    if (client === undefined) {
      const wallet = at(perpetual.changed, [address], () => ({ blockNumber: afterBlock ?? 0, net: undefined }))
      for (const each of all.found) addLiquidation(perpetual, wallet, each)
      wallet.unsearched = unsearched
    } else if (all.found.length > 0)
      perpetual.lacksFills = `${connector} liquidated positions of its wallets, and not of clients: ask without one`
    else perpetual.lacksFills ??= `what ${connector} liquidated ${unsearched} is not known`
  }
  if (before.unread === undefined) return
  // Which markets these were in nobody knows: it is said in all.
  for (const of of positions) book.perpetualOf(of).lacksFills ??= `what ${of.connector} liquidated ${before.unread} is not known`
}

/** Those that the book has changed, with the block of its first change, and others. */
function positionsIn(
  { perpetuals }: Book,
  before: readonly MarketWallet[],
): readonly (MarketWallet & { readonly firstBlock: number | undefined })[] {
  const changed = [...perpetuals.values()].flatMap(({ chain, network, connector, market, changed: wallets }) =>
    [...wallets].map(([address, { blockNumber }]) => ({ chain, network, connector, market, address, firstBlock: blockNumber })),
  )
  const nameOf = ({ chain, network, connector, market, address }: MarketWallet) =>
    JSON.stringify([chain, network, connector, market, addressKey(address)])
  const names = new Set(changed.map(nameOf))
  const others = new Map(before.flatMap((each) => (names.has(nameOf(each)) ? [] : [[nameOf(each), each] as const])))
  return [...changed, ...[...others.values()].map((each) => ({ ...each, firstBlock: undefined }))]
}

/** Once the book was held against the positions that exchanges have: where these are the same, nothing is missing. */
export function noteUnsearched({ perpetuals }: Book): void {
  for (const perpetual of perpetuals.values()) {
    const { connector, changed, wallets } = perpetual
    for (const { unsearched } of changed.values())
      if (unsearched !== undefined) perpetual.lacksFills ??= `what ${connector} liquidated ${unsearched} is not known`
    for (const { unknownLiquidations: reason } of wallets.values())
      if (reason !== undefined) perpetual.lacksFills ??= `what ${connector} liquidated is not known: ${reason}`
  }
}

const tooMany = { unknown: `liquidations of ${maxWallets} wallets are read at most: take one wallet` }
const untimed = { unknown: 'blocks of the chain do not tell their time' }
