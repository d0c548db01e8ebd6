import type { At, Chain, Head, HeadChanges, Interest } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { keyedCalls } from './account-keys.ts'
import { requireSlot } from './accounts.ts'
import { confirmed, integerOf, slotsOf, valueOf } from './rpc.ts'
import type { Solana, SolanaImage, SolanaImageData } from './types.ts'

/**
 * The followed accounts as nodes have them now, in one batch. Confirmed slots are on one fork, so that what is read later replaces what was read
 * before. The time is that of the slot that was asked for: the read slot is not older.
 */
export const createImages =
  (rpc: ReadRpc): NonNullable<Chain<Solana>['changes']> =>
  async (_after: Head, to: Head, { follow }: Interest, at: At): Promise<readonly HeadChanges<Solana>[]> => {
    const parts = keyedCalls([...new Set(follow)], confirmed)
    if (parts.length === 0) return [{ head: to, changes: [] }]
    const answers = await rpc.batch(
      parts.map(({ call }) => call),
      at,
    )
    const changes = parts.flatMap(({ keys }, index): readonly SolanaImage[] => {
      const result = resultOf(rpc, 'getMultipleAccounts', answers[index])
      const [slots, values] = [slotsOf(result), valueOf(result)]
      if (!slots || !Array.isArray(values) || values.length !== keys.length)
        throw invalidAnswer(rpc, 'gave no accounts to getMultipleAccounts')
      return keys.map((address, place): SolanaImage => {
        const slot = slots[place] ?? 0
        requireSlot(slot, to)
        const data = imageIn(values[place])
        if (data === undefined) throw invalidAnswer(rpc, 'gave a malformed account to getMultipleAccounts')
        return { address, slot, data }
      })
    })
    const slot = Math.min(...changes.map((each) => each.slot))
    return [{ head: { number: BigInt(slot), timestamp: to.timestamp }, changes }]
  }

/** As the node writes it: most images are of accounts that have not changed, and are compared and never decoded. Undefined where it is none. */
export function imageIn(value: unknown): SolanaImageData | null | undefined {
  if (value === null) return null
  const { owner, lamports, data } = isObject(value) ? value : {}
  const lamportsRaw = integerOf(lamports)
  const [text, encoding]: unknown[] = Array.isArray(data) ? data : []
  if (lamportsRaw === undefined || typeof owner !== 'string' || typeof text !== 'string' || encoding !== 'base64') return undefined
  return { owner, lamports: lamportsRaw.toString(), base64: text }
}

/** Whether both are the same account at the same state. What it has of lamports changes no pool. */
export const isSameImage = (one: SolanaImageData | null | undefined, other: SolanaImageData | null | undefined): boolean =>
  one === other || (!!one && !!other && one.base64 === other.base64 && one.owner === other.owner)
