// Accounts of Raydium's and Meteora's pools as their programs write them, where the programs are not.
import { addressBytes, addressFrom, tokenProgram, type SolanaImageData } from '../../../../kits/solana/index.ts'
import { discriminatorOf } from '../../../../kits/solana/amm/anchor.ts'
import { authority, configAddress, constantProductProgram, poolAddress } from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { dammAuthority, dammProgram } from '../../../../kits/solana/amm/damm/accounts.ts'
import { token2022Program } from '../../../../kits/solana/tokens.ts'

const key = (digit: number) => addressFrom(new Uint8Array(32).fill(digit))
/** In the order of their bytes, as the program has them. */
export const mints = [key(21), key(22)] as const
export const vaults = [key(23), key(24)] as const
export const config = configAddress(0)
export const pool = poolAddress(config, mints)

export const image = (owner: string, data: Uint8Array): SolanaImageData => ({
  owner,
  lamports: '1',
  base64: Buffer.from(data).toString('base64'),
})

type Field = readonly [at: number, value: bigint | number | string]

/** A bigint is eight bytes, a number is one, a string an address. */
function bytes(length: number, discriminator: Uint8Array, fields: readonly Field[]): Buffer {
  const data = Buffer.alloc(length)
  data.set(discriminator)
  for (const [at, value] of fields) {
    if (typeof value === 'bigint') data.writeBigUInt64LE(value, at)
    else if (typeof value === 'number') data.writeUInt8(value, at)
    else data.set(addressBytes(value), at)
  }
  return data
}

/** @param changes `states/pool.rs`: 329 the status, 341 and 349 what is owed to the protocol, 373 when it opens */
export const cpmmPool = (...changes: readonly Field[]): Buffer =>
  bytes(637, discriminatorOf('account', 'PoolState'), [
    [8, config],
    [72, vaults[0]],
    [104, vaults[1]],
    [168, mints[0]],
    [200, mints[1]],
    [232, tokenProgram],
    [264, tokenProgram],
    [331, 9],
    [332, 6],
    ...changes,
  ])

export const cpmmConfig = (): Buffer =>
  bytes(236, discriminatorOf('account', 'AmmConfig'), [
    [12, 2_500n],
    [20, 120_000n],
    [28, 40_000n],
  ])

/** @param owner of Raydium's vaults unless given; `dammAuthority` owns Meteora's */
export function vault(mint: string, amountRaw: bigint, state = 1, owner = authority()): Buffer {
  return bytes(165, new Uint8Array(), [
    [0, mint],
    [32, owner],
    [64, amountRaw],
    [108, state],
  ])
}

const mintData = (length: number): Buffer =>
  bytes(length, new Uint8Array(), [
    [44, 9],
    [45, 1],
  ])
export const mint = (): SolanaImageData => image(tokenProgram, mintData(82))

/** Of Token-2022, with one extension. */
export function extendedMint(type: number, content: Uint8Array): SolanaImageData {
  const data = mintData(166 + 4 + content.length)
  data[165] = 1
  data.writeUInt16LE(type, 166)
  data.writeUInt16LE(content.length, 168)
  data.set(content, 170)
  return image(token2022Program, data)
}

/** @param mode of the base fee: 2 and more are rate limiters and market caps */
export function dammPool(mode: number, ...changes: readonly Field[]): Buffer {
  const price = 1n << 32n
  return bytes(1112, discriminatorOf('account', 'Pool'), [
    [8, 2_500_000n],
    [16, mode],
    [168, mints[0]],
    [200, mints[1]],
    [232, vaults[0]],
    [264, vaults[1]],
    // Liquidity and square roots of prices are sixteen bytes each: the lower half of these is nothing.
    [368, 1n << 40n],
    [424, 4_295_048_016n],
    [448, price],
    [464, 1n],
    ...changes,
  ])
}

/** A pool of a million of each token. */
export const cpmmAccounts = (): Map<string, SolanaImageData | null> =>
  new Map<string, SolanaImageData | null>([
    [pool, image(constantProductProgram, cpmmPool())],
    [config, image(constantProductProgram, cpmmConfig())],
    [vaults[0], image(tokenProgram, vault(mints[0], 1_000_000n))],
    [vaults[1], image(tokenProgram, vault(mints[1], 1_000_000n))],
    [mints[0], mint()],
    [mints[1], mint()],
  ])

export const dammAccounts = (mode: number, address: string): Map<string, SolanaImageData | null> =>
  new Map<string, SolanaImageData | null>([
    [address, image(dammProgram, dammPool(mode))],
    [vaults[0], image(tokenProgram, vault(mints[0], 1_000_000n, 1, dammAuthority))],
    [vaults[1], image(tokenProgram, vault(mints[1], 1_000_000n, 1, dammAuthority))],
    [mints[0], mint()],
    [mints[1], mint()],
  ])
