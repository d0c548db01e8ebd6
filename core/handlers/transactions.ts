// The journal as callers read it, a page or all of it, and how old entries leave it.
import type { TransactionsLine, TransactionsRequest } from '../api/index.ts'
import type { RecordStream } from '../base/csv.ts'
import { badFields } from '../base/errors.ts'
import { inTurns } from '../base/fair-turns.ts'
import { momentForms, readMoment } from '../base/moments.ts'
import { pairName, type PairAlias } from '../store/entry-filters.ts'
import { dayMs } from '../transactions/archiver.ts'
import type { Entry } from '../transactions/entry.ts'
import type { EndedPosition, EntryFilter } from '../transactions/journal/journal.ts'
import { visibleWallets, type Caller, type Handlers, type Services } from './context.ts'
import { journalView, showTransaction, type JournalView } from './journaled.ts'
import { badCursor, readLimit } from './pages.ts'
import { transactionColumns } from './transaction-columns.ts'

export const transactionHandlers = {
  /** Reads the journal only, so it works also for networks that are down and for plugins that are gone. */
  Transactions: async (request, { services, caller }) => {
    const filter = readFilter(request, caller, services.registry)
    const limit = readLimit(request.limit, services.settings)
    const { entries, damaged, nextCursor } = await services.transactions.list({ ...filter, shownOnly: true, limit })
    const view = await viewOf(entries, services)
    return {
      transactions: entries.map((entry) => showTransaction(entry, view)),
      ...(damaged && { unavailable: damaged.map((id) => ({ id, reason: damagedRow })) }),
      ...(nextCursor !== undefined && { nextCursor }),
    }
  },

  TransactionsPrune: async ({ olderThanDays, dryRun, after }, { services: { archiver }, signal }) => {
    const position = after === undefined ? undefined : readPosition(after)
    const of = { olderThanMs: olderThanDays * dayMs, isDryRun: dryRun ?? false, ...(position && { after: position }) }
    const { archived, kept, next } = await archiver.prune(of, signal)
    return { archived, kept, folder: archiver.folder, ...(next && { next: `${next.endedAt}:${next.key}` }) }
  },
} satisfies Partial<Handlers>

async function viewOf(
  entries: readonly Entry[],
  { transactions, registry, deliveries }: Pick<Services, 'transactions' | 'registry' | 'deliveries'>,
): Promise<JournalView> {
  const lost = await deliveries.lostOf(entries.flatMap(({ idempotencyKey }) => idempotencyKey ?? []))
  return { ...journalView(transactions, registry), deliveryOf: ({ idempotencyKey = '' }) => lost.get(idempotencyKey) }
}

/** Entries that are read at once where all are wanted. */
const entriesAtOnce = 100

/** All transactions that match, newest first, of the journal and of the archive. */
export const transactionStream = (
  request: TransactionsRequest,
  {
    services,
    caller,
    signal,
  }: { services: Pick<Services, 'transactions' | 'registry' | 'deliveries'>; caller: Caller; signal: AbortSignal },
): RecordStream<TransactionsLine> => {
  const filter = { archived: true, shownOnly: true, ...readFilter(request, caller, services.registry) }
  async function* pages(): AsyncGenerator<readonly TransactionsLine[]> {
    let left = request.limit ?? Infinity
    let cursor = request.cursor
    do {
      const limit = Math.min(entriesAtOnce, left)
      const page = await services.transactions.list({ ...filter, limit, ...(cursor !== undefined && { cursor }) })
      const { entries, damaged = [], nextCursor } = page
      const view = await viewOf(entries, services)
      const lines: TransactionsLine[] = damaged.map((id) => ({ id, unavailable: damagedRow }))
      await inTurns(entries, (entry) => void lines.push(showTransaction(entry, view)), { signal })
      yield damaged.length === 0 ? lines : lines.toSorted((a, b) => (a.id < b.id ? 1 : -1))
      left -= lines.length
      cursor = nextCursor
    } while (cursor !== undefined && left > 0)
  }
  return { pages: pages(), columns: transactionColumns }
}

export const damagedRow = 'its row in the store is damaged: the log says how'

/**
 * @param registry whose lists have other names of the pair
 * @throws SluiceError INCOMPLETE_PARAMS
 */
export function readFilter(request: TransactionsRequest, caller: Caller, registry: Networks): EntryFilter {
  if (request.cursor !== undefined && !cursorPattern.test(request.cursor)) throw badCursor()
  const addresses = visibleWallets(caller)
  const { since, until, pair, ...others } = request
  return {
    ...others,
    ...readPeriod(since, until),
    ...(pair !== undefined && readPair(pair, request, registry)),
    ...(addresses && { addresses }),
  }
}

function readPosition(after: string): EndedPosition {
  const [endedAt = '', key = ''] = after.split(':')
  return { endedAt: Number(endedAt), key }
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function readPeriod(since: string | undefined, until: string | undefined): { from?: number; to?: number } {
  const [from, to] = [readField('since', since), readField('until', until)]
  if (from !== undefined && to !== undefined && from >= to)
    throw badFields([{ field: 'since', problem: `is "${since}", which is not before until, "${until}": there can be none in between` }])
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

function readField(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const moment = readMoment(text)
  if (moment === undefined) throw badFields([{ field, problem: `is "${text}", but must be ${momentForms}` }])
  return moment
}

type Networks = Pick<Services['registry'], 'networks'>

/** Lists have a few tokens of one symbol; each name costs a step in an index. */
const maxNames = 500

/** A request is read by its schema, so there are two. @throws SluiceError INCOMPLETE_PARAMS */
function readPair(text: string, on: Pick<TransactionsRequest, 'chain' | 'network'>, { networks }: Networks) {
  const [one = '', other = ''] = text.split('-')
  const pair = pairName(one, other)
  const those = networks.filter(({ chain, network }) => (on.chain ?? chain) === chain && (on.network ?? network) === network)
  const isListed = (name: string) => those.some(({ tokens }) => tokens.listedAs(name).length > 0)
  const pairAliases = those.flatMap((each) => aliasesOn(each, one, other).filter((alias) => alias.pair !== pair))
  if (pairAliases.length > maxNames)
    throw badFields([
      {
        field: 'pair',
        problem: `is "${text}", and lists have more than ${maxNames} pairs of tokens with these names: name a network, or give addresses`,
      },
    ])
  return { pair, ...(pairAliases.length > 0 && { pairAliases }), ...(!(isListed(one) && isListed(other)) && { hasUnlisted: true }) }
}

/** A token has been in entries by its address as long as no list had it, and by its symbol since. */
function aliasesOn({ chain, network, tokens }: Networks['networks'][number], one: string, other: string): readonly PairAlias[] {
  const namesOf = (name: string) => [name, ...tokens.listedAs(name).flatMap(({ symbol, address }) => [symbol, address])]
  const pairs = namesOf(one).flatMap((base) => namesOf(other).map((quote) => pairName(base, quote)))
  return [...new Set(pairs)].map((pair) => ({ chain, network, pair }))
}

/** The key of a journal entry, which is what a cursor is. */
const cursorPattern = /^[0-9a-z]{17}$/
