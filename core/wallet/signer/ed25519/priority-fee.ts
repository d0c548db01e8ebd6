import {
  getSetComputeUnitLimitInstructionDataCodec,
  getSetComputeUnitPriceInstructionDataCodec,
  SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR,
  SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR,
} from '@solana-program/compute-budget'
import { Refusal } from '../refusal.ts'
import type { Instruction } from './decode-message.ts'
import { sameBytes } from './same-bytes.ts'

/** MAX_COMPUTE_UNIT_LIMIT of agave's compute-budget: what a transaction may use at most, and so what one without a limit may pay for. */
const mostUnits = 1_400_000n
const microLamportsPerLamport = 1_000_000n

/**
 * What these instructions of the Compute Budget program offer on top of the fee for the signature, in lamports, rounded up as the
 * runtime does.
 * @throws Refusal for any that is not a limit or a price, each once
 */
export function priorityFeeOf(instructions: readonly Instruction[]): bigint {
  const limits: bigint[] = []
  const prices: bigint[] = []
  for (const { data, accounts } of instructions) {
    if (accounts.length > 0) throw new Refusal('an instruction of the Compute Budget program names accounts, and it takes none')
    if (data[0] === SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR)
      limits.push(BigInt(read(getSetComputeUnitLimitInstructionDataCodec(), data).units))
    else if (data[0] === SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR)
      prices.push(BigInt(read(getSetComputeUnitPriceInstructionDataCodec(), data).microLamports))
    else throw new Refusal('of the Compute Budget program only the limit and the price of units are signed')
  }
  if (limits.length > 1 || prices.length > 1) throw new Refusal('the transaction sets the limit or the price of its units twice')
  const [limit = mostUnits] = limits
  const [price = 0n] = prices
  return (limit * price + microLamportsPerLamport - 1n) / microLamportsPerLamport
}

interface DataCodec<T> {
  decode(data: Uint8Array): T
  encode(value: T): ArrayLike<number>
}

function read<T>(codec: DataCodec<T>, data: Uint8Array): T {
  let value: T
  try {
    value = codec.decode(data)
  } catch {
    throw malformed()
  }
  if (!sameBytes(codec.encode(value), data)) throw malformed()
  return value
}

const malformed = (): Refusal => new Refusal('the data of a Compute Budget instruction is malformed')
