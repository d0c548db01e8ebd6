import type { RpcCall } from '../../nodes/types.ts'
import type { Attempt } from './sight.ts'
import { isDurable } from '../../../../kits/solana/sequence.ts'

/** https://solana.com/docs/rpc/http/getsignaturestatuses: "up to a maximum of 256". */
const mostSignatures = 256

/** The nonce accounts that open attempts are signed upon. */
export const nonceAccountsOf = (open: readonly Attempt[]): readonly string[] => [
  ...new Set(open.flatMap(({ slot }) => (isDurable(slot) ? slot.nonceAccount : []))),
]

/** All of them in as few calls as that takes. */
export const statusCalls = (ids: readonly string[], searchTransactionHistory = true): readonly RpcCall[] =>
  Array.from({ length: Math.ceil(ids.length / mostSignatures) }, (_, part) => ({
    method: 'getSignatureStatuses',
    params: [ids.slice(part * mostSignatures, (part + 1) * mostSignatures), { searchTransactionHistory }],
  }))
