// What waits to be mined is valued anew: from the third block after it was checked its loss is held as it is by the market of now, where that is more.
import type { Transaction } from 'kysely'
import { SluiceError } from '../base/errors.ts'
import type { NetworkName } from '../base/networks.ts'
import type { Store } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import { payerOf, type Entry } from '../transactions/entry.ts'
import { negative, reserve, sum, usedIn } from './account.ts'
import { limitRaw, referenceDecimals, type NetworkLimits } from './limit-checks.ts'
import {
  lockAccount,
  openOf,
  ownerOf,
  readReservations,
  writeReserved,
  type ExchangedAmounts,
  type Reservation,
  type StoredAccount,
} from './reservations.ts'

/** By the market of now, in millionths of the reference token. */
export interface LossNow {
  readonly lossMicros: bigint
  /** Its worst outcome is further from the market than a request of the client may be. */
  readonly isTooFar: boolean
}

export interface RevalueParts {
  limitsOn(client: string, on: NetworkName): NetworkLimits | undefined
  lossNow(on: NetworkName & { readonly client: string }, exchanged: ExchangedAmounts): LossNow | undefined
  readonly kind: Store['kind']
}

interface RevaluedEntries {
  /** By the key of the entry, why it has to end. */
  readonly passing: Map<string, string>
  /** By owner, those that were written. */
  readonly accounts: Map<string, StoredAccount>
}

/** @param waiting signed, and not in a block @throws errors of the database alone */
export async function revalue(waiting: readonly Entry[], parts: RevalueParts, tx: Transaction<Tables>): Promise<RevaluedEntries> {
  const revalued: RevaluedEntries = { passing: new Map(), accounts: new Map() }
  // In one order on all servers.
  for (const client of [...new Set(waiting.map(payerOf))].toSorted())
    try {
      const own = waiting.filter((entry) => payerOf(entry) === client)
      await revalueOf(client, own, parts, revalued, tx)
    } catch (error) {
      // What cannot be read stays as it is, and nothing more is signed for its client.
      if (!(error instanceof SluiceError)) throw error
    }
  return revalued
}

async function revalueOf(
  client: string,
  entries: readonly Entry[],
  { limitsOn, lossNow, kind }: RevalueParts,
  { passing, accounts }: RevaluedEntries,
  tx: Transaction<Tables>,
): Promise<void> {
  const [first] = entries
  const limits = first && limitsOn(client, first)
  if (!first || !limits) return
  const owner = ownerOf(client)
  const stored = await lockAccount(owner, tx, kind)
  let { account } = stored
  let held = await readReservations(
    owner,
    entries.map(({ key }) => key),
    tx,
  )
  const raised = new Map<string, Reservation>()
  const mostRaw = limits.maxDailyLoss === undefined ? undefined : limitRaw(limits.maxDailyLoss, referenceDecimals)
  for (const entry of entries.toSorted((one, other) => one.nonce - other.nonce)) {
    const { key, chain, network } = entry
    const reservation = held.get(key)
    const now = reservation?.exchanged && lossNow({ chain, network, client }, reservation.exchanged)
    if (!reservation?.exchanged || !now || now.lossMicros <= reservation.exchanged.lossMicros) continue
    if (now.lossMicros > (reservation.amounts['loss'] ?? 0n)) {
      const greater = { ...reservation, amounts: { ...reservation.amounts, loss: now.lossMicros } }
      const after = new Map([...held, [key, greater]])
      account = reserve(account, sum(openOf(after), negative(openOf(held))))
      held = after
      raised.set(key, greater)
    }
    if (now.isTooFar) passing.set(key, 'By the market of now its worst outcome is further from it than maxPriceImpact allows.')
    else if (mostRaw !== undefined && usedIn(account, 'day', 'loss', stored.nowMs) > mostRaw)
      passing.set(key, 'By the market of now it would lose more than maxDailyLoss allows.')
  }
  if (raised.size === 0) return
  await writeReserved({ owner, account, held: raised }, tx, kind)
  accounts.set(owner, { account, nowMs: stored.nowMs })
}
