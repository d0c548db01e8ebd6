import { createHash } from 'node:crypto'
import { address, getAddressDecoder, getAddressEncoder, isOffCurveAddress } from '@solana/kit'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'

// https://solana.com/docs/core/pda: the first bump from 255 down whose hash is off the curve. @solana/kit derives by WebCrypto, which is
// asynchronous, and a plan is made without waiting.
const bytesOf = (text: string) => Uint8Array.from(getAddressEncoder().encode(address(text)))

export function derivedAddress(program: string, seeds: readonly Uint8Array[]): string {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const found = withBump(program, seeds, bump)
    if (isOffCurveAddress(found)) return found
  }
  throw new Error(`${program} has no address for these seeds.`)
}

export function withBump(program: string, seeds: readonly Uint8Array[], bump: number) {
  const hash = createHash('sha256')
  for (const part of [...seeds, Uint8Array.of(bump), bytesOf(program), Buffer.from('ProgramDerivedAddress')]) hash.update(part)
  return getAddressDecoder().decode(hash.digest())
}

/** A wallet's account for a mint of the Token program. */
export const associatedAccount = (owner: string, mint: string): string =>
  derivedAddress(ASSOCIATED_TOKEN_PROGRAM_ADDRESS, [bytesOf(owner), bytesOf(TOKEN_PROGRAM_ADDRESS), bytesOf(mint)])

/** Who a pool's vaults belong to. */
export const authorityOf = (program: string, pool: string, bump: number): string => withBump(program, [bytesOf(pool)], bump)
