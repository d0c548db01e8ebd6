import type { At, Head } from '../../../contracts/index.ts'
import { ask, nodeLied } from '../../nodes/ask.ts'
import type { Rpc } from '../../nodes/types.ts'
import { confirmed } from '../rpc/commitment.ts'
import { contextSlotOf, valueOf } from '../rpc/json.ts'
import { readAccount } from '../../../../kits/solana/accounts.ts'

/** https://docs.anza.xyz/runtime/sysvars#clock: slot u64, epoch start i64, epoch u64, leader schedule epoch u64, Unix time i64. */
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
const unixTimeAt = 32
const clockSize = 40

/** The newest confirmed slot, with the cluster's own time there: one call. */
export async function readHead(rpc: Rpc, at: At): Promise<Head> {
  const result = await ask(rpc, 'getAccountInfo', [clockSysvar, { encoding: 'base64', ...confirmed }], at)
  const slot = contextSlotOf(result)
  const { data } = readAccount(valueOf(result)) ?? {}
  if (slot === undefined || !data || data.length < clockSize) throw nodeLied(rpc, 'has no clock')
  const { buffer, byteOffset } = data
  return { number: BigInt(slot), timestamp: Number(new DataView(buffer, byteOffset).getBigInt64(unixTimeAt, true)) }
}
