import { getBase58Encoder, isAddress, isSignature, type Address, type Commitment, type Signature } from '@solana/kit'

/** What a node may answer: JSON whose integers are exact. Fields that are undefined are left out. */
export type Answer = null | boolean | number | bigint | string | readonly Answer[] | { readonly [key: string]: Answer | undefined }

/** JSON in which a bigint is an integer with all of its digits, as Solana's nodes write it. */
export function exactJson(answer: Answer): string {
  if (typeof answer === 'bigint') return answer.toString()
  if (answer === null || typeof answer !== 'object') return JSON.stringify(answer)
  if (isList(answer)) return `[${answer.map(exactJson).join(',')}]`
  const fields = Object.entries(answer).flatMap(([key, value]) =>
    value === undefined ? [] : [`${JSON.stringify(key)}:${exactJson(value)}`],
  )
  return `{${fields.join(',')}}`
}

const isList = (answer: object): answer is readonly Answer[] => Array.isArray(answer)

/** An error as a node says it. Its numbers are those of @solana/errors, SOLANA_ERROR__JSON_RPC__*. */
export class RpcError extends Error {
  readonly code: number
  readonly data: Answer | undefined

  constructor(code: number, message: string, data?: Answer) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const invalidParams = (message: string): RpcError => new RpcError(-32602, message)

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
