import { isAddress, isSignature } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'

/**
 * Base58 of 32 bytes, which has one spelling; undefined for anything else. On the curve or not: accounts of programs and of tokens are
 * addresses too. There is no checksum.
 */
export function canonicalAddress(text: string): string | undefined {
  return isAddress(text) ? text : undefined
}

const base58 = /^[1-9A-HJ-NP-Za-km-z]+$/

/** Base58 of 64 bytes. @solana/kit throws for letters of another alphabet. */
export function isTransactionSignature(text: string): boolean {
  return base58.test(text) && isSignature(text)
}

/** What stands for the native coin in answers: 32 zero bytes, which is also the System program. */
export const nativeAddress: string = SYSTEM_PROGRAM_ADDRESS
