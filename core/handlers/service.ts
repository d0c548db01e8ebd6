import { badFields, type JournaledTransaction } from '../api/index.ts'
import { txHashOf, type Entry } from '../transactions/entry.ts'
import { type Transactions } from '../transactions/transactions.ts'
import { visibleWallets } from './caller.ts'
import type { Verb } from './context.ts'

/** What an entry's key looks like: a cursor is one. */
const cursorPattern = /^[0-9a-z]+(-[0-9a-z]+)+$/

const usualLimit = 100

/** From the journal alone: it answers also for networks that are down, or whose plugin is gone. */
export const transactions: Verb<'Transactions'> = async (request, { services, caller }) => {
  const { pageSize } = services.settings.limits
  const { cursor, limit = Math.min(usualLimit, pageSize) } = request
  if (cursor !== undefined && !cursorPattern.test(cursor))
    throw badFields([{ field: 'cursor', problem: 'is no nextCursor of an earlier answer' }])
  if (limit > pageSize) throw badFields([{ field: 'limit', problem: `is above this server's limits.pageSize of ${pageSize}` }])
  const addresses = visibleWallets(caller)
  const { entries, nextCursor } = await services.transactions.list({ ...request, limit, ...(addresses && { addresses }) })
  return {
    transactions: entries.map((entry) => showTransaction(entry, services.transactions.status)),
    ...(nextCursor !== undefined && { nextCursor }),
  }
}

/** A transaction as the journal has it, in a caller's terms. */
export function showTransaction(entry: Entry, status: Transactions['status']): JournaledTransaction {
  const { chain, network, address, kind, connector, nonce, state, landed, replacedBy, reason, attempts, requestId } = entry
  const { signer, idempotencyKey, createdAt, updatedAt, deadline } = entry
  return {
    chain,
    network,
    address,
    kind,
    ...(connector !== undefined && { connector }),
    ...(signer !== undefined && { signer }),
    txHash: txHashOf(entry) ?? null,
    nonce,
    txState: state,
    txStatus: status(entry),
    txBlock: landed?.blockNumber ?? -1,
    ...(replacedBy !== undefined && { replacedBy }),
    ...(reason !== undefined && { reason }),
    attempts: attempts.map(({ id, signedAt, sends }) => ({ txHash: id, signedAt, sends })),
    requestId,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    createdAt,
    updatedAt,
    ...(deadline !== undefined && { deadline }),
  }
}
