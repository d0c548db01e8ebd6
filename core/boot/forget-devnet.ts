import { devnetNetwork } from '../devnet/index.ts'
import type { Store } from '../store/index.ts'

/**
 * A devnet that the server brings up begins anew: what the journal has of the one before did not happen on it, its nonces are
 * free again, and the same bytes may be signed a second time. What events told of it stays.
 */
export async function forgetDevnet(store: Store): Promise<void> {
  const { chain, network } = devnetNetwork
  await store.write(async (tx) => {
    for (const table of ['hashes', 'entries'] as const)
      await tx.deleteFrom(table).where('chain', '=', chain).where('network', '=', network).execute()
  })
}
