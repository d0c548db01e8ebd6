// What each client may spend: reserved in the write that makes entries, settled in the write that ends them.
import type { Transaction } from 'kysely'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Store } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { Admission, Budgets, Commitment, PlannedSpending, Spending } from '../transactions/budgets.ts'
import { payerOf, type Entry } from '../transactions/entry.ts'
import { createAdmissions } from './admissions.ts'
import { greatest, negative, reserve, settle, sum, type Account, type Amounts, type Measure } from './account.ts'
import {
  gasMeasureOf,
  isCancel,
  refusalOf,
  requireFees,
  requireListedTokens,
  requirePrices,
  tokenLimitsOf,
  tokenMeasureOf,
  type GivenValue,
  type LimitCheck,
  type LimitedToken,
  type NetworkLimits,
} from './limit-checks.ts'
import { settleFills } from './later-fills.ts'
import { notionalMeasureOf, withOrders } from './perpetual-limits.ts'
import {
  lagMs,
  lockAccount,
  openOf,
  ownerOf,
  peekAccount,
  readReservations,
  reservationPart,
  writeReserved,
  writeReservedOver,
  type ExchangedAmounts,
  type Reservation,
  type Reservations,
  type StoredAccount,
} from './reservations.ts'
import { revalue, type LossNow, type RevalueParts } from './revalue.ts'
import { settleEnded, settleExpired, settleOrder, type ExpiredAllowance } from './settle-entries.ts'
import type { SettlementReader } from './settlements.ts'
import type { NetworkName } from '../base/networks.ts'

/** What the limits ask of the rest of the server, which answers at once. Undefined where that cannot be told. */
export interface LimitReader extends SettlementReader {
  /** The listed token of a symbol or an address. */
  token(on: NetworkName, name: string): LimitedToken | undefined
  /** What the client gives is worth at most. By token address, smallest units. */
  value(on: NetworkName & { readonly client: string }, gives: Amounts): GivenValue
  /** The symbol of the reference token. */
  reference(on: NetworkName): string | undefined
  /** What a client would lose by an exchange now; undefined where that cannot be told. Absent: it never can. */
  lossNow?(on: NetworkName & { readonly client: string }, exchanged: ExchangedAmounts): LossNow | undefined
}

const unknownReader: LimitReader = {
  gains: () => undefined,
  tells: () => undefined,
  gasCost: () => undefined,
  heldChanges: () => [],
  token: () => undefined,
  value: () => ({ is: 'no market' }),
  reference: () => undefined,
}

export interface SpendingLimits extends Budgets {
  /** Until it is set, what was reserved counts. */
  readBy(reader: LimitReader): void
  /** An allowance has ended by itself. */
  endAllowance(ended: ExpiredAllowance, tx: Transaction<Tables>): Promise<void>
}

/** So long what a request was held against holds for the write that reserves it: prices, and tokens of a list, are read anew after that. */
const keptMs = 1_000

/** How a request was let through. */
interface AdmittedCheck {
  readonly check: AccountCheck
  readonly atMs: number
  /** How many of its steps were looked at. */
  readonly steps: number
  /** The account that it was held against, with what was under way beside it. */
  readonly by: StoredAccount | undefined
}

type LimitsOn = (client: string, on: NetworkName) => NetworkLimits | undefined

/** @param limitsOn of a client on a network; undefined where nothing bounds it */
export function createSpendingLimits(
  limitsOn: LimitsOn,
  kind: Store['kind'] = 'embedded',
  steadyMs = () => performance.now(),
): SpendingLimits {
  let reader = unknownReader
  const admitted = new WeakMap<Admission, AdmittedCheck>()
  const admissions = createAdmissions(kind)

  /** All steps are on one network. */
  const limitsFor = (client: string, { steps: [first] }: PlannedSpending) => first && limitsOn(client, first.entry)

  /** What a request is held against, but for what was spent. Undefined where nothing bounds the client. @throws SluiceError LIMIT_EXCEEDED */
  function checkOf(client: string, spending: PlannedSpending): AccountCheck | undefined {
    const limits = limitsFor(client, spending)
    return limits && checkBy(limits, client, spending, reader)
  }

  /**
   * What the request was held against as it was admitted, where nothing of that has changed.
   * @returns also the account that it was held against, so that it need not be again by the same @throws SluiceError LIMIT_EXCEEDED
   */
  function checkAgain(client: string, spending: Spending): { check: AccountCheck; by?: StoredAccount | undefined } | undefined {
    const { check, atMs = 0, steps, by } = (spending.admission && admitted.get(spending.admission)) ?? {}
    const isSame =
      check?.owner === ownerOf(client) &&
      check.limits === limitsFor(client, spending) &&
      check.spending.commitment === spending.commitment &&
      haveSameCosts(check.spending, spending) &&
      steadyMs() - atMs < keptMs
    if (isSame) return { check: { ...check, spending }, ...(steps === spending.steps.length && { by }) }
    const anew = checkOf(client, spending)
    return anew && { check: anew }
  }

  /** @throws SluiceError LIMIT_EXCEEDED, SERVICE_UNINITIALIZED */
  async function reserveFor(client: string, spending: Spending, tx: Transaction<Tables>): Promise<void> {
    const again = checkAgain(client, spending)
    if (!again) return
    const { check, by } = again
    const { owner, isCounted } = check
    const written = kind === 'embedded' && !hasEarlier(spending) ? await reserveKnown(check, admissions.known(owner), by, tx) : undefined
    if (written) return admissions.note(owner, written)
    const stored = await lockAccount(owner, tx, kind).catch((error: unknown) => {
      if (isCounted && error instanceof SluiceError) return undefined
      throw error
    })
    if (!stored) return
    const { account, held } = reservedBy(check, stored, await readEarlier(owner, spending, tx))
    await writeReserved({ owner, account, held }, tx, kind)
    admissions.note(owner, { account, nowMs: stored.nowMs })
  }

  const countsFillsOf = (entry: Entry): boolean => limitsOn(payerOf(entry), entry)?.maxDailyLoss !== undefined

  return {
    readBy: (by) => void (reader = by),
    concerns: (spending) => payersOf(spending).some((client) => limitsFor(client, spending) !== undefined),
    admit({ client, ...on }, spendingOf, read) {
      if (!limitsOn(client, on)) return undefined
      try {
        const check = checkOf(client, spendingOf())
        if (!check) return undefined
        const { owner, spending } = check
        // What takes the nonce of another transaction leaves no gap, and the store alone knows what that one holds.
        const steps = spending.steps.filter(({ replaces }) => replaces === undefined)
        if (steps.length === 0) return undefined
        const ofNew = { ...check, spending: { ...spending, steps } }
        let by: StoredAccount | undefined
        const amountsIn = (stored: StoredAccount) => {
          const amounts = openOf(reservedBy(ofNew, stored, new Map()).held)
          by = stored
          return amounts
        }
        const atMs = steadyMs()
        const keep = (admission: Admission): Admission => {
          admitted.set(admission, { check, atMs, steps: steps.length, by })
          return admission
        }
        const admission = admissions.admit(owner, amountsIn, () => peekAccount(owner, read))
        return admission instanceof Promise ? admission.then(keep) : keep(admission)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    async reserve(spending, tx) {
      // In one order on all servers.
      for (const client of payersOf(spending).toSorted()) await reserveFor(client, spending, tx)
    },
    part(spending) {
      const [client, ...others] = payersOf(spending)
      const known = client === undefined ? undefined : admissions.known(ownerOf(client))
      // What an entry before it holds is in the store alone.
      if (kind === 'embedded' || client === undefined || others.length > 0 || !known || hasEarlier(spending)) return undefined
      const owner = ownerOf(client)
      const reserved = orUndefined(() => {
        const again = checkAgain(client, spending)
        return again && reservedBy(again.check, known, new Map(), again.by === known)
      })
      if (!reserved) return undefined
      const { account } = reserved
      return {
        ...reservationPart({ owner, ...reserved }, known.account),
        written(changed) {
          const { now } = isObject(changed) ? changed : {}
          if (typeof now === 'number') admissions.note(owner, { account, nowMs: now })
        },
      }
    },
    async settle(ended, tx) {
      const known = (owner: string) => admissions.known(owner)
      for (const [owner, stored] of await settleEnded(ended, reader, tx, { kind, known })) admissions.note(owner, stored)
    },
    async endAllowance(allowance, tx) {
      for (const [owner, stored] of await settleExpired(allowance, tx, kind)) admissions.note(owner, stored)
    },
    async endOrder(order, tx) {
      for (const [owner, stored] of await settleOrder(order, reader.reference(order.entry), tx, kind)) admissions.note(owner, stored)
    },
    async revalue(waiting, tx) {
      const lossNow: RevalueParts['lossNow'] = (on, exchanged) => reader.lossNow?.(on, exchanged)
      const { passing, accounts } = await revalue(waiting, { limitsOn, lossNow, kind }, tx)
      for (const [owner, stored] of accounts) admissions.note(owner, stored)
      return passing
    },
    countsFillsOf,
    async countFills(fills, tx) {
      if (!countsFillsOf(fills.entry)) return
      const owner = ownerOf(payerOf(fills.entry))
      const stored = await settleFills(fills, owner, tx, kind)
      if (stored) admissions.note(owner, stored)
    },
  }
}

/** What one request is held against, but for what was spent. */
interface AccountCheck extends LimitCheck {
  readonly owner: string
  /** It counts, and is not refused. */
  readonly isCounted: boolean
  readonly ofOther: boolean
  readonly given: GivenAmounts
}

/** @throws SluiceError LIMIT_EXCEEDED */
function checkBy(limits: NetworkLimits, client: string, spending: PlannedSpending, reader: LimitReader): AccountCheck | undefined {
  const [first] = spending.steps
  if (!first) return undefined
  // What the server has to do for its queue is never refused.
  const isCounted = first.entry.paidBy === client && spending.client !== client
  const tokens = tokenLimitsOf(limits, first.entry, reader.token)
  const check = { spending, limits, tokens, reference: reader.reference(first.entry) ?? 'of the reference token' }
  if (!isCounted) requireFees(check)
  requireListedTokens(check, reader.token)
  const gives = sum(spending.commitment?.gives ?? {}, {})
  const value = limits.value && Object.keys(gives).length > 0 ? reader.value(first.entry, gives) : undefined
  requirePrices(check, value)
  // Whoever raises the fees of another client's transaction holds nothing that its end would settle.
  const ofOther = spending.is === 'raise' && client !== payerOf(first.entry)
  return { ...check, owner: ownerOf(client), isCounted, ofOther, given: givenBy(check, value, (part) => reader.value(first.entry, part)) }
}

/** @param earlier of what it replaces or raises @param isLetThrough it was held against this account before @throws SluiceError LIMIT_EXCEEDED */
function reservedBy(check: AccountCheck, { account: before, nowMs }: StoredAccount, earlier: Reservations, isLetThrough = false) {
  const { spending, limits, given, isCounted, ofOther } = check
  const account = withOrders(spending, limits, before)
  const held = ofOther ? new Map<string, Reservation>() : reservationsOf(spending, given, earlier)
  const raised = ofOther ? raisedFees(spending, before.raised) : {}
  const after = reserve(account, sum(raised, sum(openOf(new Map([...earlier, ...held])), negative(openOf(earlier)))))
  const refusal = isLetThrough ? undefined : refusalOf(check, { before: account, after, gives: given.amounts, nowMs })
  if (refusal && !isCounted) throw refusal
  return { account: ofOther ? withRaise(settle(after, raised, raised, { nowMs, lagMs }), spending) : after, held }
}

/**
 * By what this server wrote last, so that the account is not read.
 * @param known what it wrote @param by the account that all of the check was made with before
 * @returns undefined where the store has another one, or it is refused by this one
 */
async function reserveKnown(
  check: AccountCheck,
  known: StoredAccount | undefined,
  by: StoredAccount | undefined,
  tx: Transaction<Tables>,
): Promise<StoredAccount | undefined> {
  const { owner } = check
  const reserved = known && orUndefined(() => reservedBy(check, known, new Map(), by === known))
  if (!known || !reserved || !(await writeReservedOver(known.account, { owner, ...reserved }, tx))) return undefined
  // A moment of before counts more as spent, and never less.
  return { account: reserved.account, nowMs: known.nowMs }
}

const haveSameCosts = ({ steps: one }: PlannedSpending, { steps: other }: PlannedSpending): boolean =>
  one.length === other.length &&
  one.every(({ maxCostRaw, valueRaw }, index) => maxCostRaw === other[index]?.maxCostRaw && valueRaw === other[index]?.valueRaw)

const hasEarlier = ({ is, steps }: Spending): boolean => is === 'raise' || steps.some(({ replaces }) => replaces !== undefined)

/** What is refused by what this server knows is refused by what the store has, or not. */
function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Of what it replaces or raises: a new entry on a nonce of its own has nothing before it. */
async function readEarlier(owner: string, { steps, is }: Spending, tx: Transaction<Tables>): Promise<Reservations> {
  const keys = steps.flatMap(({ entry, replaces }) => (is === 'raise' ? entry.key : (replaces ?? [])))
  return keys.length === 0 ? new Map() : readReservations(owner, keys, tx)
}

/** Raised fees are those of whose transaction it is, and of whoever raises them. What the server does by itself is of who caused it. */
const payersOf = ({ client, is, steps: [first] }: Spending): readonly string[] => {
  const owner = first ? payerOf(first.entry) : client
  if (owner === client || (is === 'new' && first?.entry.paidBy !== undefined)) return [owner]
  return is === 'raise' ? [client, owner] : [client]
}

/** Of another client's transaction: what it adds to the last attempt, and to what the client was charged before for the same entry. */
const raisedFees = ({ steps }: PlannedSpending, charged: Amounts = {}): Amounts =>
  steps.reduce<Amounts>((all, { entry, maxCostRaw, valueRaw, lastCostRaw = valueRaw }) => {
    const { [entry.key]: baseRaw = 0n } = greatest([charged, { [entry.key]: lastCostRaw - valueRaw }])
    const addedRaw = maxCostRaw - valueRaw - baseRaw
    return addedRaw > 0n ? sum(all, { [gasMeasureOf(entry)]: addedRaw }) : all
  }, {})

/** Older raises are forgotten: if one is tried again, it is charged again. */
const maxRaises = 32

function withRaise(account: Account, { steps }: PlannedSpending): Account {
  const fees = steps.map(({ entry, maxCostRaw, valueRaw }) => ({ [entry.key]: maxCostRaw - valueRaw }))
  return { ...account, raised: Object.fromEntries(Object.entries(greatest([account.raised ?? {}, ...fees])).slice(-maxRaises)) }
}

/** What a request takes from its wallet beside fees, of what its client has limits for. */
interface GivenAmounts {
  readonly amounts: Amounts
  /** Kept to settle it to what it did. */
  readonly prices: Amounts
  readonly medianPrices: Amounts
  readonly gives: Amounts
  readonly parts?: ReadonlyMap<number, Amounts>
  readonly exchanged?: ExchangedAmounts
}

type ValueOf = (gives: Amounts) => GivenValue

/** @param value of all that it gives @param valueOf of a part of that */
function givenBy(check: LimitCheck, value: GivenValue | undefined, valueOf: ValueOf): GivenAmounts {
  const { spending, limits } = check
  const { commitment } = spending
  const { prices = {}, medianPrices = {} } = commitment?.market ?? {}
  const amounts = sum(
    {
      ...amountsOf(check, commitment),
      value: value ? microsOfValue(value) : 0n,
      ...(commitment?.perpetual && { [notionalMeasureOf(commitment.perpetual)]: commitment.perpetual.notionalMicros }),
    },
    {},
  )
  const parts = commitment?.parts && partsOf(check, commitment.parts, { all: amounts, valueOf })
  const exchanged = exchangedBy(commitment)
  return {
    amounts,
    prices,
    medianPrices,
    gives: limits.value ? sum(commitment?.gives ?? {}, {}) : {},
    ...(parts && { parts }),
    ...(exchanged && { exchanged }),
  }
}

/** What each moment can value: by the market, or of a perpetual by the exchange's index. */
function exchangedBy({ gives = {}, gets = {}, market, pool, position }: Partial<Commitment> = {}): ExchangedAmounts | undefined {
  if (!market) return undefined
  const { lossMicros } = market
  if (position) return { ...position, lossMicros }
  if (pool) return { gives, gets: pool.leastGot ?? {}, lossMicros, prices: pool.prices, ...(pool.made && { made: pool.made }) }
  return Object.keys(gives).length > 0 && Object.keys(gets).length > 0 ? { gives, gets, lossMicros } : undefined
}

/** What leaves and what may be lost, of tokens that have limits. */
function amountsOf(
  {
    spending: {
      steps: [first],
    },
    tokens,
  }: LimitCheck,
  commitment: Commitment | undefined,
): Amounts {
  const ofTokens = Object.entries(commitment?.gives ?? {}).flatMap(([address, raw]) =>
    first && tokens.has(address) ? [[tokenMeasureOf(first.entry, address), raw] as const] : [],
  )
  return { loss: commitment?.market?.lossMicros ?? 0n, ...Object.fromEntries(ofTokens) }
}

/** What each order holds of all that their action holds, rounded down: together never more. */
function partsOf(
  check: LimitCheck,
  parts: NonNullable<Commitment['parts']>,
  { all, valueOf }: { all: Amounts; valueOf: ValueOf },
): ReadonlyMap<number, Amounts> {
  const { value: allMicros = 0n } = all
  const worth = new Map([...parts].map(([index, { gives }]) => [index, allMicros > 0n ? microsOfValue(valueOf(gives)) : 0n]))
  const worthOfAll = [...worth.values()].reduce((sumOfAll, micros) => sumOfAll + micros, 0n)
  const held = [...parts].map(([index, part]): [number, Amounts] => {
    const value = worthOfAll > 0n ? (allMicros * (worth.get(index) ?? 0n)) / worthOfAll : 0n
    return [index, sum({ ...amountsOf(check, part), value }, {})]
  })
  const together = held.reduce<Amounts>((sumOfAll, [, amounts]) => sum(sumOfAll, amounts), {})
  const isWhole = ([measure]: [Measure, bigint]) => (together[measure] ?? 0n) <= (all[measure] ?? 0n)
  return new Map(held.map(([index, amounts]) => [index, Object.fromEntries(Object.entries(amounts).filter(isWhole))]))
}

const microsOfValue = (value: GivenValue): bigint => (value.is === 'priced' ? value.micros : 0n)

const nothingGiven: GivenAmounts = { amounts: {}, prices: {}, medianPrices: {}, gives: {} }

/** By entry, what it may come to from now on. What the whole plan gives is held by its last step. */
function reservationsOf({ is, steps }: PlannedSpending, given: GivenAmounts, earlier: Reservations): Reservations {
  const held = new Map<string, Reservation>()
  for (const [index, { entry, maxCostRaw, valueRaw, replaces }] of steps.entries()) {
    const before = earlier.get(entry.key)
    if (is === 'raise') {
      // One that was made before its client had limits, or has just ended, holds nothing.
      // It may come again for the same attempt, so it holds the greatest and adds nothing.
      if (before) held.set(entry.key, { ...before, amounts: greatest([before.amounts, { [gasMeasureOf(entry)]: maxCostRaw - valueRaw }]) })
      continue
    }
    const { amounts, ...kept } = index === steps.length - 1 ? given : nothingGiven
    const ofStep = {
      ...(entry.signer === undefined && !isCancel(entry) && { count: 1n }),
      [gasMeasureOf(entry)]: maxCostRaw - valueRaw,
    }
    const nonce = (replaces === undefined ? undefined : earlier.get(replaces)?.nonce) ?? entry.key
    held.set(entry.key, { nonce, amounts: sum(ofStep, amounts), ...kept })
  }
  return held
}
