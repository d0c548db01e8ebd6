import { isObject } from '../../core/kits/nodes/is-object.ts'
import { nodeLied, resultOf } from '../../core/kits/nodes/ask.ts'
import type { Rpc, RpcAnswer, RpcCall } from '../../core/kits/nodes/types.ts'
import { contextSlotOf, integerOf, valueOf } from '../../core/kits/solana/rpc/json.ts'
import type { SolanaAccount } from './types.ts'

/** https://solana.com/docs/rpc/http/getmultipleaccounts: "up to a maximum of 100". */
const mostPerCall = 100

/** Accounts of the answers to one batch, whose calls a node may answer at different slots: the oldest, and the newest. */
export interface Accounts {
  slot: number
  newestSlot: number
  accounts: readonly (SolanaAccount | undefined)[]
}

/** As many calls as that takes, for one batch. */
export function accountsCalls(addresses: readonly string[], options: { commitment: string; dataSlice?: object }): readonly RpcCall[] {
  return Array.from({ length: Math.ceil(addresses.length / mostPerCall) }, (_, part) => ({
    method: 'getMultipleAccounts',
    params: [addresses.slice(part * mostPerCall, (part + 1) * mostPerCall), { encoding: 'base64', ...options }],
  }))
}

/** What all of those calls gave. */
export function readAccounts(rpc: Rpc, answers: readonly (RpcAnswer | undefined)[]): Accounts {
  const parts = answers.map((answer) => {
    const result = resultOf(rpc, 'getMultipleAccounts', answer)
    const [slot, values] = [contextSlotOf(result), valueOf(result)]
    const accounts = Array.isArray(values) ? values.map(readAccount) : []
    if (slot === undefined || accounts.includes(null)) throw nodeLied(rpc, 'answered getMultipleAccounts with something that is no account')
    return { slot, accounts: accounts.map((each) => each ?? undefined) }
  })
  const slots = parts.map(({ slot }) => slot)
  return { slot: Math.min(...slots), newestSlot: Math.max(...slots), accounts: parts.flatMap(({ accounts }) => accounts) }
}

/** An account in base64; undefined where there is none, null where that is no account. */
export function readAccount(value: unknown): SolanaAccount | undefined | null {
  if (value === null) return undefined
  if (!isObject(value)) return null
  const lamportsRaw = integerOf(value['lamports'])
  const { owner, data } = value
  const [text, encoding]: unknown[] = Array.isArray(data) ? data : []
  if (lamportsRaw === undefined || typeof owner !== 'string' || typeof text !== 'string' || encoding !== 'base64') return null
  return { lamportsRaw, owner, data: Buffer.from(text, 'base64') }
}
