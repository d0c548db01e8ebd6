// What is left of a client's limits, and what its transactions of before would have hit.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { formatRaw } from '../base/decimal.ts'
import { badFields } from '../base/errors.ts'
import { didYouMean } from '../config/problems.ts'
import { unknownNames } from '../limits/unknown-names.ts'
import type { LimitUsage } from '../limits/usage.ts'
import { dayMs } from '../transactions/archiver.ts'
import { txHashOf, type Entry } from '../transactions/entry.ts'
import { createLongReadings } from './long-readings.ts'
import { requirePermission, type Caller, type Handlers, type Services } from './context.ts'

export const limitHandlers = {
  Limits: async ({ client: asked }, { services, caller }) => {
    const client = readClient(asked, services, caller)
    const isListed = services.clients.list.some(({ name }) => name === client)
    return {
      client,
      ...problemsOf(client, services),
      ...(!isListed && { unlisted: true as const }),
      limits: (await services.limitUsage(client)).map((usage) => showUsage(usage, services)),
    }
  },

  /** Reads the journal, and writes nothing. */
  LimitsCheck: async ({ client: asked, days = 7 }, { services, caller, signal }) => {
    const client = readClient(asked, services, caller)
    const { since, transactions, hits, notTold } = await checking.of(caller.id, () => replayed(client, days, services, signal))
    return {
      client,
      ...problemsOf(client, services),
      days,
      ...(since !== undefined && { since }),
      transactions,
      hits: hits.map(({ first, last, ...hit }) => ({
        ...hit,
        first: first.createdAt,
        last: last.createdAt,
        txHash: txHashOf(last) ?? null,
      })),
      notTold: [...notTold],
    }
  },
} satisfies Partial<Handlers>

/** Each holds all entries that it reads. */
const checking = createLongReadings('Limits are being checked', 4)

async function replayed(client: string, days: number, services: Services, signal: AbortSignal) {
  const replay = services.limitReplay(client)
  const sinceMs = Date.now() - days * dayMs
  const { entries, since } = replay ? await readEntries(client, sinceMs, services, signal) : { entries: [] }
  for (const [index, entry] of entries.entries()) {
    if (index % entriesInTurn === 0) await nextTurn()
    replay?.take(entry)
  }
  return { since, ...(replay?.result() ?? { transactions: 0, hits: [], notTold: [] }) }
}

/** Of all clients: what one request reads at most. */
const mostEntries = 20_000
const pageEntries = 500
/** Looked at before other work has its turn. */
const entriesInTurn = 50

/** Oldest first. @returns `since` where those before then are too many */
async function readEntries(
  client: string,
  sinceMs: number,
  { transactions }: Pick<Services, 'transactions'>,
  signal: AbortSignal,
): Promise<{ readonly entries: readonly Entry[]; readonly since?: number }> {
  const found: Entry[] = []
  let since = sinceMs
  let cursor: string | undefined
  for (let read = 0; read < mostEntries; read += pageEntries) {
    signal.throwIfAborted()
    const page = await transactions.list({ limit: pageEntries, ...(cursor !== undefined && { cursor }) })
    found.push(...page.entries.filter((entry) => entry.client === client && entry.createdAt >= sinceMs))
    // None where all of its rows are damaged.
    const oldest = page.entries.at(-1)?.createdAt ?? since
    cursor = page.nextCursor
    if (cursor === undefined || oldest < sinceMs) return { entries: found.toReversed() }
    since = oldest
  }
  return { entries: found.toReversed(), since }
}

/** What is wrong with the names in its entry: such a limit allows nothing, or holds nothing. */
function problemsOf(client: string, { clients, registry }: Pick<Services, 'clients' | 'registry'>): { readonly problems?: string[] } {
  const found = unknownNames(
    clients.list.filter(({ name }) => name === client),
    {
      connectors: registry.plugins.map(({ name }) => name),
      networks: registry.networks.map(({ chain, network, tokens }) => ({ chain, network, tokens: tokens.listed })),
      certificates: [],
    },
  )
  return found.length > 0 ? { problems: [...found] } : {}
}

/** @throws SluiceError FORBIDDEN, INCOMPLETE_PARAMS */
function readClient(asked: string | undefined, { clients }: Pick<Services, 'clients'>, caller: Caller): string {
  const client = asked ?? caller.id
  if (client === caller.id) return client
  requirePermission(caller, 'admin')
  const ids = clients.list.map(({ name }) => name)
  if (ids.includes(client)) return client
  throw badFields([{ field: 'client', problem: `"${client}" has no entry in conf/clients.yml${didYouMean(client, ids)}` }])
}

function showUsage(
  { limit, allowed, unit, window, isDefault, basis, counted, network: on }: LimitUsage,
  { registry }: Pick<Services, 'registry'>,
) {
  const coin = on && registry.networks.find(({ chain, network }) => chain === on.chain && network === on.network)?.impl.nativeCurrency
  const leftRaw = counted && counted.allowedRaw > counted.usedRaw ? counted.allowedRaw - counted.usedRaw : 0n
  return {
    limit,
    allowed,
    ...(isDefault && { default: true as const }),
    ...(basis && { basis: showBasis(basis) }),
    unit: typeof unit === 'object' ? unit.token : unit === 'coin' ? (coin?.symbol ?? 'coin of the network') : unit,
    ...(window && { window }),
    ...(counted && { used: formatRaw(counted.usedRaw, counted.decimals), left: formatRaw(leftRaw, counted.decimals) }),
    ...(counted?.freesInMs !== undefined && { freesAt: Date.now() + counted.freesInMs }),
    ...on,
  }
}

const showBasis = ({ percent, ofRaw, atLeastRaw, decimals }: NonNullable<LimitUsage['basis']>) => ({
  percent: String(percent),
  of: formatRaw(ofRaw, decimals),
  ...(atLeastRaw !== undefined && { atLeast: formatRaw(atLeastRaw, decimals) }),
})
