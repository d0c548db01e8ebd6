// Rights that spenders have over a wallet's tokens now, whoever gave them when: allowances of tokens, those by Permit2, and those over all tokens of a
// collection, such as the positions of a pool.
import type { At, Grant } from '../../core/contracts/index.ts'
import { addressWord } from './encoding.ts'
import { permit2AllowanceCall, permit2AllowanceOf } from './permit2.ts'
import { allowanceCall, noResult, uintOf } from './tokens.ts'
import type { Call, CallResult, EvmReader } from './types.ts'

export interface StandingQuestion {
  readonly tokens: readonly string[]
  /** Contracts of Permit2. */
  readonly permit2s: readonly string[]
  /** Contracts of EIP-721 or EIP-1155. */
  readonly collections: readonly string[]
}

/** https://eips.ethereum.org/EIPS/eip-721 */
const isApprovedForAllCall = (collection: string, owner: string, operator: string): Call => ({
  to: collection,
  data: `0xe985e9c5${addressWord(owner)}${addressWord(operator)}`,
})

/** All in one round trip. What does not answer as a token gives no right. */
export function createStandingRights(reader: EvmReader) {
  return async function standing(
    owner: string,
    spenders: readonly string[],
    { tokens, permit2s, collections }: StandingQuestion,
    at: At,
  ): Promise<readonly Grant[]> {
    if (spenders.length === 0) return []
    const calls: Call[] = []
    const add = (call: Call): number => calls.push(call) - 1
    const ofPermit2s = permit2s.map((permit2) => tokens.map((token) => add(allowanceCall(token, owner, permit2))))
    const asked = spenders.map((spender) => ({
      spender,
      ofTokens: tokens.map((token) => add(allowanceCall(token, owner, spender))),
      byPermit2: permit2s.map((permit2) => tokens.map((token) => add(permit2AllowanceCall(permit2, token, owner, spender)))),
      ofCollections: collections.map((collection) => add(isApprovedForAllCall(collection, owner, spender))),
    }))
    const { head, results } = await reader.read(calls, at)
    const resultAt = (index: number | undefined): CallResult => (index === undefined ? undefined : results[index]) ?? noResult
    const rawAt = (index: number | undefined): bigint => uintOf(resultAt(index)) ?? 0n
    const permitted = (index: number | undefined, ofContract: number | undefined): bigint => {
      const allowance = permit2AllowanceOf(resultAt(index))
      if (!allowance || allowance.expires < BigInt(head.timestamp)) return 0n
      const limitRaw = rawAt(ofContract)
      return allowance.amountRaw < limitRaw ? allowance.amountRaw : limitRaw
    }
    return asked.flatMap(({ spender, ofTokens, byPermit2, ofCollections }): Grant[] => [
      ...tokens.flatMap((token, index) => {
        // What it takes by one way it can take by the other, too.
        const amountRaw = byPermit2.reduce(
          (sum, each, which) => sum + permitted(each[index], ofPermit2s[which]?.[index]),
          rawAt(ofTokens[index]),
        )
        return amountRaw > 0n ? [{ token, spender, amountRaw }] : []
      }),
      ...collections.flatMap((token, index) => (rawAt(ofCollections[index]) > 0n ? [{ token, spender }] : [])),
    ])
  }
}
