import { canonicalHash } from '../canonical-hash.ts'
import type { EntryRow, EventRow, HashRow } from '../../store/tables.ts'
import { isFinal, txHashOf } from '../entry.ts'
import type { Entry } from '../entry.ts'
import { folded } from './folded.ts'
import { writeBody, writeEventBody } from './entry-rows.ts'

export function entryRow(entry: Entry, lane: string): EntryRow {
  const { key, version, chain, network, address, connector, signer, state, nonce, client, requestId, idempotencyKey, createdAt } = entry
  return {
    key,
    version,
    lane,
    chain,
    network,
    address: folded(address),
    via: signer === undefined ? null : (connector ?? null),
    signer: signer === undefined ? null : folded(signer),
    state,
    final: isFinal(entry) ? 1 : 0,
    nonce,
    client,
    request_id: requestId,
    idempotency_key: idempotencyKey ?? null,
    created_at: createdAt,
    shown: shownOf(entry),
    body: writeBody(entry),
  }
}

/** What callers are told of it: sending the same bytes again changes nothing here. */
function shownOf(entry: Entry): string {
  const { state, landed, replacedBy, reason } = entry
  return JSON.stringify([state, txHashOf(entry) ?? null, landed?.blockNumber ?? null, replacedBy ?? null, reason ?? null])
}

export function hashRows(entries: readonly Entry[]): HashRow[] {
  return entries.flatMap(({ key, chain, network, attempts }) =>
    attempts.map(({ id }) => ({ hash: canonicalHash(id), chain, network, entry_key: key })),
  )
}

export function eventRow(entry: Entry): Omit<EventRow, 'id' | 'body'> & { body: string } {
  const { key, chain, network, address, updatedAt } = entry
  return { entry_key: key, chain, network, address: folded(address), at: updatedAt, body: writeEventBody(entry) }
}
