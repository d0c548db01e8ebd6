// What a reservation is settled to: what its transaction did, as far as that is known. What nobody can tell counts as it was reserved. Pure.
import { abs, divideRaw, parseDecimal, type Fraction } from '../base/decimal.ts'
import { microsOf, type OrderEnd } from '../transactions/budgets.ts'
import type { Entry } from '../transactions/entry.ts'
import { sum, type Amounts } from './account.ts'
import { gasMeasureOf } from './limit-checks.ts'
import { refundOf, type HeldChange, type Refundable, type StandingAmounts } from './refundable.ts'
import type { Reservation } from './reservations.ts'

type Gains = ReadonlyMap<string, bigint>

/** Of transactions that are final. It answers at once. */
export interface SettlementReader {
  /** What the wallet gained (above 0) or gave of each token, by address: undefined where that cannot be told. */
  gains(entry: Entry): Gains | undefined
  /** Whether `gains` has all that it ever gives, or all that it gives and gets. @param gains of the entry, which are read once */
  tells(entry: Entry, gains: () => Gains | undefined): 'what it gives' | 'all' | undefined
  /** What a trade of this lost by the market of when it was mined; undefined where that cannot be told. Absent: it never can. */
  lossWhenMined?(entry: Entry, gains: Gains): bigint | undefined
  /** The liquidity that a deposit into a range made, and what it took, in the pool's order; undefined where that cannot be told. Absent: it never can. */
  liquidityMade?(entry: Entry): MadeLiquidity | undefined
  /** Of the coin, smallest units, with what new accounts keep; undefined where that cannot be told. */
  gasCost(entry: Entry): bigint | undefined
  /** Of a transaction that is final: of allowances and orders. Where it failed, of its permits alone. */
  heldChanges(entry: Entry): readonly HeldChange[]
}

export interface MadeLiquidity {
  readonly liquidity: bigint
  readonly amount0Raw: bigint
  readonly amount1Raw: bigint
}

/** What an entry that is final came to. @param before the steps before it; undefined where these are not known */
export function actualOf(
  entry: Entry,
  before: readonly Entry[] | undefined,
  reservation: Reservation,
  reader: SettlementReader,
): { readonly fees: Amounts; readonly amounts: Amounts } {
  const { landed } = entry
  const gas = gasMeasureOf(entry)
  const { [gas]: heldGas = 0n, count, ...given } = reservation.amounts
  const fees: Amounts = landed ? { ...(count !== undefined && { count: 1n }), [gas]: reader.gasCost(entry) ?? heldGas } : {}
  // The steps before it may have moved what it was to exchange.
  if (!before) return { fees, amounts: given }
  const done = [...before, entry].filter((each) => each.landed?.ok)
  if (done.length === 0) return { fees, amounts: {} }
  const held = { ...reservation, amounts: given }
  return { fees, amounts: { ...given, ...(depositedBy(entry, held, reader) ?? tradedBy(entry, done, held, reader)) } }
}

/**
 * Of a deposit that did not wait: what it took, less what the liquidity that it made would have been at the price of its request. The rest of its loss stays.
 * Undefined where that cannot be told.
 */
function depositedBy(
  entry: Entry,
  { amounts, prices, medianPrices, exchanged }: Reservation,
  reader: SettlementReader,
): Amounts | undefined {
  const made = exchanged?.made
  if (!made || made.liquidity <= 0n || entry.part.of > 1 || entry.landed?.seenAt !== undefined) return undefined
  const done = reader.liquidityMade?.(entry)
  if (!done || done.liquidity <= 0n) return undefined
  const heldAt = (raw: bigint) => (raw * done.liquidity) / made.liquidity
  const [amount0, amount1] = made.amounts
  const gains = new Map([
    [made.tokens[0], heldAt(amount0) - done.amount0Raw],
    [made.tokens[1], heldAt(amount1) - done.amount1Raw],
  ])
  const isSame = [...gains.values()].every((raw) => raw >= 0n)
  const lost = isSame ? [0n] : [lossOf(gains, prices), lossOf(gains, medianPrices)]
  const [byPrices] = lost
  if (byPrices === undefined) return undefined
  const worst = worstOf(byPrices, lost)
  const { loss = 0n } = amounts
  return worst < made.lossMicros ? { loss: loss - made.lossMicros + (worst > 0n ? worst : 0n) } : undefined
}

/** What a trade or a transfer came to, as far as its receipts tell. @param done the steps of its plan that did not fail */
function tradedBy(entry: Entry, done: readonly Entry[], reservation: Reservation, reader: SettlementReader): Amounts {
  const read = new Map<Entry, Gains | undefined>()
  const gainsOfStep = (step: Entry): Gains | undefined => {
    if (!read.has(step)) read.set(step, reader.gains(step))
    return read.get(step)
  }
  const tells = reader.tells(entry, () => gainsOfStep(entry))
  const gains = tells === undefined || (entry.part.of > 1 && entry.kind !== 'trade') ? undefined : gainsOf(done, gainsOfStep)
  if (!gains) return {}
  const { amounts, gives, prices, medianPrices } = reservation
  const gaveRaw = (token: string, askedRaw: bigint): bigint | undefined => {
    const raw = gains.get(token)
    if (raw === undefined) return undefined
    // A transfer gives what was asked for at least; its token may take more from the sender.
    const leastRaw = entry.kind === 'send' ? askedRaw : 0n
    return -raw > leastRaw ? -raw : leastRaw
  }
  const actual: Record<string, bigint> = {}
  for (const [measure, askedRaw] of Object.entries(amounts)) {
    const raw = measure.startsWith('token:') ? gaveRaw(measure.slice(measure.lastIndexOf('/') + 1), askedRaw) : undefined
    if (raw !== undefined) actual[measure] = raw
  }
  const loss = tells === 'all' ? lossOf(gains, prices) : undefined
  const byMedian = lossOf(gains, medianPrices)
  // The worse of the two: whoever pushes a price for a moment gains nothing by it.
  const losses = [
    loss,
    byMedian,
    ...(done.some(({ landed }) => landed?.seenAt !== undefined) ? [lateLoss(entry, gains, amounts, reader)] : []),
  ]
  if (loss !== undefined) actual['loss'] = worstOf(loss, losses)
  const [given, ...others] = Object.entries(gives)
  if (amounts['value'] === undefined || !given || others.length > 0) return actual
  const [token, mostRaw] = given
  const raw = gaveRaw(token, mostRaw)
  // At the value that was reserved.
  if (raw !== undefined) actual['value'] = divideRaw(amounts['value'] * raw, mostRaw, 'up')
  return actual
}

const worstOf = (loss: bigint, others: readonly (bigint | undefined)[]): bigint =>
  others.reduce<bigint>((worst, each) => (each !== undefined && each > worst ? each : worst), loss)

/** Of what has waited: by the market of when it was mined. Where nobody can tell, what was held for it counts. */
const lateLoss = (entry: Entry, gains: Gains, { loss = 0n }: Amounts, reader: SettlementReader): bigint =>
  reader.lossWhenMined?.(entry, gains) ?? loss

/** Of all of them together; undefined where it is not known of each. */
function gainsOf(done: readonly Entry[], gainsOfStep: (step: Entry) => Gains | undefined): Gains | undefined {
  const gains = new Map<string, bigint>()
  for (const step of done) {
    const ofStep = gainsOfStep(step)
    if (!ofStep) return undefined
    for (const [token, raw] of ofStep) gains.set(token, (gains.get(token) ?? 0n) + raw)
  }
  return gains
}

/** Of a trade all of whose tokens have a price: what it gave less what it got; a gain is below 0. Undefined where it gave nothing: what was reserved counts. */
function lossOf(gains: Gains, prices: Amounts): bigint | undefined {
  const moved = [...gains].filter(([, raw]) => raw !== 0n)
  if (!moved.some(([, raw]) => raw < 0n) || moved.some(([token]) => prices[token] === undefined)) return undefined
  return moved.reduce((loss, [token, raw]) => {
    const micros = microsOf(abs(raw), prices[token] ?? 0n, 'down')
    return raw < 0n ? loss + micros + 1n : loss - micros
  }, 0n)
}

export interface Steps {
  /** The steps before it. */
  readonly before: readonly Entry[] | undefined
  changesOf(step: Entry): readonly HeldChange[]
}

export type StandingAllowance = StandingAmounts & Pick<Refundable, 'expires'>

/** By the name of the allowance, what may be lost by each that a request has set, in all of its steps: by the part that each may take. */
export function standingOf(
  entry: Entry,
  { loss = 0n }: Amounts,
  { before = [], changesOf }: Steps,
): ReadonlyMap<string, StandingAllowance> {
  if (entry.kind !== 'approve' || loss <= 0n) return new Map()
  const set = [...before, entry]
    .filter(({ landed }) => landed?.ok)
    .flatMap(changesOf)
    .flatMap(({ name, held }) => (held && held.ofRaw > 0n ? [{ name, ...held }] : []))
  const direct = set.filter(({ isMiddle }) => isMiddle !== true)
  const byName = new Map((direct.length > 0 ? direct : set).map((each) => [each.name, each]))
  const allRaw = [...byName.values()].reduce((raw, { ofRaw }) => raw + ofRaw, 0n)
  return new Map(
    [...byName].map(([name, { ofRaw, expires }]) => [
      name,
      { amounts: { loss: divideRaw(loss * ofRaw, allRaw, 'up') }, ofRaw, ...(expires !== undefined && { expires }) },
    ]),
  )
}

/** The unit of account of perpetuals, which limits count as one of the reference token. */
const dollar = 'USD'
const one = 1_000_000n

/**
 * What is counted no more of an order of signed actions that has ended. What it saved of its loss counts where its quote is the reference token. Rounded down.
 * @param reference the symbol of the reference token
 */
export function freedByOrder(
  { amounts: { loss = 0n, ...given }, ...counted }: Pick<Refundable, 'amounts' | 'ofRaw' | 'heldRaw'>,
  { unfilled, saved }: Pick<OrderEnd, 'unfilled' | 'saved'>,
  reference: string | undefined,
): Amounts {
  const partOf = ({ numerator, denominator }: Fraction) => divideRaw(counted.ofRaw * numerator, denominator, 'down')
  const isValued = saved !== undefined && (saved.quote === dollar || saved.quote === reference)
  const { digits, scale } = parseDecimal(isValued ? saved.amount : '0')
  const savedMicros = divideRaw(digits * one, 10n ** BigInt(scale), 'down')
  const { loss: unlost = 0n } = refundOf({ amounts: { loss }, ...counted }, partOf(unfilled))
  const lessLost = unlost + savedMicros < loss ? unlost + savedMicros : loss
  const kept = partOf(unfilled) + (saved?.ofOffer ? partOf(saved.ofOffer) : 0n)
  return sum(refundOf({ amounts: given, ...counted }, kept), { loss: lessLost })
}
