// What each client may spend: reserved in the write that makes entries, settled in the write that ends them.
import { sql, type Transaction } from 'kysely'
import { formatRaw, toRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { ClientLimits } from '../config/clients.ts'
import { countEveryMs, storeTime } from '../store/store-time.ts'
import type { Tables } from '../store/tables.ts'
import type { Budgets, Spending, SpendingStep } from '../transactions/budgets.ts'
import type { Entry } from '../transactions/entry.ts'
import {
  emptyAccount,
  freesAt,
  greatest,
  negative,
  readAccount,
  readAmounts,
  reserve,
  settle,
  sum,
  usedIn,
  writeAccount,
  writeAmounts,
  type Account,
  type Amounts,
  type Measure,
  type Window,
} from './account.ts'

type Tx = Transaction<Tables>

/** What final transactions did. Undefined where that cannot be told: then what was reserved counts. */
export interface EntryReader {
  /** What the wallet gained (above 0) or gave of each token, by address. */
  gains(entry: Entry): ReadonlyMap<string, bigint> | undefined
  /** Of the coin, smallest units. */
  gasCost(entry: Entry): bigint | undefined
}

export interface SpendingLimits extends Budgets {
  /** Who reads what final transactions did. Until it is set, what was reserved counts. */
  readBy(reader: EntryReader): void
}

/** The store's time may be behind by two counts. */
const lagMs = 2 * countEveryMs
const dollarDecimals = 6
/** Of `maxDailyGas`, so much is kept for what cancels: of five parts. */
const gasShare = { ofTrades: 4n, ofAll: 5n }

export function createSpendingLimits(limitsOf: (client: string) => ClientLimits | undefined): SpendingLimits {
  let reader: EntryReader = { gains: () => undefined, gasCost: () => undefined }

  return {
    readBy: (by) => void (reader = by),
    async reserve(spending, tx) {
      const client = payerOf(spending)
      const limits = limitsOf(client)
      if (!limits) return
      requireFees(spending, limits)
      const owner = ownerOf(client)
      const { account, nowMs } = await lockAccount(owner, tx)
      const earlier = await readReservations(
        spending.steps.flatMap(({ entry, replaces }) => [
          ...(spending.is === 'raise' ? [entry.key] : []),
          ...(replaces === undefined ? [] : [replaces]),
        ]),
        tx,
      )
      const held = reservationsOf(spending, owner, earlier)
      const change = [...held].map(([key, { amounts }]) => sum(amounts, negative(earlier.get(key)?.amounts ?? {})))
      const added = change.reduce(sum, {})
      const after = reserve(account, added)
      const refusal = refusalOf(spending, limits, after, nowMs)
      if (refusal) throw refusal
      await writeAll(owner, after, held, tx)
    },
    async settle(ended, tx) {
      const reservations = await readReservations(
        ended.map(({ key }) => key),
        tx,
      )
      // In one order on all servers.
      const owners = [...new Set([...reservations.values()].map(({ owner }) => owner))].toSorted()
      for (const owner of owners) {
        const { account, nowMs } = await lockAccount(owner, tx)
        let after = account
        for (const entry of ended) {
          const reservation = reservations.get(entry.key)
          if (reservation?.owner === owner)
            after = settle(after, reservation.amounts, actualOf(entry, reservation, reader), { nowMs, lagMs })
        }
        await tx
          .updateTable('budgets')
          .set({ body: writeAccount(after) })
          .where('owner', '=', owner)
          .execute()
      }
      if (reservations.size > 0)
        await tx
          .deleteFrom('reservations')
          .where('entry_key', 'in', [...reservations.keys()])
          .execute()
    },
  }
}

/** Fees that the server raises by itself are those of whose transaction it is. */
const payerOf = ({ client, is, steps }: Spending): string => (is === 'raise' ? (steps[0]?.entry.client ?? client) : client)

const ownerOf = (client: string): string => `client ${client}`

/** Creates the owner's row, or locks it: who comes second waits, and reads what the first has written. */
async function lockAccount(owner: string, tx: Tx): Promise<{ account: Account; nowMs: number }> {
  const row = await tx
    .insertInto('budgets')
    .values({ owner, body: '' })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet({ owner }))
    .returning(['body', storeTime.as('now')])
    .executeTakeFirstOrThrow()
  return { account: row.body === '' ? emptyAccount : readAccount(row.body), nowMs: row.now }
}

/** What an open entry holds. */
interface Reservation {
  readonly owner: string
  readonly amounts: Amounts
  /** Of the market, where the entry is held against it. */
  readonly prices: Amounts
}

async function readReservations(keys: readonly string[], tx: Tx): Promise<ReadonlyMap<string, Reservation>> {
  if (keys.length === 0) return new Map()
  const rows = await tx.selectFrom('reservations').selectAll().where('entry_key', 'in', keys).execute()
  return new Map(
    rows.map(({ entry_key, owner, body }) => {
      const stored: unknown = JSON.parse(body)
      const { amounts, prices } = isObject(stored) ? stored : {}
      return [entry_key, { owner, amounts: readAmounts(amounts), prices: readAmounts(prices) }]
    }),
  )
}

const gasMeasure = (entry: Entry): Measure => `gas:${entry.chain}/${entry.network}`
const isCancel = ({ kind }: Entry): boolean => kind === 'cancel' || kind === 'fill' || kind === 'order-cancel'

/** By entry, what it holds from now on. One whose nonce is taken holds nothing more: the other holds for both, as at most one of the two is mined. */
function reservationsOf(
  { is, steps, commitment }: Spending,
  owner: string,
  earlier: ReadonlyMap<string, Reservation>,
): ReadonlyMap<string, Reservation> {
  const held = new Map<string, Reservation>()
  const prices = commitment?.market?.prices ?? {}
  for (const [index, step] of steps.entries()) {
    const { entry, maxCostRaw, valueRaw, lastCostRaw, replaces } = step
    if (is === 'raise') {
      const before = earlier.get(entry.key)
      // Made before its client had limits.
      const amounts = sum(before?.amounts ?? {}, { [gasMeasure(entry)]: maxCostRaw - (lastCostRaw ?? 0n) })
      held.set(entry.key, { owner: before?.owner ?? owner, amounts, prices: before?.prices ?? {} })
      continue
    }
    const isLast = index === steps.length - 1
    const own = {
      ...(entry.signer === undefined && !isCancel(entry) && { count: 1n }),
      [gasMeasure(entry)]: maxCostRaw - valueRaw,
      ...(isLast && { loss: commitment?.market?.lossMicros ?? 0n }),
    }
    const found = replaces === undefined ? undefined : earlier.get(replaces)
    const replaced = found?.owner === owner ? found : undefined
    if (replaces !== undefined && replaced) held.set(replaces, { ...replaced, amounts: {} })
    held.set(entry.key, { owner, amounts: replaced ? greatest([own, replaced.amounts]) : sum(own, {}), prices: isLast ? prices : {} })
  }
  return held
}

/** @throws SluiceError LIMIT_EXCEEDED */
function requireFees({ steps, coin }: Spending, { maxFee }: ClientLimits): void {
  if (maxFee === undefined) return
  const mostRaw = toRaw(maxFee, coin.decimals) ?? 0n
  const over = steps.map(feeOf).find((feeRaw) => feeRaw > mostRaw)
  if (over === undefined) return
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    `The transaction may cost ${formatRaw(over, coin.decimals)} ${coin.symbol} of fees, and maxFee of the client allows ${maxFee}: nothing was signed. Wait for lower fees, or give lower ones; or the operator raises limits.maxFee in conf/clients.yml.`,
    { details: { limit: 'maxFee', allowed: maxFee, needed: formatRaw(over, coin.decimals) } },
  )
}

const feeOf = ({ maxCostRaw, valueRaw }: SpendingStep): bigint => maxCostRaw - valueRaw

/** A limit by measure. */
interface Limit {
  readonly name: keyof ClientLimits
  readonly measure: Measure
  readonly window: Window
  readonly mostRaw: bigint
  readonly decimals: number
  readonly unit: string
}

function limitsIn({ steps, coin }: Spending, limits: ClientLimits): readonly Limit[] {
  const [first] = steps
  if (!first) return []
  const cancels = steps.every(({ entry }) => isCancel(entry))
  const found: Limit[] = []
  const { transactionsPerHour, maxDailyGas, maxDailyLoss } = limits
  if (transactionsPerHour !== undefined && !cancels)
    found.push({
      name: 'transactionsPerHour',
      measure: 'count',
      window: 'hour',
      mostRaw: BigInt(transactionsPerHour),
      decimals: 0,
      unit: 'transactions',
    })
  if (maxDailyGas !== undefined) {
    const allRaw = toRaw(maxDailyGas, coin.decimals) ?? 0n
    const mostRaw = cancels ? allRaw : (allRaw * gasShare.ofTrades) / gasShare.ofAll
    found.push({
      name: 'maxDailyGas',
      measure: gasMeasure(first.entry),
      window: 'day',
      mostRaw,
      decimals: coin.decimals,
      unit: coin.symbol,
    })
  }
  if (maxDailyLoss !== undefined && !cancels)
    found.push({
      name: 'maxDailyLoss',
      measure: 'loss',
      window: 'day',
      mostRaw: toRaw(maxDailyLoss, dollarDecimals) ?? 0n,
      decimals: dollarDecimals,
      unit: 'of the reference token',
    })
  return found
}

function refusalOf(spending: Spending, limits: ClientLimits, after: Account, nowMs: number): SluiceError | undefined {
  for (const { name, measure, window, mostRaw, decimals, unit } of limitsIn(spending, limits)) {
    const usedRaw = usedIn(after, window, measure, nowMs)
    if (usedRaw <= mostRaw) continue
    const added = spending.steps.reduce((total, step) => total + (measure === 'count' ? 1n : measure === 'loss' ? 0n : feeOf(step)), 0n)
    const needs = measure === 'loss' ? (spending.commitment?.market?.lossMicros ?? 0n) : added
    const before = usedRaw - needs
    const leftRaw = mostRaw > before ? mostRaw - before : 0n
    const at = freesAt(after, window, measure, mostRaw, nowMs)
    const seconds = at === undefined ? undefined : Math.ceil((at - nowMs) / 1000)
    const show = (raw: bigint) => `${formatRaw(raw, decimals)} ${unit}`
    return new SluiceError(
      'LIMIT_EXCEEDED',
      `${name} of the client is ${show(mostRaw)} in a rolling ${window}. What is left: ${show(leftRaw)}; this may take ${show(needs)}. Nothing was signed. ${seconds === undefined ? 'It frees when what is open has ended.' : `So much is free in ${seconds} s.`} Or the operator raises limits.${name} in conf/clients.yml.`,
      {
        details: {
          limit: name,
          left: formatRaw(leftRaw, decimals),
          ...(seconds !== undefined && { freesAt: Date.now() + seconds * 1000 }),
        },
      },
    )
  }
  return undefined
}

/** What an entry that is final came to. Never more than nothing where it was not executed. */
function actualOf(entry: Entry, { amounts, prices }: Reservation, reader: EntryReader): Amounts {
  const { landed } = entry
  if (!landed) return {}
  const gas = gasMeasure(entry)
  const gasRaw = reader.gasCost(entry) ?? amounts[gas] ?? 0n
  const { loss: heldLoss = 0n } = amounts
  const rest = { ...(amounts['count'] !== undefined && { count: 1n }), [gas]: gasRaw }
  if (!landed.ok) return rest
  return { ...rest, loss: lossOf(entry, prices, reader) ?? heldLoss }
}

/** Of a trade all of whose tokens have a price: what it gave less what it got; a gain is below 0. */
function lossOf(entry: Entry, prices: Amounts, reader: EntryReader): bigint | undefined {
  const gains = entry.kind === 'trade' ? reader.gains(entry) : undefined
  const moved = [...(gains ?? [])].filter(([, raw]) => raw !== 0n)
  // The native coin leaves no event.
  if (moved.length < 2 || moved.some(([token]) => prices[token] === undefined)) return undefined
  return moved.reduce((loss, [token, raw]) => {
    const micros = (abs(raw) * (prices[token] ?? 0n)) >> 128n
    return raw < 0n ? loss + micros + 1n : loss - micros
  }, 0n)
}

const abs = (raw: bigint): bigint => (raw < 0n ? -raw : raw)

async function writeAll(owner: string, account: Account, held: ReadonlyMap<string, Reservation>, tx: Tx): Promise<void> {
  await tx
    .updateTable('budgets')
    .set({ body: writeAccount(account) })
    .where('owner', '=', owner)
    .execute()
  const rows = [...held].map(([entry_key, { owner: of, amounts, prices }]) => ({
    entry_key,
    owner: of,
    body: JSON.stringify({ amounts: writeAmounts(amounts), prices: writeAmounts(prices) }),
  }))
  await tx
    .insertInto('reservations')
    .values(rows)
    .onConflict((conflict) => conflict.column('entry_key').doUpdateSet({ body: sql`excluded.body` }))
    .execute()
}
