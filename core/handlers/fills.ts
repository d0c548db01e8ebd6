// What a transaction brought: read from its receipt, by core where the events of tokens tell it, else by the version of the plugin that planned it. It is
// journaled once the transaction is final: a plugin may be gone when somebody asks, and an archived transaction has no receipt.
import { fits } from '../base/schema-check.ts'
import { NetworkPollResponse, type BookSet } from '../api/index.ts'
import { pause } from '../base/async.ts'
import type { ActionOutcome, AMMRange, Json, RangeAmounts, RangeFill } from '../contracts/index.ts'
import type { MaybeAsync } from '../contracts/plugin.ts'
import type { Entry } from '../transactions/entry.ts'
import { readTradeFill, showTradeFill } from './amm/trade.ts'
import { showLiquidityFill } from './amm/range-changes.ts'
import { isAboutShares, showSharesFill } from './amm/shares.ts'
import { orUndefined } from './context.ts'
import { showPositionFill } from './perp/fills.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../plugins/index.ts'

type Fill = NonNullable<NetworkPollResponse['fill']>

/**
 * `none`: there is nothing to read. `pending`: the plugin is being started. `gone`: the version that planned it does not run here. `failed`: it
 * does, and could not tell.
 */
export type FillReading = { readonly is: 'read'; readonly fill: Fill } | { readonly is: 'none' | 'pending' | 'gone' | 'failed' }

const none: FillReading = { is: 'none' }

type Fills = Pick<Registry, 'plannedBy' | 'pending'>

/** @param tries how often the chain is asked for what the receipt alone does not tell */
export async function readFill(entry: Entry, receipt: Json, network: NetworkEntry, registry: Fills, tries = 1): Promise<FillReading> {
  const { kind, connector, about, address } = entry
  if (receipt === null || connector === undefined || !hasFill(kind)) return none
  const venue = registry.plannedBy(entry, network)
  const pending = venue ? undefined : registry.pending(connector)
  // What a contained plugin says of a trade is not taken. Whether it was contained when it planned stands in the journal.
  const isContained = isReadByCore(entry) || (venue?.contained ?? (pending?.tier === 'contained' && pending.allowedBy === 'operator'))
  if (kind === 'trade' && isContained && (network.impl.evm ?? network.impl.altchain)?.moved)
    return attempt(() => {
      const fill = readTradeFill(receipt, about, address, network.impl)
      return fill && showTradeFill(fill, about)
    })
  if (pending) return { is: 'pending' }
  return venue ? attempt(() => readBy(venue, entry, receipt, tries)) : { is: 'gone' }
}

async function readBy({ impl }: VenueEntry, { kind, memo, about }: Entry, receipt: Json, tries: number): Promise<Fill | undefined> {
  if (kind === 'trade') {
    const fill = await impl.AMM?.fill(receipt, memo)
    return fill && showTradeFill(fill, about)
  }
  if (kind === 'liquidity' && isAboutShares(about)) {
    const fill = await impl.AMM_SHARES?.sharesFill(receipt, memo)
    return fill && showSharesFill(fill, about)
  }
  if (kind === 'liquidity') {
    const range = impl.AMM_RANGE
    const fill = range && (await range.rangeFill(receipt, memo))
    if (!fill) return undefined
    const known = await withoutLiquidity(fill, { range, receipt, memo, tries })
    return { ...showLiquidityFill(known, about), ...(fill.fees && !known.fees && { lacksFees: true }) }
  }
  const fill = await impl.PERP_AMM?.perpFill(receipt, memo)
  return fill && showPositionFill(fill, about)
}

/** The journal keeps what was read. */
const journalTries = 3
const owedTimeoutMs = 5_000
const pauseMs = 1_000

/** Liquidity that others had removed before is paid out with the fees, and is none. Where nobody can tell it, nobody can tell the fees. */
async function withoutLiquidity(
  fill: RangeFill,
  { range, receipt, memo, tries }: { range: MaybeAsync<AMMRange>; receipt: Json; memo: Json; tries: number },
): Promise<RangeFill> {
  const { fees, ...others } = fill
  if (!fees || !range.owedLiquidity || (fees.amount0Raw === 0n && fees.amount1Raw === 0n)) return fill
  let owed: RangeAmounts | undefined
  for (let left = tries; left > 0 && !owed; left -= 1) {
    owed = await orUndefined(() => range.owedLiquidity?.(receipt, memo, { signal: AbortSignal.timeout(owedTimeoutMs) }))
    if (!owed && left > 1) await pause(pauseMs)
  }
  const restOf = (raw: bigint, owedRaw: bigint) => (raw > owedRaw ? raw - owedRaw : 0n)
  if (!owed) return others
  return {
    ...others,
    fees: { amount0Raw: restOf(fees.amount0Raw, owed.amount0Raw), amount1Raw: restOf(fees.amount1Raw, owed.amount1Raw) },
  }
}

/** A connector that fails here has logged its defect. */
async function attempt(read: () => Fill | undefined | Promise<Fill | undefined>): Promise<FillReading> {
  try {
    const fill = await read()
    return fill ? { is: 'read', fill } : none
  } catch {
    return { is: 'failed' }
  }
}

/** Whether nobody but the plugin that planned it can read what it brings. */
export const isReadByPlugin = (entry: Entry): boolean => (hasFill(entry.kind) || entry.kind === 'order') && !isReadByCore(entry)

export const hasFill = (kind: Entry['kind']): boolean => kind === 'trade' || kind === 'liquidity' || kind === 'position'

/** Its `about` says where the events are: no plugin is needed. */
const isReadByCore = ({ kind, about }: Entry): boolean =>
  kind === 'trade' && typeof about === 'object' && about !== null && 'moves' in about

const StoredFill = NetworkPollResponse.properties.fill

/** A server wrote it, maybe of another version: undefined where it is none of the fills that callers know. */
export const journaledFill = ({ kind, outcome }: Entry): Fill | undefined =>
  hasFill(kind) && fits(StoredFill, outcome) ? outcome : undefined

/** The outcomes of the actions of an order's transaction: as they were journaled, or by the version that planned it. */
export async function readActionOutcomes(
  entry: Entry,
  type: BookSet,
  { venue, network, registry }: { venue: VenueEntry; network: NetworkEntry; registry: Pick<Registry, 'plannedBy'> },
): Promise<readonly ActionOutcome[] | undefined> {
  const { outcome, landed, memo, signer } = entry
  if (outcome !== undefined) return outcome as unknown as readonly ActionOutcome[]
  // Who signs actions of its own is trusted: its later versions read what earlier ones wrote.
  const reader = registry.plannedBy(entry, network) ?? (signer === undefined ? undefined : venue)
  return orUndefined(async () => reader?.impl[type]?.outcome(landed?.receipt ?? null, memo))
}

/**
 * Reads what the journal is to keep of a transaction that is about to be final; undefined where nothing is. The reading rejects where it cannot be done
 * now, but may be in a moment: that keeps the transaction from being final, for a plugin of a third party alone.
 */
export function outcomeToJournal(
  entry: Entry,
  registry: Fills & Pick<Registry, 'networks' | 'venueOf'>,
): (() => Promise<Json | undefined>) | undefined {
  const { kind, connector, plugin, landed } = entry
  if (!landed?.ok || connector === undefined || !(hasFill(kind) || kind === 'order')) return undefined
  const network = registry.networks.find((each) => each.chain === entry.chain && each.network === entry.network)
  const venue = network && registry.venueOf(entry, network)
  if (!network) return undefined
  if (isReadByCore(entry) || venue?.builtIn)
    return kind === 'order' ? undefined : async () => fillToJournal(await readFill(entry, landed.receipt, network, registry, journalTries))
  // Where nobody allowed it, there is no version to wait for.
  if (!venue && plugin === undefined) return undefined
  if (kind === 'order') return () => ordersToJournal(entry, registry.plannedBy(entry, network))
  return async () => {
    const reading = await readFill(entry, landed.receipt, network, registry, journalTries)
    if (reading.is === 'read' || reading.is === 'none') return fillToJournal(reading)
    throw untold(entry, reading.is)
  }
}

const fillToJournal = (reading: FillReading): Json | undefined => (reading.is === 'read' ? { ...reading.fill } : undefined)

async function ordersToJournal(entry: Entry, venue: VenueEntry | undefined): Promise<Json | undefined> {
  if (!venue) throw untold(entry, 'gone')
  const { CLOB, MARGIN_CLOB, PERP_CLOB } = venue.impl
  const [book, ...others] = [CLOB, MARGIN_CLOB, PERP_CLOB].filter((each) => each !== undefined)
  // Of one with several kinds of books the journal does not say which it was.
  return book && others.length === 0
    ? (await book.outcome(entry.landed?.receipt ?? null, entry.memo)).map((each) => ({ ...each }))
    : undefined
}

const untold = ({ connector }: Entry, why: string): Error => new Error(`${connector} does not tell what the transaction brought: ${why}`)
