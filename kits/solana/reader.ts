import { SluiceError, type Token } from '../../core/contracts/index.ts'
import type { ReadRpc, Rpc } from '../nodes/rpc.ts'
import { isAccountKey } from './account-keys.ts'
import { createSetReader } from './account-sets.ts'
import { accountsCalls, readAccounts, requireSlot } from './accounts.ts'
import { confirmed } from './rpc.ts'
import { createImages } from './images.ts'
import type { SolanaReader } from './types.ts'

/** With connections of their own for strangers. */
export const createReader = (rpc: Rpc, nativeCurrency: Token): SolanaReader => ({
  ...readBy(rpc, nativeCurrency),
  isolated(take) {
    const own = rpc.isolated(take)
    const changes = createImages(own)
    return {
      reader: readBy(own, nativeCurrency),
      async changes(after, to, interest, at) {
        if (interest.follow.every(isAccountKey)) return changes(after, to, interest, at)
        throw new SluiceError('UNSUPPORTED', 'A plugin follows accounts by their addresses.')
      },
      close: () => own.close(),
    }
  },
})

function readBy(rpc: ReadRpc, nativeCurrency: Token): SolanaReader {
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
