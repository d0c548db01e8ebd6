import { devnetNetwork } from '../devnet/network.ts'
import type { Store } from '../store/store.ts'

/**
 * A devnet that the server brings up begins anew: what the journal has of the one before did not happen on it, its nonces are
 * free again, and the same bytes may be signed a second time. What events told of it stays. A key that was used there alone is free
 * again too: its answer names a transaction that is nowhere any more.
 */
export async function forgetDevnet(store: Store): Promise<void> {
  const { chain, network } = devnetNetwork
  await store.write(async (tx) => {
    const keys = tx.selectFrom('entries').select('idempotency_key').where('idempotency_key', 'is not', null)
    await tx
      .deleteFrom('requests')
      .where('key', 'in', keys.where('chain', '=', chain).where('network', '=', network).$castTo<{ idempotency_key: string }>())
      .where('key', 'not in', keys.where((of) => of.not(of.and({ chain, network }))).$castTo<{ idempotency_key: string }>())
      .execute()
    for (const table of ['hashes', 'orders', 'entries'] as const)
      await tx.deleteFrom(table).where('chain', '=', chain).where('network', '=', network).execute()
  })
}
