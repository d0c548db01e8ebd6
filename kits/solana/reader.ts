import { getBase58Decoder } from '@solana/kit'
import { isObject } from '../../core/base/json.ts'
import { SluiceError, type At, type Token } from '../../core/contracts/index.ts'
import type { ReadRpc, Rpc } from '../nodes/rpc.ts'
import { isAccountKey } from './account-keys.ts'
import { createSetReader } from './account-sets.ts'
import { accountsCalls, readAccounts, requireSlot } from './accounts.ts'
import { confirmed } from './rpc.ts'
import { createImages } from './images.ts'
import type { AccountKind, SolanaReader } from './types.ts'

/** With connections of their own for strangers. */
export const createReader = (rpc: Rpc, nativeCurrency: Token): SolanaReader => ({
  ...readBy(rpc, nativeCurrency),
  ofProgram: (program, kind, at) => readAddresses(rpc, program, kind, at),
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

/** By connections of its own: a node that refuses this question, or takes long, is none the worse for others. */
async function readAddresses(
  rpc: Rpc,
  program: string,
  { discriminator, size }: AccountKind,
  at: At,
): Promise<readonly string[] | undefined> {
  const filters = [{ dataSize: size }, { memcmp: { offset: 0, bytes: getBase58Decoder().decode(discriminator) } }]
  const options = { encoding: 'base64', ...confirmed, dataSlice: { offset: 0, length: 0 }, filters }
  const own = rpc.isolated(() => {})
  try {
    const told = await own.request('getProgramAccounts', [program, options], at)
    const addresses = Array.isArray(told) ? told.map((each: unknown) => (isObject(each) ? each['pubkey'] : undefined)) : []
    return Array.isArray(told) && addresses.every((each) => typeof each === 'string') ? addresses : undefined
  } catch (error) {
    // In which way a node refuses it does not matter: the caller asks otherwise.
    if (at.signal.aborted) throw error
    return undefined
  } finally {
    await own.close()
  }
}
