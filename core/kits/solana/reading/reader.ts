import type { Token } from '../../../contracts/index.ts'
import type { Rpc } from '../../nodes/types.ts'
import { confirmed } from '../rpc/commitment.ts'
import { accountsCalls, readAccounts } from '../../../../kits/solana/accounts.ts'
import type { SolanaReader } from '../../../../kits/solana/types.ts'

export function createReader(rpc: Rpc, nativeCurrency: Token): SolanaReader {
  return {
    nativeCurrency,
    async accounts(addresses, at) {
      if (addresses.length === 0) return { head: { number: 0n }, accounts: [] }
      const { slot, accounts } = readAccounts(rpc, await rpc.batch(accountsCalls(addresses, confirmed), at))
      return { head: { number: BigInt(slot) }, accounts }
    },
  }
}
