// What each client may spend: reserved in the write that makes entries, settled in the write that ends them.
import { sql, type Transaction } from 'kysely'
import { abs, formatRaw, toRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { ClientLimits } from '../config/clients.ts'
import { countEveryMs, storeTime } from '../store/store-time.ts'
import type { Tables } from '../store/tables.ts'
import { microsOf, type Budgets, type Spending, type SpendingStep } from '../transactions/budgets.ts'
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
/** Of the reference token: amounts are in millionths of it. */
export const dollarDecimals = 6
/** Of `maxDailyGas`, one part of five is kept for what cancels or reduces. */
const gasShare = { ofTrades: 4n, ofAll: 5n }

export function createSpendingLimits(limitsOf: (client: string) => ClientLimits | undefined): SpendingLimits {
  let reader: EntryReader = { gains: () => undefined, gasCost: () => undefined }

  return {
    readBy: (by) => void (reader = by),
    concerns: (spending) => limitsOf(payerOf(spending)) !== undefined,
    async reserve(spending, tx) {
      const client = payerOf(spending)
      const limits = limitsOf(client)
      if (!limits) return
      requireFees(spending, limits)
      requireValue(spending, limits)
      const owner = ownerOf(client)
      const keys = spending.steps.flatMap(({ entry, replaces }) => [entry.key, ...(replaces === undefined ? [] : [replaces])])
      const { account, reservations: earlier, nowMs } = await readAll(owner, keys, tx)
      const held = reservationsOf(spending, earlier)
      const after = reserve(account, sum(openOf(withChanges(earlier, held)), negative(openOf(earlier))))
      const refusal = refusalOf(spending, limits, after, nowMs)
      if (refusal) throw refusal
      await writeAll(owner, after, held, tx)
    },
    async settle(ended, tx) {
      const keys = ended.map(({ key }) => key)
      const owned = await tx.selectFrom('reservations').select('owner').distinct().where('entry_key', 'in', keys).execute()
      // In one order on all servers.
      for (const owner of owned.map((row) => row.owner).toSorted()) {
        const stored = await readAll(owner, keys, tx).catch((error: unknown) => {
          // What cannot be read stays as it is: a transaction has to be able to end.
          if (error instanceof SluiceError) return undefined
          throw error
        })
        if (!stored) continue
        const { nowMs } = stored
        let { account, reservations } = stored
        for (const entry of ended) {
          const reservation = reservations.get(entry.key)
          if (!reservation) continue
          const others = new Map([...reservations].filter(([key]) => key !== entry.key))
          const freed = sum(openOf(reservations), negative(openOf(others)))
          account = settle(account, freed, actualOf(entry, reservation, reader), { nowMs, lagMs })
          reservations = others
        }
        await tx
          .updateTable('budgets')
          .set({ body: writeAccount(account) })
          .where('owner', '=', owner)
          .execute()
        await tx.deleteFrom('reservations').where('owner', '=', owner).where('entry_key', 'in', keys).execute()
      }
    },
  }
}

/** Fees that the server raises by itself are those of whose transaction it is. */
const payerOf = ({ client, is, steps }: Spending): string => (is === 'raise' ? (steps[0]?.entry.client ?? client) : client)

export const ownerOf = (client: string): string => `client ${client}`

/** @throws SluiceError SERVICE_UNINITIALIZED */
async function readAll(owner: string, keys: readonly string[], tx: Tx) {
  const locked = await lockAccount(owner, tx)
  return { ...locked, reservations: await readReservations(owner, keys, tx) }
}

/** Creates the owner's row, or locks it: who comes second waits, and reads what the first has written. */
async function lockAccount(owner: string, tx: Tx): Promise<{ account: Account; nowMs: number }> {
  const row = await tx
    .insertInto('budgets')
    .values({ owner, body: '' })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet({ owner }))
    .returning(['body', storeTime.as('now')])
    .executeTakeFirstOrThrow()
  return { account: row.body === '' ? emptyAccount : readStored(owner, () => readAccount(row.body)), nowMs: row.now }
}

/** @throws SluiceError SERVICE_UNINITIALIZED: what was spent is not known, so nothing more is */
function readStored<T>(owner: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new SluiceError(
      'SERVICE_UNINITIALIZED',
      `What the ${owner} has spent of its limits cannot be read in the store, so nothing is signed for it. Restore the store from a copy, or remove its row of the table budgets.`,
      { cause },
    )
  }
}

/** What an open entry may come to. */
interface Reservation {
  /** Entries of one nonce: at most one of them is mined, so that the greatest of them is held. */
  readonly nonce: string
  readonly amounts: Amounts
  /** Of the market, where the entry is held against it. */
  readonly prices: Amounts
}

type Reservations = ReadonlyMap<string, Reservation>

/** Those of the entries and of all others of their nonces, of one owner. @throws SluiceError SERVICE_UNINITIALIZED */
async function readReservations(owner: string, keys: readonly string[], tx: Tx): Promise<Reservations> {
  const nonces = tx.selectFrom('reservations').select('nonce').where('owner', '=', owner).where('entry_key', 'in', keys)
  const rows = await tx.selectFrom('reservations').selectAll().where('owner', '=', owner).where('nonce', 'in', nonces).execute()
  return readStored(
    owner,
    () =>
      new Map(
        rows.map(({ entry_key, nonce, body }) => {
          const stored: unknown = JSON.parse(body)
          const { amounts, prices } = isObject(stored) ? stored : {}
          return [entry_key, { nonce, amounts: readAmounts(amounts), prices: readAmounts(prices) }]
        }),
      ),
  )
}

/** What they hold together. */
function openOf(reservations: Reservations): Amounts {
  const byNonce = new Map<string, Amounts>()
  for (const { nonce, amounts } of reservations.values()) byNonce.set(nonce, greatest([byNonce.get(nonce) ?? {}, amounts]))
  return [...byNonce.values()].reduce(sum, {})
}

const withChanges = (before: Reservations, changes: Reservations): Reservations => new Map([...before, ...changes])

export const gasMeasureOf = ({ chain, network }: Pick<Entry, 'chain' | 'network'>): Measure => `gas:${chain}/${network}`
const isCancel = ({ kind }: Entry): boolean => kind === 'cancel' || kind === 'fill' || kind === 'order-cancel'

/** By entry, what it may come to from now on. */
function reservationsOf({ is, steps, commitment }: Spending, earlier: Reservations): Reservations {
  const held = new Map<string, Reservation>()
  const prices = commitment?.market?.prices ?? {}
  for (const [index, { entry, maxCostRaw, valueRaw, lastCostRaw, replaces }] of steps.entries()) {
    const before = earlier.get(entry.key)
    if (is === 'raise') {
      // One that was made before its client had limits, or has just ended, holds nothing.
      if (before)
        held.set(entry.key, { ...before, amounts: sum(before.amounts, { [gasMeasureOf(entry)]: maxCostRaw - (lastCostRaw ?? 0n) }) })
      continue
    }
    const isLast = index === steps.length - 1
    const amounts = {
      ...(entry.signer === undefined && !isCancel(entry) && { count: 1n }),
      [gasMeasureOf(entry)]: maxCostRaw - valueRaw,
      ...(isLast && { loss: commitment?.market?.lossMicros ?? 0n }),
    }
    const nonce = (replaces === undefined ? undefined : earlier.get(replaces)?.nonce) ?? entry.key
    held.set(entry.key, { nonce, amounts: sum(amounts, {}), prices: isLast ? prices : {} })
  }
  return held
}

/** By value without a price is refused: nobody could say what is left. @throws SluiceError LIMIT_EXCEEDED */
function requireValue({ commitment }: Spending, { maxDailyLoss }: ClientLimits): void {
  if (maxDailyLoss === undefined || !commitment || commitment.market || Object.keys(commitment.gives).length === 0) return
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    'The client has a maxDailyLoss, and what this may lose is not known: its tokens have no market now, or it is a local network without limits.onLocalNetworks. Nothing was signed.',
    { details: { limit: 'maxDailyLoss', reason: 'no market' } },
  )
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
  const reduces = steps.every(({ entry }) => isCancel(entry) || entry.reduces === true)
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
    const mostRaw = reduces ? allRaw : (allRaw * gasShare.ofTrades) / gasShare.ofAll
    found.push({
      name: 'maxDailyGas',
      measure: gasMeasureOf(first.entry),
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

/** What an entry that is final came to. */
function actualOf(entry: Entry, { amounts, prices }: Reservation, reader: EntryReader): Amounts {
  const { landed, part } = entry
  const { loss: heldLoss = 0n } = amounts
  // The steps before it may have moved what it was to exchange.
  const ofOthers: Amounts = part.of > 1 ? { loss: heldLoss } : {}
  if (!landed) return ofOthers
  const gas = gasMeasureOf(entry)
  const gasRaw = reader.gasCost(entry) ?? amounts[gas] ?? 0n
  const rest: Amounts = { ...(amounts['count'] !== undefined && { count: 1n }), [gas]: gasRaw }
  if (!landed.ok) return { ...rest, ...ofOthers }
  return { ...rest, loss: (part.of > 1 ? undefined : lossOf(entry, prices, reader)) ?? heldLoss }
}

/** Of a trade all of whose tokens have a price: what it gave less what it got; a gain is below 0. */
function lossOf(entry: Entry, prices: Amounts, reader: EntryReader): bigint | undefined {
  const gains = entry.kind === 'trade' ? reader.gains(entry) : undefined
  const moved = [...(gains ?? [])].filter(([, raw]) => raw !== 0n)
  // The native coin leaves no event.
  if (moved.length < 2 || moved.some(([token]) => prices[token] === undefined)) return undefined
  return moved.reduce((loss, [token, raw]) => {
    const micros = microsOf(abs(raw), prices[token] ?? 0n, 'down')
    return raw < 0n ? loss + micros + 1n : loss - micros
  }, 0n)
}

async function writeAll(owner: string, account: Account, held: Reservations, tx: Tx): Promise<void> {
  await tx
    .updateTable('budgets')
    .set({ body: writeAccount(account) })
    .where('owner', '=', owner)
    .execute()
  const rows = [...held].map(([entry_key, { nonce, amounts, prices }]) => ({
    entry_key,
    owner,
    nonce,
    body: JSON.stringify({ amounts: writeAmounts(amounts), prices: writeAmounts(prices) }),
  }))
  if (rows.length === 0) return
  await tx
    .insertInto('reservations')
    .values(rows)
    .onConflict((conflict) => conflict.column('entry_key').doUpdateSet({ body: sql`excluded.body` }))
    .execute()
}
