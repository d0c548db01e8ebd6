import type { Token, At, Head } from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, ask, type Rpc } from '../nodes/rpc.ts'
import { contextSlotOf, integerOf, valueOf, confirmed } from './rpc.ts'
import type { SolanaAccount, SolanaReader } from './types.ts'
import { isObject } from '../../core/json.ts'

/** https://solana.com/docs/rpc/http/getmultipleaccounts: "up to a maximum of 100". */
const mostPerCall = 100

/** Accounts of the answers to one batch, whose calls a node may answer at different slots: the oldest, and the newest. */
interface Accounts {
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
    if (slot === undefined || accounts.includes(null))
      throw invalidAnswer(rpc, 'answered getMultipleAccounts with something that is no account')
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

export function createReader(rpc: Rpc, nativeCurrency: Token): SolanaReader {
  return {
    nativeCurrency,
    async accounts(addresses, at) {
      if (addresses.length === 0) return { head: { number: 0n }, accounts: [] }
      const { slot, accounts } = readAccounts(rpc, await rpc.batch(accountsCalls(addresses, confirmed), at))
      return { head: { number: BigInt(slot) }, accounts }
    },
  }
}

/** https://docs.anza.xyz/runtime/sysvars#clock: slot u64, epoch start i64, epoch u64, leader schedule epoch u64, Unix time i64. */
const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
const unixTimeAt = 32
const clockSize = 40

/** The newest confirmed slot, with the cluster's own time there: one call. */
export async function readHead(rpc: Rpc, at: At): Promise<Head> {
  const result = await ask(rpc, 'getAccountInfo', [clockSysvar, { encoding: 'base64', ...confirmed }], at)
  const slot = contextSlotOf(result)
  const { data } = readAccount(valueOf(result)) ?? {}
  if (slot === undefined || !data || data.length < clockSize) throw invalidAnswer(rpc, 'has no clock')
  const { buffer, byteOffset } = data
  return { number: BigInt(slot), timestamp: Number(new DataView(buffer, byteOffset).getBigInt64(unixTimeAt, true)) }
}

/** What the bytes of an account say; undefined where they say nothing, whatever the node calls it: decoders throw. */
export function tryDecode<T>(decoder: { decode(data: Uint8Array): T }, data: Uint8Array): T | undefined {
  try {
    return decoder.decode(data)
  } catch {
    return undefined
  }
}
