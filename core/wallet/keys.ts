import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { getAddress, isAddress } from 'ethers/address'
import { computeAddress } from 'ethers/transaction'
import { getBytes, hexlify, decodeBase58 as numberOf, encodeBase58, toBeArray } from 'ethers/utils'
import type { Family } from '../contracts/index.ts'

/** PKCS#8 around 32 bytes of an ed25519 key (RFC 8410, section 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

/** @param seed 0x and 64 digits: the first half of what Solana's programs export */
export const ed25519Key = (seed: string): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Head, getBytes(seed)]), format: 'der', type: 'pkcs8' })

/** The 32 bytes that are the address. */
const ed25519PublicKey = (key: KeyObject): Uint8Array => createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)

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

/** The order of secp256k1 (SEC 2, section 2.4.1): keys are 1 to order - 1. */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Whether 32 bytes are a private key of this curve. @param digits 64 hexadecimal digits */
export const isSecp256k1Key = (digits: string): boolean => BigInt(`0x${digits}`) !== 0n && BigInt(`0x${digits}`) < curveOrder

/**
 * Reads a private key as people paste it: 64 hexadecimal digits, with or without 0x.
 * @returns 0x and 64 lower-case digits
 * @throws Error with what the text seems to be instead, never the text itself
 */
export function parseSecp256k1Key(text: string): string {
  const given = text.trim()
  const digits = given.replace(/^0x/i, '')
  const problem = shapeProblemOfSecp256k1Key(given, digits)
  if (problem !== undefined) throw new Error(problem)
  if (/^0+$/.test(digits)) throw new Error('This is zero, which is no private key.')
  if (!isSecp256k1Key(digits))
    throw new Error('This number is not below the order of the curve secp256k1, so it is no private key. Was it mistyped?')
  const privateKey = `0x${digits.toLowerCase()}`
  refuseWellKnown(computeAddress(privateKey))
  return privateKey
}

/** @throws Error when everybody has the key of the address */
export function refuseWellKnown(address: string): void {
  if (!isWellKnown(address)) return
  throw new Error(
    `${address} is a test account of anvil and hardhat: its key is printed in their documentation, and whatever it receives ` +
      'on a public network is taken at once. The devnet has these wallets by itself; for anything else make a new key with --new.',
  )
}

function shapeProblemOfSecp256k1Key(given: string, digits: string): string | undefined {
  if (given === '') return 'Nothing was given. A private key is 64 hexadecimal digits.'
  if (given.startsWith('{')) return 'This is a keystore file, not a bare private key: import it with --keystore-file.'
  if (isSeedPhrase(given))
    return 'This is a seed phrase, not a private key. Export the private key of the one account that is to trade from the program that made the phrase, and give that.'
  if (given.startsWith('['))
    return 'This looks like a key file of Solana (a list of numbers). A key of an EVM chain is 64 hexadecimal digits; for a chain of that kind say which with --chain.'
  if (/\s/.test(given)) return 'There is white space within the text. Give one private key of 64 hexadecimal digits, alone.'
  if (/^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(given))
    return 'This looks like a key of Solana (base58). A key of an EVM chain is 64 hexadecimal digits; for a chain of that kind say which with --chain.'
  if (!/^[0-9a-f]+$/i.test(digits))
    return 'This is not hexadecimal. A private key is 64 digits of 0-9 and a-f, with or without 0x before them.'
  if (digits.length === 40) return 'This has 40 digits: it is an address. The private key has 64, and is what the address was made from.'
  if (digits.length === 128 || digits.length === 130) return `This has ${digits.length} digits: it is a public key. The private key has 64.`
  if (digits.length !== 64) return `A private key has 64 hexadecimal digits, and this has ${digits.length}. Was it cut while copying?`
  return undefined
}

export type CurveName = Family['keys']

/** What differs between the two kinds of keys, as long as nothing is signed. A private key is 0x and 64 digits in both. */
interface Curve {
  /** The canonical spelling of an address, or undefined. */
  address(text: string): string | undefined
  addressOf(privateKey: string): string
  /** Reads a private key as people paste it. @throws Error with what the text seems to be instead, never the text itself */
  parse(text: string): string
}

export const curves: Readonly<Record<CurveName, Curve>> = {
  secp256k1: {
    address: (text) => (isAddress(text) ? getAddress(text) : undefined),
    addressOf: computeAddress,
    parse: parseSecp256k1Key,
  },
  ed25519: {
    address: (text) => (decodeBase58(text, 32) ? text : undefined),
    addressOf: (seed) => encodeBase58(ed25519PublicKey(ed25519Key(seed))),
    parse: parseEd25519Key,
  },
}

export const isCurve = (text: unknown): text is CurveName => typeof text === 'string' && Object.hasOwn(curves, text)

/** The canonical spelling of an address, whatever kind of key it has. */
export const walletAddress = (text: string): string | undefined => curves.secp256k1.address(text) ?? curves.ed25519.address(text)

export { encodeBase58 }

/** Longer than any text that is read here: the time that decoding takes grows with the square of the length. */
const longestText = 128

/** So many bytes of base58, in its one spelling; undefined where the text is none, or of another length. */
export function decodeBase58(text: string, lengthBytes: number): Uint8Array | undefined {
  if (text.length > longestText || !/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return undefined
  const digits = toBeArray(numberOf(text))
  if (digits.length > lengthBytes) return undefined
  const bytes = new Uint8Array(lengthBytes)
  bytes.set(digits, lengthBytes - digits.length)
  return encodeBase58(bytes) === text ? bytes : undefined
}

const base58Key = '[1-9A-HJ-NP-Za-km-z]{80,90}'
/** A key file of solana-keygen, or most of one. */
const numbers = '(?:\\d{1,3}\\s*,\\s*){31,}\\d{1,3}'

const secret = new RegExp(`^(?:(?:0x)?[0-9a-f]{64}|(?:0x)?[0-9a-f]{128}|${base58Key})$`, 'i')
const withinText = new RegExp(`[0-9a-f]{64}|${base58Key}|${numbers}`, 'i')

/** Whether a text is what may be a private key or a seed phrase: for arguments, where none may ever stand. */
export const looksLikeSecret = (text: string): boolean => secret.test(text.trim()) || isSeedPhrase(text) || new RegExp(numbers).test(text)

/** Whether something like a private key stands anywhere in a text. */
export const containsKey = (text: string): boolean => withinText.test(text)

const isSeedPhrase = (text: string): boolean => /^([a-z]{3,8}\s+){11,23}[a-z]{3,8}$/i.test(text.trim())

/**
 * The mnemonic of anvil's and hardhat's default accounts (their documentation prints it, with every private key).
 * Whatever reaches one of these accounts on a public network is taken at once.
 */
export const wellKnownMnemonic = 'test test test test test test test test test test test junk'

export const wellKnownPath = (index: number): string => `m/44'/60'/0'/0/${index}`

/** How many of them trade on the devnet; the accounts after these do the deploying. */
export const devnetWalletCount = 3

/** Accounts 0 to 19 of that mnemonic: anvil shows ten of them, hardhat all. Addresses only, so that no one needs the keys to ask. */
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

const known = new Set(wellKnownAddresses.map((address) => address.toLowerCase()))

/** Whether everybody has the key of this address. */
export const isWellKnown = (address: string): boolean => known.has(address.toLowerCase())
