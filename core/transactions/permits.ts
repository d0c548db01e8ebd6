// Rights over tokens that a wallet gives by signatures within its transactions' calldata: which are outstanding, what they stand in the way of,
// and when they end.
import { SluiceError, type Checked, type Head, type Json, type Need, type Permit, type Rail } from '../contracts/index.ts'
import { hasOutstanding, isFinal, txHashOf, type Entry, type JournaledPermit } from './entry.ts'

/** As it is journaled before it is signed. @param decimals of the token */
export const journaledPermit = ({ amountRaw, ...permit }: Permit, decimals: number): JournaledPermit => ({
  ...permit,
  decimals,
  amountRaw: amountRaw.toString(),
  state: 'outstanding',
})

export const permitOf = ({ permit2, token, spender, amountRaw, expires, nonce }: JournaledPermit): Permit => ({
  permit2,
  token,
  spender,
  amountRaw: BigInt(amountRaw),
  expires,
  nonce,
})

/** The outstanding permits of a wallet on a network, in memory: those of its entries in the journal. */
export interface OutstandingPermits {
  /** Goes by an entry as it is now. */
  set(entry: Entry): void
  /** Nothing was signed for this entry. */
  remove(key: string): void
  /** Of their entries. */
  keys(): readonly string[]
  /** Why a transaction that needs these rights is not signed now. */
  conflict(
    needs: readonly Need[],
    checked: Pick<Checked, 'permits' | 'synced'>,
    rail: Pick<Rail, 'sequenceStatus'>,
  ): SluiceError | undefined
}

interface Giver {
  readonly permits: readonly JournaledPermit[]
  readonly sequence: Json
  readonly isOpen: boolean
  readonly txHash: string | undefined
}

export function createOutstandingPermits(): OutstandingPermits {
  const givers = new Map<string, Giver>()
  return {
    set(entry) {
      const { key, permits = [], sequence } = entry
      if (hasOutstanding(entry)) givers.set(key, { permits, sequence, isOpen: !isFinal(entry), txHash: txHashOf(entry) })
      else givers.delete(key)
    },
    remove: (key) => void givers.delete(key),
    keys: () => [...givers.keys()],
    conflict(needs, { permits: wanted = [], synced }, rail) {
      for (const need of needs) {
        if (need.is !== 'allowance' || need.permit2 === undefined) continue
        const own = wanted.find((each) => isSameRight(each, need))
        for (const { permits, sequence, isOpen, txHash } of givers.values())
          for (const permit of permits) {
            if (permit.state !== 'outstanding' || !isSameRight(permit, need)) continue
            // Of two permits with one nonce one counts, and anybody who has seen the first may choose. A transaction behind the first would wait for
            // what may never be mined.
            if (own && permit.nonce >= own.nonce) return inTheWay(permit, txHash)
            // It takes the place of the allowance that is there now.
            if (!own && isOpen && rail.sequenceStatus(synced, sequence) !== 'past') return inTheWay(permit, txHash)
          }
      }
      return undefined
    },
  }
}

type Right = Pick<Permit, 'token' | 'spender'> & { readonly permit2?: string }

const isSameRight = (one: Right, other: Right): boolean =>
  one.permit2 === other.permit2 && one.token === other.token && one.spender === other.spender

const inTheWay = ({ spender, expires }: JournaledPermit, txHash: string | undefined) =>
  new SluiceError(
    'INSUFFICIENT_ALLOWANCE',
    `A permit for ${spender} that ${txHash ?? 'another request'} signed is outstanding: send the request again when that is mined or the permit has expired (${new Date(expires * 1000).toISOString()}). To trade several times at once approve the spender with /evm/approve.`,
    { details: { spender, expires, ...(txHash !== undefined && { txHash }) } },
  )

/** Whether it has to be asked whether its permits were used: the rest is known without. */
export const mayEnd = (entry: Entry, { timestamp }: Pick<Head, 'timestamp'>): boolean =>
  isFinal(entry) || (entry.permits ?? []).some(({ state, expires }) => state === 'outstanding' && expires < timestamp)

/**
 * What became of an entry's permits by a new block. Both ends need the blocks that make a transaction final. Pure.
 * @param nonces that the contract has at that block, one for each permit
 * @returns the same object if nothing changed
 */
export function settlePermits(
  entry: Entry,
  nonces: readonly number[],
  { number, timestamp }: Pick<Head, 'number' | 'timestamp'>,
  confirmations: number,
): Entry {
  const { permits = [], landed, state } = entry
  const minedAt = state === 'CONFIRMED' ? landed?.blockNumber : undefined
  const settled = permits.map((permit, index): JournaledPermit => {
    if (permit.state !== 'outstanding') return permit
    const { since: before, ...outstanding } = permit
    const isUsed = (nonces[index] ?? 0) > permit.nonce
    if (!isUsed && timestamp <= permit.expires) return before === undefined ? permit : outstanding
    const since = before ?? (isUsed ? minedAt : undefined) ?? Number(number)
    const isCertain = Number(number) - since + 1 >= confirmations
    return isCertain || before === undefined
      ? { ...permit, since, state: isCertain ? (isUsed ? 'used' : 'expired') : 'outstanding' }
      : permit
  })
  return settled.every((each, index) => each === permits[index]) ? entry : { ...entry, permits: settled }
}
