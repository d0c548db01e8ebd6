import { getBase58Encoder, isAddress, isSignature, type Address, type Commitment, type Signature } from '@solana/kit'
import { invalidParams } from './rpc-error.ts'

/** What a caller gave beside the main thing, in an object. */
export interface Config {
  commitment?: Commitment
  minContextSlot?: bigint
  [field: string]: unknown
}

export function configOf(value: unknown): Config {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams('Invalid params: invalid type: expected struct.')
  const { commitment, minContextSlot, ...others }: Record<string, unknown> = { ...value }
  return {
    ...others,
    ...(isGiven(commitment) && { commitment: commitmentOf(commitment) }),
    ...(isGiven(minContextSlot) && { minContextSlot: slotOf(minContextSlot) }),
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

function commitmentOf(value: unknown): Commitment {
  if (value === 'processed' || value === 'confirmed' || value === 'finalized') return value
  throw invalidParams(`Invalid params: unknown variant \`${String(value)}\`, expected one of \`processed\`, \`confirmed\`, \`finalized\`.`)
}

export function addressOf(value: unknown): Address {
  const text = textOf(value)
  if (isAddress(text)) return text
  throw invalidParams(`Invalid param: ${isBase58(text) ? 'WrongSize' : 'Invalid'}`)
}

export function signatureOf(value: unknown): Signature {
  const text = textOf(value)
  if (isSignature(text)) return text
  throw invalidParams(`Invalid param: ${isBase58(text) ? 'WrongSize' : 'Invalid'}`)
}

export const listOf = (value: unknown, most: number): readonly unknown[] => {
  if (!Array.isArray(value)) throw invalidParams('Invalid params: invalid type: expected a sequence.')
  if (value.length > most) throw invalidParams(`Too many inputs provided; max ${most}`)
  return value
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw invalidParams(
    value === undefined ? '`params` should have at least 1 argument(s)' : 'Invalid params: invalid type: expected a string.',
  )
}

/** A whole number of 64 bits. */
export function slotOf(value: unknown): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  throw invalidParams(`Invalid params: invalid type: ${JSON.stringify(value)}, expected u64.`)
}

export const flagOf = (value: unknown): boolean => {
  if (isGiven(value) && typeof value !== 'boolean') throw invalidParams('Invalid params: invalid type: expected a boolean.')
  return value === true
}

function isBase58(text: string): boolean {
  try {
    return text !== '' && getBase58Encoder().encode(text).length > 0
  } catch {
    return false
  }
}
