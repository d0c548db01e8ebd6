// Which block a slot has, by the cluster's own list of the last ones: every node has it as an account, also one that keeps no history.
import type { At, Head } from '../../core/contracts/index.ts'
import { invalidAnswer, type Rpc } from '../nodes/rpc.ts'
import { accountsCalls, clockSysvar, readAccounts } from './accounts.ts'
import { addressFrom } from './addresses.ts'
import { confirmed } from './rpc.ts'

/**
 * https://docs.anza.xyz/runtime/sysvars#slothashes, and solana-slot-hashes, MAX_ENTRIES (512): how many there are, u64, then the newest first, a slot, u64, and
 * the hash of its block.
 */
const slotHashesSysvar = 'SysvarS1otHashes111111111111111111111111111'
const [entriesAt, slotSize, entrySize] = [8, 8, 40]
/** Of the clock, in the same part of its account: see `timeOf`. */
const unixTimeAt = 32

interface Entry {
  readonly slot: bigint
  readonly hash: string
}

function entryAt(data: Buffer, at: number): Entry | undefined {
  if (data.length < at + entrySize) return undefined
  return { slot: data.readBigUInt64LE(at), hash: addressFrom(data.subarray(at + slotSize, at + entrySize)) }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

/** The newest block in that list, the one before the newest confirmed slot, with the time of that: one call. */
export async function readHashedHead(rpc: Rpc, at: At): Promise<Head> {
  const options = { ...confirmed, dataSlice: { offset: entriesAt, length: entrySize } }
  const { accounts } = readAccounts(rpc, await rpc.batch(accountsCalls([clockSysvar, slotHashesSysvar], options), at))
  const [clock, newest] = accounts.map((each) => each && bytesOf(each.data))
  const entry = newest && entryAt(newest, 0)
  if (!clock || clock.length < unixTimeAt || !entry) throw invalidAnswer(rpc, 'gave no hashes of its last slots')
  return { number: entry.slot, hash: entry.hash, timestamp: Number(clock.readBigInt64LE(unixTimeAt - entriesAt)) }
}

/** Whether that slot has another block, or none. False of one that is newer than the list, or older. */
export async function isSlotUndone(
  rpc: Rpc,
  { number, hash }: { readonly number: bigint; readonly hash: string },
  at: At,
): Promise<boolean> {
  const { accounts } = readAccounts(rpc, await rpc.batch(accountsCalls([slotHashesSysvar], confirmed), at))
  const [list] = accounts
  if (!list || list.data.length < entriesAt) throw invalidAnswer(rpc, 'gave no hashes of its last slots')
  const data = bytesOf(list.data)
  const count = Number(data.readBigUInt64LE(0))
  let isNewer = true
  for (let index = 0; index < count; index += 1) {
    const entry = entryAt(data, entriesAt + index * entrySize)
    if (!entry) break
    if (entry.slot === number) return entry.hash !== hash
    if (entry.slot < number) return !isNewer
    isNewer = false
  }
  return false
}
