import type { Token } from '../../core/contracts/index.ts'
import type { Rpc } from '../nodes/rpc.ts'
import { createSetReader } from './account-sets.ts'
import { accountsCalls, readAccounts, requireSlot } from './accounts.ts'
import { confirmed } from './rpc.ts'
import type { SolanaReader } from './types.ts'

export function createReader(rpc: Rpc, nativeCurrency: Token): SolanaReader {
  return {
    nativeCurrency,
    async accounts(addresses, at, after) {
      if (addresses.length === 0) return { head: { number: after?.number ?? 0n }, accounts: [] }
      const { slot, accounts } = readAccounts(rpc, await rpc.batch(accountsCalls(addresses, confirmed), at))
      if (after) requireSlot(slot, after)
      return { head: { number: BigInt(slot) }, accounts }
    },
    sets: createSetReader(rpc),
    async start(address, length, at) {
      const calls = accountsCalls([address], { ...confirmed, dataSlice: { offset: 0, length } })
      return readAccounts(rpc, await rpc.batch(calls, at)).accounts[0]
    },
  }
}
