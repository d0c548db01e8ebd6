// The ledger of a caller's wallets: what each final transaction changed of their balances.
import type { LedgerLine as ShownLine, LedgerRequest } from '../api/ledger.ts'
import { addressKey, canonicalHash, isSameAddress } from '../base/addresses.ts'
import { inTurns } from '../base/fair-turns.ts'
import type { CsvColumn, RecordStream } from '../base/csv.ts'
import { isObject } from '../base/json.ts'
import { actOf, ledgerLines, type LedgerLine, type LedgerReaders } from '../books/ledger.ts'
import type { Entry } from '../transactions/entry.ts'
import { orderTokens } from './books.ts'
import { mayUseWallet, type Caller, type Handlers, type Services } from './context.ts'
import { journalView } from './journaled.ts'
import { networkOf } from './limited-amounts.ts'
import { paidCostOf } from './mined-amounts.ts'
import { readLimit } from './pages.ts'
import { damagedRow, readFilter } from './transactions.ts'

type LedgerServices = Pick<Services, 'transactions' | 'registry' | 'wallets' | 'settings'>

export const ledgerHandlers = {
  Ledger: async (request, { services, caller }) => {
    const limit = readLimit(request.limit, services.settings)
    const { lines, damaged, nextCursor } = await readPage(request, { services, caller }, limit, request.cursor)
    return {
      lines: [...lines],
      ...(damaged.length > 0 && { unavailable: damaged.map((id) => ({ id, reason: damagedRow })) }),
      ...(nextCursor !== undefined && { nextCursor }),
    }
  },
} satisfies Partial<Handlers>

/** Entries that are read at once where all are wanted. */
const entriesAtOnce = 100

/** All that match, newest first, of the journal and of the archive. */
export function ledgerStream(
  request: LedgerRequest,
  context: { readonly services: LedgerServices; readonly caller: Caller; readonly signal: AbortSignal },
): RecordStream<ShownLine> {
  // What is wrong with the request is said as by any answer.
  readFilter(withoutAddress(request), context.caller, context.services.registry)
  async function* pages(): AsyncGenerator<readonly ShownLine[]> {
    let left = request.limit ?? Infinity
    let cursor = request.cursor
    do {
      const limit = Math.min(entriesAtOnce, left)
      const { lines, damaged, entries, nextCursor } = await readPage(request, context, limit, cursor)
      yield [...lines, ...damaged.map(damagedLine)]
      left -= entries + damaged.length
      cursor = nextCursor
    } while (cursor !== undefined && left > 0)
  }
  return { pages: pages(), columns: ledgerColumns }
}

const damagedLine = (id: string): ShownLine => ({
  time: '',
  wallet: '',
  chain: '',
  network: '',
  kind: '',
  act: '',
  part: '',
  token: '',
  note: damagedRow,
  id,
})

/** What another wallet of the server sent to this one stands in the other's transaction. */
const withoutAddress = ({ address: _address, ...request }: LedgerRequest): LedgerRequest => request

async function readPage(
  request: LedgerRequest,
  { services, caller, signal }: { readonly services: LedgerServices; readonly caller: Caller; readonly signal?: AbortSignal },
  limit: number,
  cursor: string | undefined,
) {
  const { transactions, registry } = services
  const filter = readFilter(withoutAddress(request), caller, registry)
  const page = await transactions.list({ ...filter, archived: true, shownOnly: true, limit, ...(cursor !== undefined && { cursor }) })
  const own = await ownFills(page.entries, transactions)
  const readers = readersOf(services, own)
  const lines: ShownLine[] = []
  const isWanted = (wallet: string) =>
    mayUseWallet(caller, wallet) && (request.address === undefined || isSameAddress(request.address, wallet))
  await inTurns(
    page.entries,
    (entry) => {
      for (const line of ledgerLines(entry, readers)) if (isWanted(line.wallet)) lines.push(showLine(entry, line, readers))
    },
    { ...(signal && { signal }) },
  )
  return { lines, damaged: page.damaged ?? [], entries: page.entries.length, nextCursor: page.nextCursor }
}

/** Fills by transactions of the same wallet, by wallet and hash: an order may have been taken by the wallet itself. */
async function ownFills(entries: readonly Entry[], transactions: LedgerServices['transactions']): Promise<ReadonlySet<string>> {
  const own = new Set<string>()
  const asked = new Map<string, Entry>()
  for (const entry of entries)
    for (const { fills } of entry.orders ?? [])
      for (const { txHash } of fills) if (txHash !== undefined && entry.signer === undefined) asked.set(fillKey(entry, txHash), entry)
  for (const [key, entry] of asked) {
    const [, hash = ''] = key.split(' ')
    const found = await transactions.find(entry.chain, entry.network, hash)
    if (found && isSameAddress(found.address, entry.address)) own.add(key)
  }
  return own
}

const fillKey = ({ chain, network, address }: Entry, txHash: string): string =>
  `${chain}/${network}/${addressKey(address)} ${canonicalHash(txHash)}`

function readersOf({ registry, transactions, wallets }: LedgerServices, own: ReadonlySet<string>): LedgerReaders {
  const { tokenOf: tokenAt } = journalView(transactions, registry)
  return {
    costOf: (entry) => paidCostOf(entry, registry),
    tokenOf: orderTokens(registry),
    tokenAt,
    coinOf: (entry) => networkOf(entry, registry)?.impl.nativeCurrency,
    isOwn: (entry, { txHash }) => txHash !== undefined && own.has(fillKey(entry, txHash)),
    isWallet: ({ chain }, address) => wallets.all().some((each) => each.chain === chain && isSameAddress(each.address, address)),
  }
}

function showLine(entry: Entry, line: LedgerLine, { coinOf }: LedgerReaders): ShownLine {
  const { chain, network, client, connector, kind, landed, outcome, key } = entry
  const { atMs, wallet, heldBy, part, token, symbol, change, rawChange, counterparty, order, txHash, note } = line
  const position = kind === 'liquidity' && isObject(outcome) ? (outcome['tokenId'] ?? outcome['pool']) : undefined
  return {
    time: new Date(atMs).toISOString(),
    client,
    wallet,
    chain,
    network,
    ...(connector !== undefined && { connector }),
    kind,
    act: actOf(entry, coinOf(entry)?.address),
    part,
    ...(heldBy !== undefined && { heldBy }),
    token,
    ...(symbol !== undefined && { symbol }),
    ...(change !== undefined && { change }),
    ...(rawChange !== undefined && { rawChange: String(rawChange) }),
    ...(counterparty !== undefined && { counterparty }),
    ...(typeof position === 'string' && { position }),
    ...(order !== undefined && { order }),
    ...(txHash !== undefined && { txHash }),
    ...(part !== 'fill' && landed && { block: landed.blockNumber }),
    ...(note !== undefined && { note }),
    id: key,
  }
}

const names = [
  'time',
  'client',
  'wallet',
  'chain',
  'network',
  'connector',
  'kind',
  'act',
  'part',
  'heldBy',
  'token',
  'symbol',
  'change',
  'rawChange',
  'counterparty',
  'position',
  'order',
  'txHash',
  'block',
  'note',
  'id',
] as const satisfies readonly (keyof ShownLine)[]

export const ledgerColumns: readonly CsvColumn<ShownLine>[] = names.map((name) => [name, (line) => line[name]])
