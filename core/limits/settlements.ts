// What a reservation is settled to: what its transaction did, as far as that is known. Pure.
import { abs, divideRaw } from '../base/decimal.ts'
import { microsOf } from '../transactions/budgets.ts'
import type { Entry } from '../transactions/entry.ts'
import type { Amounts } from './account.ts'
import { gasMeasureOf } from './limit-checks.ts'
import type { Reservation } from './reservations.ts'

/** Of transactions that are final. It answers at once; undefined where it cannot tell. */
export interface OutcomeReader {
  /** What the wallet gained (above 0) or gave of each token, by address. */
  gains(entry: Entry): ReadonlyMap<string, bigint> | undefined
  /** Of the coin, smallest units. */
  gasCost(entry: Entry): bigint | undefined
}

/** What an entry that is final came to. */
export function actualOf(entry: Entry, reservation: Reservation, reader: OutcomeReader): Amounts {
  const { landed, part } = entry
  const gas = gasMeasureOf(entry)
  const { [gas]: heldGas = 0n, count, ...given } = reservation.amounts
  // The steps before it may have moved what it was to exchange.
  const ofOthers: Amounts = part.of > 1 ? given : {}
  if (!landed) return ofOthers
  const fees: Amounts = { ...(count !== undefined && { count: 1n }), [gas]: reader.gasCost(entry) ?? heldGas }
  if (!landed.ok) return { ...fees, ...ofOthers }
  return { ...fees, ...given, ...tradedBy(entry, { ...reservation, amounts: given }, reader) }
}

/** What a trade came to, as far as its receipt tells: the native coin leaves no event. */
function tradedBy(entry: Entry, reservation: Reservation, reader: OutcomeReader): Amounts {
  const gains = (entry.kind === 'trade' || entry.kind === 'position') && entry.part.of === 1 ? reader.gains(entry) : undefined
  if (!gains) return {}
  const { amounts, gives, prices, medianPrices } = reservation
  const gaveRaw = (token: string): bigint | undefined => {
    const raw = gains.get(token)
    return raw === undefined ? undefined : raw < 0n ? -raw : 0n
  }
  const actual: Record<string, bigint> = {}
  for (const measure of Object.keys(amounts)) {
    const raw = measure.startsWith('token:') ? gaveRaw(measure.slice(measure.lastIndexOf('/') + 1)) : undefined
    if (raw !== undefined) actual[measure] = raw
  }
  const loss = lossOf(gains, prices)
  const byMedian = lossOf(gains, medianPrices)
  // The worse of the two: whoever pushes a price for a moment gains nothing by it.
  if (loss !== undefined) actual['loss'] = byMedian !== undefined && byMedian > loss ? byMedian : loss
  const [given, ...others] = Object.entries(gives)
  if (amounts['value'] === undefined || !given || others.length > 0) return actual
  const [token, mostRaw] = given
  const raw = gaveRaw(token)
  // At the value that was reserved.
  if (raw !== undefined) actual['value'] = divideRaw(amounts['value'] * raw, mostRaw, 'up')
  return actual
}

/** Of a trade all of whose tokens have a price: what it gave less what it got; a gain is below 0. */
function lossOf(gains: ReadonlyMap<string, bigint>, prices: Amounts): bigint | undefined {
  const moved = [...gains].filter(([, raw]) => raw !== 0n)
  if (moved.length < 2 || moved.some(([token]) => prices[token] === undefined)) return undefined
  return moved.reduce((loss, [token, raw]) => {
    const micros = microsOf(abs(raw), prices[token] ?? 0n, 'down')
    return raw < 0n ? loss + micros + 1n : loss - micros
  }, 0n)
}
