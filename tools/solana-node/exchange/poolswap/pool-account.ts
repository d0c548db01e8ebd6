import { getAddressDecoder, getArrayDecoder, getStructDecoder, getU64Decoder } from '@solana/kit'
import type { SolanaAccount } from 'sluice/solana'
import { authorityOf } from './derived-address.ts'

/** A pool as its account has it: what never changes. */
export interface Pool {
  address: string
  authority: string
  vaults: readonly [string, string]
  mints: readonly [string, string]
  feeBasisPoints: bigint
}

/** programs/pool.c, TAG: "pool01". */
const tag = 0x31306c6f6f70n
const two = { size: 2 } as const
/** programs/pool.c, Pool. */
const layout = getStructDecoder([
  ['tag', getU64Decoder()],
  ['vaults', getArrayDecoder(getAddressDecoder(), two)],
  ['mints', getArrayDecoder(getAddressDecoder(), two)],
  ['feeBasisPoints', getU64Decoder()],
  ['bump', getU64Decoder()],
])

/** @throws Error where there is no pool of the program */
export function readPool(program: string, address: string, account: SolanaAccount | undefined): Pool {
  if (account?.owner !== program || account.data.length !== layout.fixedSize) throw new Error(`There is no pool at ${address}.`)
  const { tag: found, vaults, mints, feeBasisPoints, bump } = layout.decode(account.data)
  const [[vault0, vault1], [mint0, mint1]] = [vaults, mints]
  if (found !== tag || !vault0 || !vault1 || !mint0 || !mint1) throw new Error(`The pool at ${address} was never made.`)
  return {
    address,
    authority: authorityOf(program, address, Number(bump)),
    vaults: [vault0, vault1],
    mints: [mint0, mint1],
    feeBasisPoints,
  }
}
