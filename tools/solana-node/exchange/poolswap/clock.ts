import type { SolanaAccount } from 'sluice/solana'

/** https://docs.anza.xyz/runtime/sysvars#clock: slot u64, epoch start i64, epoch u64, leader schedule epoch u64, Unix time i64. */
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
const unixTimeAt = 32
const clockSize = 40

/** Seconds since the Unix epoch, by the cluster. */
export function timeIn(clock: SolanaAccount | undefined): number {
  if (!clock || clock.data.length < clockSize) throw new Error('The network has no clock.')
  const { buffer, byteOffset } = clock.data
  return Number(new DataView(buffer, byteOffset).getBigInt64(unixTimeAt, true))
}
