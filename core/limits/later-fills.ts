// What was filled of an order after it was placed counts with what it lost by then: an order at the market reserves nothing, and whoever waits for the market
// to move takes it at a price of before.
import type { Transaction } from 'kysely'
import { divideRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import type { Store } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { LaterFills } from '../transactions/budgets.ts'
import { settle } from './account.ts'
import { orderName, readRefundable, signedOrderName } from './refundable.ts'
import { lagMs, lockAccount, readReservations, writeReserved, type StoredAccount } from './reservations.ts'

type Tx = Transaction<Tables>

/**
 * The worse of what was counted for it as it was placed, and what it lost.
 * @returns the account, where it was written @throws errors of the database alone: fills have to be stored
 */
export async function settleFills(fills: LaterFills, owner: string, tx: Tx, kind: Store['kind']): Promise<StoredAccount | undefined> {
  const { part, lostMicros } = fills
  try {
    const { account: before, nowMs } = await lockAccount(owner, tx, kind)
    const countedMicros = divideRaw((await countedFor(fills, owner, tx)) * part.numerator, part.denominator, 'down')
    if (lostMicros <= countedMicros) return undefined
    const account = settle(before, {}, { loss: lostMicros - countedMicros }, { nowMs, lagMs })
    await writeReserved({ owner, account, held: new Map() }, tx, kind)
    return { account, nowMs }
  } catch (error) {
    // What cannot be read stays as it is, and nothing more is signed for its client.
    if (!(error instanceof SluiceError)) throw error
    return undefined
  }
}

/** The loss of the whole order, as it was reserved. */
async function countedFor({ entry, index, orderId }: LaterFills, owner: string, tx: Tx): Promise<bigint> {
  const { connector } = entry
  const names = [
    signedOrderName(entry, index),
    ...(connector === undefined || orderId === undefined ? [] : [orderName({ ...entry, connector }, orderId)]),
  ]
  const kept = [...(await readRefundable(names, tx)).values()].find((each) => each.owner === owner)
  if (kept) return kept.amounts['loss'] ?? 0n
  const held = (await readReservations(owner, [entry.key], tx)).get(entry.key)
  return (held?.parts ? held.parts.get(index) : held?.amounts)?.['loss'] ?? 0n
}
