// The program's accounts and arithmetic: tools/solana-node/programs/pool.c.
import { addressBytes, addressFrom, derivedAddress, type SolanaAccount } from 'sluice/solana'

/** Accounts of the program's pools, by network. solana/local starts with these. */
export const pools: Readonly<Record<string, readonly string[]>> = {
  local: ['4CjDFQvKQuG8shQDVweGED8gfnRToFMViqGiwxtxP9LM', '68HaQ5GwBpW1WKvjuaGMQyig33nCMDVVdvFPxszv7Nmd'],
}

/** A pool as its account has it: what never changes. */
export interface Pool {
  address: string
  authority: string
  vaults: readonly [string, string]
  mints: readonly [string, string]
  feeBasisPoints: bigint
}

/** pool.c, Pool: a tag ("pool01"), two vaults, two mints, the fee in basis points and a bump. */
const tag = 0x31306c6f6f70n
const [vaultsAt, mintsAt, feeAt, size] = [8, 72, 136, 152]
const addressSize = 32

/** @throws Error where there is no pool of the program */
export function readPool(program: string, address: string, account: SolanaAccount | undefined): Pool {
  if (account?.owner !== program || account.data.length !== size) throw new Error(`There is no pool at ${address}.`)
  const data = Buffer.from(account.data)
  if (data.readBigUInt64LE() !== tag) throw new Error(`The pool at ${address} was never made.`)
  const two = (at: number): [string, string] => [
    addressFrom(data.subarray(at, at + addressSize)),
    addressFrom(data.subarray(at + addressSize, at + 2 * addressSize)),
  ]
  const authority = derivedAddress(program, [addressBytes(address)])
  return { address, authority, vaults: two(vaultsAt), mints: two(mintsAt), feeBasisPoints: data.readBigUInt64LE(feeAt) }
}

/** The arithmetic is rounded as the program's, and undefined where the program refuses. */
export interface Reserves {
  inRaw: bigint
  outRaw: bigint
}

const wholeBasisPoints = 10_000n
const most = 2n ** 64n - 1n
const up = (a: bigint, b: bigint) => (a + b - 1n) / b

/** What comes out for exactly `paidRaw`. */
export function gotFor(paidRaw: bigint, { inRaw, outRaw }: Reserves, feeBasisPoints: bigint): bigint | undefined {
  const tradedRaw = paidRaw - up(paidRaw * feeBasisPoints, wholeBasisPoints)
  if (tradedRaw <= 0n || paidRaw > most || inRaw + paidRaw > most) return undefined
  const gotRaw = (tradedRaw * outRaw) / (inRaw + tradedRaw)
  return gotRaw > 0n ? gotRaw : undefined
}

/** What has to be paid for exactly `gotRaw`. */
export function paidFor(gotRaw: bigint, { inRaw, outRaw }: Reserves, feeBasisPoints: bigint): bigint | undefined {
  if (gotRaw >= outRaw) return undefined
  const tradedRaw = up(inRaw * gotRaw, outRaw - gotRaw)
  const paidRaw = up(tradedRaw * wholeBasisPoints, wholeBasisPoints - feeBasisPoints)
  return paidRaw > 0n && inRaw + paidRaw <= most ? paidRaw : undefined
}
