// Rights that spenders have over a wallet's tokens now, whoever gave them when: allowances of tokens, those by Permit2, and those over all tokens of a
// collection or one of them, such as the positions of a pool.
import type { At, EvmVerbs, Grant, Head } from '../../core/contracts/index.ts'
import { addressWord, nativeAddress, word } from './encoding.ts'
import { permit2AllowanceCall, permit2AllowanceOf } from './permit2.ts'
import { allowanceCall, balanceOfCall, noResult, uintOf } from './tokens.ts'
import type { Call, CallResult, Evm, EvmReader } from './types.ts'

export interface StandingQuestion {
  readonly tokens: readonly string[]
  /** Contracts of Permit2. */
  readonly permit2s: readonly string[]
  /** Contracts of EIP-721 or EIP-1155. */
  readonly collections: readonly string[]
  /** Tokens of EIP-721 that the owner may have, beside those that their contract lists. */
  readonly positions?: readonly Position[]
  /** Also halves of rights by Permit2, by which nobody takes anything now. */
  readonly withDormant?: true
}

interface Position {
  readonly collection: string
  readonly tokenId: bigint
}

/** Selectors: https://eips.ethereum.org/EIPS/eip-721 */
const isApprovedForAllCall = (collection: string, owner: string, operator: string): Call => ({
  to: collection,
  data: `0xe985e9c5${addressWord(owner)}${addressWord(operator)}`,
})
const tokenOfOwnerCall = (collection: string, owner: string, index: bigint): Call => ({
  to: collection,
  data: `0x2f745c59${addressWord(owner)}${word(index)}`,
})
const ownerOfCall = ({ collection, tokenId }: Position): Call => ({ to: collection, data: `0x6352211e${word(tokenId)}` })
const approvedCall = ({ collection, tokenId }: Position): Call => ({ to: collection, data: `0x081812fc${word(tokenId)}` })

/** `setApprovalForAll(spender, false)`, or `approve(0, tokenId)`: nobody may take that one then. https://eips.ethereum.org/EIPS/eip-721 */
export const revokeRight: NonNullable<EvmVerbs<Evm>['revoke']> = ({ collection, spender, tokenId }) => {
  const data =
    tokenId === undefined ? `0xa22cb465${addressWord(spender)}${word(0n)}` : `0x095ea7b3${addressWord(nativeAddress)}${word(tokenId)}`
  return { steps: [{ to: collection, data, value: '0' }], needs: [], memo: null }
}

/** Of each collection. Whoever has more gets the rights over these: anybody can send somebody tokens without number. */
const maxPositions = 1_000n

/** What does not answer as a token gives no right. */
export function createStandingRights(reader: EvmReader) {
  return async function standing(
    owner: string,
    spenders: readonly string[],
    { tokens, permit2s, collections, positions = [], withDormant }: StandingQuestion,
    at: At,
  ): Promise<{ readonly head: Head; readonly grants: readonly Grant[] }> {
    const calls: Call[] = []
    const add = (call: Call): number => calls.push(call) - 1
    const ofPermit2s = permit2s.map((permit2) => tokens.map((token) => add(allowanceCall(token, owner, permit2))))
    const balances = collections.map((collection) => add(balanceOfCall(collection, owner)))
    const asked = spenders.map((spender) => ({
      spender,
      ofTokens: tokens.map((token) => add(allowanceCall(token, owner, spender))),
      byPermit2: permit2s.map((permit2) => tokens.map((token) => add(permit2AllowanceCall(permit2, token, owner, spender)))),
      ofCollections: collections.map((collection) => add(isApprovedForAllCall(collection, owner, spender))),
    }))
    const { head, results } = await reader.read(calls, at)
    const resultAt = (index: number | undefined): CallResult => (index === undefined ? undefined : results[index]) ?? noResult
    const rawAt = (index: number | undefined): bigint => uintOf(resultAt(index)) ?? 0n
    const permitted = (
      index: number | undefined,
      ofContract: number | undefined,
    ): { readonly raw: bigint; readonly dormantRaw: bigint } => {
      const allowance = permit2AllowanceOf(resultAt(index))
      const givenRaw = !allowance || allowance.expires < BigInt(head.timestamp) ? 0n : allowance.amountRaw
      const limitRaw = rawAt(ofContract)
      const raw = givenRaw < limitRaw ? givenRaw : limitRaw
      return { raw, dormantRaw: givenRaw - raw }
    }
    // The contract takes nothing by itself.
    const ofContracts = permit2s.flatMap((permit2, which) =>
      tokens.flatMap((token, index) => {
        const dormantRaw = rawAt(ofPermit2s[which]?.[index])
        return withDormant && dormantRaw > 0n ? [{ token, spender: permit2, amountRaw: 0n, byPermit2: permit2, dormantRaw }] : []
      }),
    )
    const owned = collections.map((collection, index) => ({ collection, count: rawAt(balances[index]) }))
    const grants = [
      ...asked.flatMap(({ spender, ofTokens, byPermit2, ofCollections }): Grant[] => [
        ...tokens.flatMap((token, index) => {
          const parts = byPermit2.map((each, which) => permitted(each[index], ofPermit2s[which]?.[index]))
          // What it takes by one way it can take by the other, too.
          const amountRaw = parts.reduce((sum, { raw }) => sum + raw, rawAt(ofTokens[index]))
          const dormantRaw = withDormant ? parts.reduce((sum, part) => sum + part.dormantRaw, 0n) : 0n
          if (amountRaw === 0n && dormantRaw === 0n) return []
          const permit2 = permit2s[parts.findIndex((part) => part.raw > 0n || (withDormant && part.dormantRaw > 0n))]
          return [
            { token, spender, amountRaw, ...(permit2 !== undefined && { byPermit2: permit2 }), ...(dormantRaw > 0n && { dormantRaw }) },
          ]
        }),
        ...collections.flatMap((token, index) => (rawAt(ofCollections[index]) > 0n ? [{ token, spender }] : [])),
      ]),
      ...ofContracts,
      ...(await overSingle(reader, { owner, spenders, owned, positions, head }, at)),
    ]
    return { head, grants }
  }
}

interface OwnedCollections {
  readonly owner: string
  readonly spenders: readonly string[]
  readonly owned: readonly { readonly collection: string; readonly count: bigint }[]
  readonly positions: readonly Position[]
  readonly head: Head
}

/** Rights over one token of a collection: `approve(spender, tokenId)`. */
async function overSingle(
  reader: EvmReader,
  { owner, spenders, owned, positions, head }: OwnedCollections,
  at: At,
): Promise<readonly Grant[]> {
  const listed = owned.flatMap(({ collection, count }) =>
    Array.from({ length: Number(count < maxPositions ? count : maxPositions) }, (_, index) => ({ collection, index: BigInt(index) })),
  )
  const lists = listed.map(({ collection, index }) => tokenOfOwnerCall(collection, owner, index))
  const found = lists.length === 0 ? [] : (await reader.read(lists, at, head)).results
  const all = [
    ...found.flatMap((result, index): Position[] => {
      const [collection, tokenId] = [listed[index]?.collection, uintOf(result)]
      return collection === undefined || tokenId === undefined ? [] : [{ collection, tokenId }]
    }),
    // A contract that does not list them has them counted all the same.
    ...positions.filter(({ collection }) => owned.some((each) => isSame(each.collection, collection) && each.count > 0n)),
  ]
  const distinct = [...new Map(all.map((each) => [`${each.collection.toLowerCase()} ${each.tokenId}`, each])).values()]
  if (distinct.length === 0) return []
  const { results } = await reader.read(
    distinct.flatMap((each) => [ownerOfCall(each), approvedCall(each)]),
    at,
    head,
  )
  const addressAt = (index: number): string | undefined => {
    const result = uintOf(results[index] ?? noResult)
    return result === undefined ? undefined : `0x${result.toString(16).padStart(40, '0')}`
  }
  return distinct.flatMap(({ collection, tokenId }, index): Grant[] => {
    const [holder, approved] = [addressAt(2 * index), addressAt(2 * index + 1)]
    const spender = spenders.find((each) => isSame(each, approved ?? ''))
    return spender !== undefined && isSame(holder ?? '', owner) ? [{ token: collection, spender, tokenId }] : []
  })
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
