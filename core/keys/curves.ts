import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { getAddress } from 'ethers/address'
import { SigningKey } from 'ethers/crypto'
import { computeAddress } from 'ethers/transaction'
import { decodeBase58 as decodeNumber, encodeBase58, getBytes, hexlify, toBeArray } from 'ethers/utils'
import type { Family } from '../contracts/index.ts'
import { addressKey } from '../base/addresses.ts'

export { encodeBase58 }

export type CurveName = Family['keys']

/** What differs between the two kinds of keys. A private key is 0x and 64 digits in both; of ed25519 it is the seed. */
interface Curve {
  /** The canonical spelling of an address, or undefined. */
  address(text: string): string | undefined
  addressOf(privateKey: string): string
  /** Reads a private key as people paste it. @throws Error that says what the text seems to be instead; it never repeats the text */
  parse(text: string): string
  /**
   * The only function that uses a private key.
   * @returns with secp256k1: takes a digest of 32 bytes, gives 65 bytes (r, s, the parity of y); with ed25519: takes a message, gives 64 bytes
   */
  signerOf(privateKey: string): (payload: Uint8Array) => Uint8Array
}

export const curves: Readonly<Record<CurveName, Curve>> = {
  secp256k1: {
    address: checksummed,
    addressOf: computeAddress,
    parse: parseSecp256k1Key,
    signerOf(privateKey) {
      const key = new SigningKey(privateKey)
      return (digest) => {
        const { r, s, yParity } = key.sign(digest)
        return Uint8Array.of(...getBytes(r), ...getBytes(s), yParity)
      }
    },
  },
  ed25519: {
    address: (text) => (decodeBase58(text, 32) ? text : undefined),
    addressOf: (seed) => encodeBase58(ed25519PublicKey(ed25519Key(seed))),
    parse: parseEd25519Key,
    signerOf(seed) {
      const key = ed25519Key(seed)
      return (message) => new Uint8Array(sign(null, message, key))
    },
  },
}

/** Addresses as they were written, and their spellings with checksum: to compute one takes a hash, and a policy has each several times. */
const knownSpellings = new Map<string, string>()
const maxKnownSpellings = 4_000

const hasBothCases = /^0x(?=.*[a-f])(?=.*[A-F])[0-9a-fA-F]{40}$/

/**
 * Takes the addresses in a file of the release as they are spelt: a test holds each against its checksum. To hash them all was half of what the
 * signer did in its start.
 */
export function noteSpellings(text: string): void {
  for (const [address] of text.matchAll(/\b0x[0-9a-fA-F]{40}\b/g)) if (hasBothCases.test(address)) noteSpelling(address, address)
}

function noteSpelling(text: string, address: string): void {
  if (knownSpellings.size >= maxKnownSpellings) knownSpellings.clear()
  knownSpellings.set(text, address).set(address, address)
}

/** The spelling with checksum (EIP-55). Undefined if the text is not an address or its checksum is wrong. */
function checksummed(text: string): string | undefined {
  const known = knownSpellings.get(text)
  if (known !== undefined) return known
  try {
    const address = getAddress(text)
    noteSpelling(text, address)
    return address
  } catch {
    return undefined
  }
}

/** The 32 bytes of an address of ed25519. @throws Error for any other text */
export function addressBytesOf(address: string): Uint8Array {
  const bytes = decodeBase58(address, 32)
  if (!bytes) throw new Error('This is no address of a key of ed25519.')
  return bytes
}

/** The address that 32 bytes are. */
export const addressOfBytes = (bytes: Uint8Array): string => encodeBase58(bytes)

export const isCurve = (text: unknown): text is CurveName => typeof text === 'string' && Object.hasOwn(curves, text)

/** The canonical spelling of an address, whatever kind of key it has. */
export const walletAddress = (text: string): string | undefined => curves.secp256k1.address(text) ?? curves.ed25519.address(text)

/** The order of secp256k1 (SEC 2, section 2.4.1): keys are 1 to order - 1. */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Whether 32 bytes are a private key of secp256k1. @param digits 64 hexadecimal digits */
export const isSecp256k1Key = (digits: string): boolean => BigInt(`0x${digits}`) !== 0n && BigInt(`0x${digits}`) < curveOrder

/**
 * Reads a private key as people paste it: 64 hexadecimal digits, with or without 0x.
 * @returns 0x and 64 lower-case digits
 * @throws Error that says what the text seems to be instead; it never repeats the text
 */
export function parseSecp256k1Key(text: string): string {
  const given = text.trim()
  const digits = given.replace(/^0x/i, '')
  const problem = secp256k1Problem(given, digits)
  if (problem !== undefined) throw new Error(problem)
  if (/^0+$/.test(digits)) throw new Error('This is zero, and zero is not a private key.')
  if (!isSecp256k1Key(digits))
    throw new Error('This number is not below the order of the curve secp256k1, so it is not a private key. Was it mistyped?')
  const privateKey = `0x${digits.toLowerCase()}`
  refuseWellKnown(computeAddress(privateKey))
  return privateKey
}

const seedPhraseGiven =
  'This is a seed phrase, not a private key. Export the private key of the one account that is to trade, with the program that made the phrase, and give that.'
const keystoreFileGiven = 'This is a keystore file, not a bare private key: import it with --keystore-file.'

function secp256k1Problem(given: string, digits: string): string | undefined {
  if (given === '') return 'Nothing was given. A private key is 64 hexadecimal digits.'
  if (given.startsWith('{')) return keystoreFileGiven
  if (isSeedPhrase(given)) return seedPhraseGiven
  if (given.startsWith('['))
    return 'This looks like a key file of Solana (a list of numbers). A key of an EVM chain is 64 hexadecimal digits; for a chain with keys of ed25519, name it with --chain.'
  if (/\s/.test(given)) return 'There is white space within the text. Give one private key of 64 hexadecimal digits, alone.'
  if (/^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(given))
    return 'This looks like a key of Solana (base58). A key of an EVM chain is 64 hexadecimal digits; for a chain with keys of ed25519, name it with --chain.'
  if (!/^[0-9a-f]+$/i.test(digits))
    return 'This is not hexadecimal. A private key is 64 digits of 0-9 and a-f, with or without 0x before them.'
  if (digits.length === 40)
    return 'This has 40 digits: it is an address. The private key has 64 digits, and the address is derived from it.'
  if (digits.length === 128 || digits.length === 130) return `This has ${digits.length} digits: it is a public key. The private key has 64.`
  if (digits.length !== 64) return `A private key has 64 hexadecimal digits, and this has ${digits.length}. Was it cut while copying?`
  return undefined
}

/** PKCS#8 around 32 bytes of an ed25519 key (RFC 8410, section 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

/** @param seed 0x and 64 digits: the first half of the key that Solana's programs export */
function ed25519Key(seed: string): KeyObject {
  const bytes = getBytes(seed)
  const key = Buffer.concat([pkcs8Head, bytes])
  try {
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  } finally {
    bytes.fill(0)
    key.fill(0)
  }
}

/** The 32 bytes that are the address. */
const ed25519PublicKey = (key: KeyObject): Uint8Array => createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)

const ed25519Forms =
  'A private key of Solana is 64 bytes, as wallets export it (87 or 88 characters of base58) or as solana-keygen writes it (a list of 64 numbers).'

/**
 * Reads a private key as people have it: base58 of 64 bytes, or solana-keygen's list of 64 numbers. The second half must be the
 * public key of the first half, so that an address or half of a key is never taken for a key.
 * @returns the seed, 0x and 64 lower-case digits
 * @throws Error that says what the text seems to be instead; it never repeats the text
 */
export function parseEd25519Key(text: string): string {
  const given = text.trim()
  const bytes = given.startsWith('[') ? parseNumberList(given) : parseBase58Key(given)
  const seed = hexlify(bytes.subarray(0, 32))
  if (/^0x0+$/.test(seed)) throw new Error('The key is all zeros, so everybody has it. Make a new one with --new.')
  if (!Buffer.from(ed25519PublicKey(ed25519Key(seed))).equals(bytes.subarray(32)))
    throw new Error('The second half is not the public key of the first half, as in every key of Solana. Was the key mistyped?')
  refuseWellKnown(curves.ed25519.addressOf(seed))
  // The library that opens key files expects keys of secp256k1. About 1 seed in 2^128 is not a valid one.
  if (!isSecp256k1Key(seed.slice(2))) throw new Error('This key cannot be kept in the format of the keystore. Make a new one with --new.')
  return seed
}

function parseNumberList(given: string): Uint8Array {
  let list: unknown
  try {
    list = JSON.parse(given)
  } catch {
    throw new Error(`This begins like a list of numbers and cannot be read. ${ed25519Forms}`) // the parser's own message quotes the text
  }
  const isByte = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
  if (!Array.isArray(list) || !list.every(isByte)) throw new Error(`This list holds values that are not bytes (0 to 255). ${ed25519Forms}`)
  if (list.length !== 64) throw new Error(`${ed25519Forms} This list has ${list.length}. Was it cut while copying?`)
  return Uint8Array.from(list)
}

function parseBase58Key(given: string): Uint8Array {
  const problem = ed25519Problem(given)
  if (problem !== undefined) throw new Error(problem)
  const bytes = decodeBase58(given, 64)
  if (!bytes) throw new Error(`${ed25519Forms} This is base58 of another length (${given.length} characters). Was it cut while copying?`)
  return bytes
}

function ed25519Problem(given: string): string | undefined {
  if (given === '') return `Nothing was given. ${ed25519Forms}`
  if (given.startsWith('{')) return keystoreFileGiven
  if (isSeedPhrase(given)) return seedPhraseGiven
  if (/\s/.test(given)) return `There is white space within the text. Give one private key, alone. ${ed25519Forms}`
  if (/^(0x)?[0-9a-f]{64}$/i.test(given))
    return `This looks like a key of an EVM chain (64 hexadecimal digits) or like the bare seed of a key of Solana. ${ed25519Forms}`
  if (/^0x/i.test(given)) return `This is hexadecimal. ${ed25519Forms}`
  if (/[^1-9A-HJ-NP-Za-km-z]/.test(given))
    return `There is a character in this that base58 does not have (0, O, I, l, or no letter or digit at all). ${ed25519Forms}`
  if (decodeBase58(given, 32)) return `This is 32 bytes: an address, which is the public half alone, or half of a key. ${ed25519Forms}`
  return undefined
}

/** Longer than any text that is read here. The time that decoding takes grows with the square of the length. */
const maxBase58Length = 128

/** Decodes base58 into exactly so many bytes. Undefined for other text, another length or a second spelling of the same bytes. */
export function decodeBase58(text: string, lengthBytes: number): Uint8Array | undefined {
  if (text.length > maxBase58Length || !/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return undefined
  const digits = toBeArray(decodeNumber(text))
  if (digits.length > lengthBytes) return undefined
  const bytes = new Uint8Array(lengthBytes)
  bytes.set(digits, lengthBytes - digits.length)
  return encodeBase58(bytes) === text ? bytes : undefined
}

const base58Key = '[1-9A-HJ-NP-Za-km-z]{80,90}'
/** A key file of solana-keygen, or most of one. */
const numberList = '(?:\\d{1,3}\\s*,\\s*){31,}\\d{1,3}'

const secret = new RegExp(`^(?:(?:0x)?[0-9a-f]{64}|(?:0x)?[0-9a-f]{128}|${base58Key})$`, 'i')
const secretWithin = new RegExp(`[0-9a-f]{64}|${base58Key}|${numberList}`, 'i')

/** Whether a text may be a private key or a seed phrase. Arguments of the command line must never be one. */
export const looksLikeSecret = (text: string): boolean =>
  secret.test(text.trim()) || isSeedPhrase(text) || new RegExp(numberList).test(text)

/** Whether something like a private key stands anywhere in a text. */
export const containsKey = (text: string): boolean => secretWithin.test(text)

const isSeedPhrase = (text: string): boolean => /^([a-z]{3,8}\s+){11,23}[a-z]{3,8}$/i.test(text.trim())

/**
 * Accounts 0 to 19 of the mnemonic that anvil and hardhat begin with: anvil shows ten of them, hardhat all. Their documentation prints every
 * key. Only addresses stand here, so that no caller needs the keys.
 */
export const wellKnownAddresses: readonly string[] = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
  '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
  '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  '0xBcd4042DE499D14e55001CcbB24a551F3b954096',
  '0x71bE63f3384f5fb98995898A86B02Fb2426c5788',
  '0xFABB0ac9d68B0B445fB7357272Ff202C5651694a',
  '0x1CBd3b2770909D4e10f157cABC84C7264073C9Ec',
  '0xdF3e18d64BC6A983f673Ab319CCaE4f1a57C7097',
  '0xcd3B766CCDd6AE721141F452C550Ca635964ce71',
  '0x2546BcD3c84621e976D8185a91A922aE77ECEc30',
  '0xbDA5747bFD65F08deb54cb465eB87D40e51B197E',
  '0xdD2FD4581271e230360230F9337D5c0430Bf44C0',
  '0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199',
]

/** The devnet's wallets with keys of ed25519: `devnetSeeds` of devnet-keys.ts are as public. */
export const wellKnownBase58: readonly string[] = [
  '49oRR1gxxcMVqr7TVZrV7G6KdBkGq6oc6oomQ3oC6yF1',
  'Hhby8FevQ5YKDSqNr7jSQSUUy3sotWkDfUZjcqpcwbNv',
  '7nS2avGC5L6JfyoTgys1zWmZcr3X2MmcWUXvuR3Y3Gjm',
]

const known = new Set([...wellKnownAddresses.map(addressKey), ...wellKnownBase58])

/** Whether everybody has the key of this address. The letter case of base58 counts. */
export const isWellKnown = (address: string): boolean => known.has(addressKey(address))

/** @throws Error when the key of the address is public */
export function refuseWellKnown(address: string): void {
  if (!isWellKnown(address)) return
  const whose = address.startsWith('0x')
    ? 'a test account of anvil and hardhat: its key is printed in their documentation'
    : "a wallet of Sluice's devnet: its key is in the source"
  throw new Error(
    `${address} is ${whose}, and whatever it receives on a public network is taken at once. The devnet has these wallets by itself; for anything else make a new key with --new.`,
  )
}
