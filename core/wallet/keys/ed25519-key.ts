import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { getBytes, hexlify } from 'ethers/utils'
import { decodeBase58 } from './base58.ts'
import { isSeedPhrase } from './secrets.ts'
import { isSecp256k1Key } from './secp256k1-key.ts'

/** PKCS#8 around 32 bytes of an ed25519 key (RFC 8410, section 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

/** @param seed 0x and 64 digits: the first half of what Solana's programs export */
export const ed25519Key = (seed: string): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Head, getBytes(seed)]), format: 'der', type: 'pkcs8' })

/** The 32 bytes that are the address. */
export const ed25519PublicKey = (key: KeyObject): Uint8Array => createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)

const wanted =
  'A private key of Solana is 64 bytes, as wallets export it (87 or 88 characters of base58) or as solana-keygen writes it (a list of 64 numbers).'

/**
 * Reads a private key as people have it: base58 of 64 bytes, or solana-keygen's list of 64 numbers. The second half is the
 * public key, and must be that of the first: an address, or half of a key, is never taken for a key.
 * @returns the seed, 0x and 64 lower-case digits
 * @throws Error with what the text seems to be instead, never the text itself
 */
export function parseEd25519Key(text: string): string {
  const given = text.trim()
  const bytes = given.startsWith('[') ? readNumbers(given) : readBase58(given)
  const seed = hexlify(bytes.subarray(0, 32))
  if (/^0x0+$/.test(seed)) throw new Error('The key is nothing but zeros, so everybody has it. Make a new one with --new.')
  if (!Buffer.from(ed25519PublicKey(ed25519Key(seed))).equals(bytes.subarray(32)))
    throw new Error(
      'The second half of this is not the public key of the first, as in every key of Solana. Was it mistyped or put together?',
    )
  // Key files are opened by a library that takes what is in them for a key of the other curve: 1 seed in 2^128 is none there.
  if (!isSecp256k1Key(seed.slice(2))) throw new Error('This key cannot be kept in the format of the keystore. Make a new one with --new.')
  return seed
}

function readNumbers(given: string): Uint8Array {
  const numbers = parseList(given)
  if (numbers.length !== 64) throw new Error(`${wanted} This list has ${numbers.length}. Was it cut while copying?`)
  return Uint8Array.from(numbers)
}

function parseList(given: string): number[] {
  let list: unknown
  try {
    list = JSON.parse(given)
  } catch {
    throw new Error(`This begins as a list of numbers and is none that can be read. ${wanted}`) // the parser's own message quotes it
  }
  if (!Array.isArray(list) || !list.every(isByte)) throw new Error(`This is a list of something else than bytes (0 to 255). ${wanted}`)
  return list
}

const isByte = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255

function readBase58(given: string): Uint8Array {
  const problem = shapeProblem(given)
  if (problem !== undefined) throw new Error(problem)
  const bytes = decodeBase58(given, 64)
  if (!bytes) throw new Error(`${wanted} This is base58 of another length (${given.length} characters). Was it cut while copying?`)
  return bytes
}

function shapeProblem(given: string): string | undefined {
  if (given === '') return `Nothing was given. ${wanted}`
  if (given.startsWith('{')) return 'This is a keystore file, not a bare private key: import it with --keystore-file.'
  if (isSeedPhrase(given))
    return 'This is a seed phrase, not a private key. Export the private key of the one account that is to trade from the program that made the phrase, and give that.'
  if (/\s/.test(given)) return `There is white space within the text. Give one private key, alone. ${wanted}`
  if (/^(0x)?[0-9a-f]{64}$/i.test(given))
    return `This looks like a key of an EVM chain (64 hexadecimal digits), or the bare seed of one of Solana. ${wanted}`
  if (/^0x/i.test(given)) return `This is hexadecimal. ${wanted}`
  if (/[^1-9A-HJ-NP-Za-km-z]/.test(given))
    return `There is a character in this that base58 does not have (0, O, I, l, or no letter or digit at all). ${wanted}`
  if (decodeBase58(given, 32)) return `This is 32 bytes: an address, which is the public half alone, or half of a key. ${wanted}`
  return undefined
}
