import type { At, Chain, Head, HeadChanges, Interest } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { accountsCalls, requireSlot } from './accounts.ts'
import { confirmed, integerOf, slotsOf, valueOf } from './rpc.ts'
import type { Solana, SolanaImage, SolanaImageData } from './types.ts'

/**
 * The followed accounts as nodes have them now, in one batch. Confirmed slots are on one fork, so that what is read later replaces what was read
 * before. The time is that of the slot that was asked for: the read slot is not older.
 */
export const createImages =
  (rpc: ReadRpc): NonNullable<Chain<Solana>['changes']> =>
  async (_after: Head, to: Head, { follow }: Interest, at: At): Promise<readonly HeadChanges<Solana>[]> => {
    const addresses = [...new Set(follow)]
    if (addresses.length === 0) return [{ head: to, changes: [] }]
    const calls = accountsCalls(addresses, confirmed)
    const answers = await rpc.batch(calls, at)
    let next = 0
    const changes: SolanaImage[] = []
    for (const [index, { size = 0 }] of calls.entries()) {
      const result = resultOf(rpc, 'getMultipleAccounts', answers[index])
      const [slots, values] = [slotsOf(result), valueOf(result)]
      if (!slots || !Array.isArray(values) || values.length !== size) throw invalidAnswer(rpc, 'gave no accounts to getMultipleAccounts')
      for (const [place, slot] of slots.entries()) {
        requireSlot(slot, to)
        changes.push({ address: addresses[next++] ?? '', slot, data: readImage(values[place], rpc) })
      }
    }
    const slot = Math.min(...changes.map((each) => each.slot))
    return [{ head: { number: BigInt(slot), timestamp: to.timestamp }, changes }]
  }

/** As the node writes it: most images are of accounts that have not changed, and are compared and never decoded. */
function readImage(value: unknown, rpc: ReadRpc): SolanaImageData | null {
  if (value === null) return null
  const { owner, lamports, data } = isObject(value) ? value : {}
  const lamportsRaw = integerOf(lamports)
  const [text, encoding]: unknown[] = Array.isArray(data) ? data : []
  if (lamportsRaw === undefined || typeof owner !== 'string' || typeof text !== 'string' || encoding !== 'base64')
    throw invalidAnswer(rpc, 'gave a malformed account to getMultipleAccounts')
  return { owner, lamports: lamportsRaw.toString(), base64: text }
}
