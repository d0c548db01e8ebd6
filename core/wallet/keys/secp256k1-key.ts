import { computeAddress } from 'ethers/transaction'
import { isWellKnown } from '../signer/well-known-keys.ts'
import { isSeedPhrase } from './secrets.ts'

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
  const problem = shapeProblem(given, digits)
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

function shapeProblem(given: string, digits: string): string | undefined {
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
