import { createHash } from 'node:crypto'
import { address as asAddress, getAddressDecoder, getAddressEncoder, isOffCurveAddress } from '@solana/kit'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { tokenProgram } from './tokens.ts'

/** Pools name the same mints and vaults again with every change, and base58 takes longer than all else that is read of them. */
const mostKnown = 50_000
const knownBytes = new Map<string, Uint8Array>()
const knownAddresses = new Map<string, string>()

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key)
  if (found !== undefined) return found
  if (known.size >= mostKnown) known.clear()
  const made = make()
  known.set(key, made)
  return made
}

/**
 * The 32 bytes of an address in base58: the same array each time, which nobody changes.
 * @throws Error where it is none
 */
export const addressBytes = (address: string): Uint8Array =>
  remembered(knownBytes, address, () => Uint8Array.from(getAddressEncoder().encode(asAddress(address))))

/** The address in base58 that 32 bytes are, as in the data of an account. */
export const addressFrom = (bytes: Uint8Array): string =>
  remembered(knownAddresses, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'), () =>
    getAddressDecoder().decode(bytes),
  )

/**
 * A program derived address: the first bump from 255 down whose hash is no point of the curve. https://solana.com/docs/core/pda
 * @throws Error where no bump gives one
 */
export function derivedAddress(program: string, seeds: readonly Uint8Array[]): string {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash('sha256')
    for (const part of [...seeds, Uint8Array.of(bump), addressBytes(program), Buffer.from('ProgramDerivedAddress')]) hash.update(part)
    const found = getAddressDecoder().decode(hash.digest())
    if (isOffCurveAddress(found)) return found
  }
  throw new Error(`${program} has no address for these seeds.`)
}

/** A wallet's account for a mint. @param program that of the mint; the Token program unless given */
export const tokenAccountOf = (owner: string, mint: string, program = tokenProgram): string =>
  derivedAddress(ASSOCIATED_TOKEN_PROGRAM_ADDRESS, [addressBytes(owner), addressBytes(program), addressBytes(mint)])
