import { getAddress, isAddress } from 'ethers/address'
import { computeAddress } from 'ethers/transaction'
import type { Family } from '../contracts/index.ts'
import { decodeBase58, encodeBase58 } from './keys/base58.ts'
import { ed25519Key, ed25519PublicKey, parseEd25519Key } from './keys/ed25519-key.ts'
import { parseSecp256k1Key } from './keys/secp256k1-key.ts'

export type CurveName = Family['keys']

/** What differs between the two kinds of keys, as long as nothing is signed. A private key is 0x and 64 digits in both. */
export interface Curve {
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
