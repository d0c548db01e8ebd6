import { SluiceError, type At, type Head } from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, ask, type ReadRpc, type Rpc } from '../nodes/rpc.ts'
import { contextSlotOf, integerOf, slotsOf, valueOf, confirmed } from './rpc.ts'
import type { SolanaAccount } from './types.ts'
import { isObject } from '../../core/base/json.ts'

/** https://solana.com/docs/rpc/http/getmultipleaccounts: "up to a maximum of 100". */
export const maxPerCall = 100

/** Accounts from one batch, with the oldest and the newest slot: a node may answer its calls at different slots. */
interface Accounts {
  slot: number
  newestSlot: number
  accounts: readonly (SolanaAccount | undefined)[]
  /** That of each. */
  slots: readonly number[]
}

/** The calls that read these accounts, for one batch. */
export function accountsCalls(addresses: readonly string[], options: { commitment: string; dataSlice?: object }): readonly RpcCall[] {
  return Array.from({ length: Math.ceil(addresses.length / maxPerCall) }, (_, part) => ({
    method: 'getMultipleAccounts',
    params: [addresses.slice(part * maxPerCall, (part + 1) * maxPerCall), { encoding: 'base64', ...options }],
    size: Math.min(maxPerCall, addresses.length - part * maxPerCall),
  }))
}

/** Reads the answers to all of those calls. */
export function readAccounts(rpc: ReadRpc, answers: readonly (RpcAnswer | undefined)[]): Accounts {
  const parts = answers.map((answer) => {
    const result = resultOf(rpc, 'getMultipleAccounts', answer)
    const [slots, values] = [slotsOf(result), valueOf(result)]
    const accounts = Array.isArray(values) ? values.map(readAccount) : []
    if (!slots || accounts.includes(null)) throw invalidAnswer(rpc, 'gave a malformed account to getMultipleAccounts')
    return { slots, accounts: accounts.map((each) => each ?? undefined) }
  })
  const slots = parts.flatMap((part) => part.slots)
  return { slot: Math.min(...slots), newestSlot: Math.max(...slots), accounts: parts.flatMap(({ accounts }) => accounts), slots }
}

/** Reads an account in base64. Undefined where there is none, null where the value is malformed. */
export function readAccount(value: unknown): SolanaAccount | undefined | null {
  if (value === null) return undefined
  if (!isObject(value)) return null
  const lamportsRaw = integerOf(value['lamports'])
  const { owner, data } = value
  const [text, encoding]: unknown[] = Array.isArray(data) ? data : []
  if (lamportsRaw === undefined || typeof owner !== 'string' || typeof text !== 'string' || encoding !== 'base64') return null
  return { lamportsRaw, owner, data: Buffer.from(text, 'base64') }
}

/** @throws SluiceError NETWORK where the node is behind the slot that it is to be asked for */
export function requireSlot(slot: number, { number }: Pick<Head, 'number'>): void {
  if (BigInt(slot) >= number) return
  throw new SluiceError('NETWORK', `The node answers by the slot ${slot}, and not yet by ${number}. Try again.`, { retryAfterSeconds: 1 })
}

/** https://docs.anza.xyz/runtime/sysvars#clock: slot u64, epoch start i64, epoch u64, leader schedule epoch u64, Unix time i64. */
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
const unixTimeAt = 32
const clockSize = 40

/** The newest confirmed slot, with the cluster's own time there: one call. */
export async function readHead(rpc: Rpc, at: At): Promise<Head> {
  const result = await ask(rpc, 'getAccountInfo', [clockSysvar, { encoding: 'base64', ...confirmed }], at)
  const slot = contextSlotOf(result)
  const timestamp = timeOf(readAccount(valueOf(result)) ?? undefined)
  if (slot === undefined || timestamp === undefined) throw invalidAnswer(rpc, 'gave no valid clock')
  return { number: BigInt(slot), timestamp }
}

/** Seconds since the Unix epoch, by the cluster: what the account of its clock says. */
export function timeOf(clock: Pick<SolanaAccount, 'data'> | undefined): number | undefined {
  if (!clock || clock.data.length < clockSize) return undefined
  const { buffer, byteOffset } = clock.data
  return Number(new DataView(buffer, byteOffset).getBigInt64(unixTimeAt, true))
}

/** Decodes the data of an account. Undefined where it is malformed. */
export function tryDecode<T>(decoder: { decode(data: Uint8Array): T }, data: Uint8Array): T | undefined {
  try {
    return decoder.decode(data)
  } catch {
    return undefined
  }
}
