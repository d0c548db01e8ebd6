import { AbiCoder } from 'ethers'
import type { At } from '../../contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import artifact from './artifacts/TransferProbe.json' with { type: 'json' }

/** What became of tokens that a pair lent out and got back at once, in smallest units. */
export interface TransferMeasure {
  readonly sentRaw: bigint
  readonly arrivedRaw: bigint
  /** What the pair had of `arrivedRaw` after it was sent back; undefined where the token refused that. */
  readonly returnedRaw: bigint | undefined
}

const coder = AbiCoder.defaultAbiCoder()
const answer = ['bool', 'uint256', 'bool', 'uint256']
const answerLength = '0x'.length + 4 * 64

// A thousandth of a percent of a pool: below what tokens with a limit per transfer object to.
const poolShare = 100_000n
// Enough units for a fee of a hundredth of a percent to show.
const leastProbeRaw = 10_000n

/**
 * Borrows a little of a token from a pair and gives it back, inside one `eth_call` that needs no balance and changes
 * nothing. Undefined where the pair or the token refused that, so that nothing is known.
 */
export async function probeTransfers(
  reader: EvmReader,
  { pool, token, reserveRaw }: { pool: string; token: string; reserveRaw: bigint },
  at: At,
): Promise<TransferMeasure | undefined> {
  const wantedRaw = reserveRaw / poolShare > leastProbeRaw ? reserveRaw / poolShare : leastProbeRaw
  // A pair lends less than all that it has.
  const sentRaw = wantedRaw < reserveRaw ? wantedRaw : reserveRaw - 1n
  if (sentRaw <= 0n) return undefined
  const parameters = coder.encode(['address', 'address', 'uint256'], [pool, token, sentRaw])
  const { ok, data } = await reader.call({ data: artifact.bytecode + parameters.slice(2) }, at)
  if (!ok || data.length !== answerLength) return undefined
  const [measured, arrivedRaw, accepted, returnedRaw] = coder.decode(answer, data)
  return measured ? { sentRaw, arrivedRaw, returnedRaw: accepted ? returnedRaw : undefined } : undefined
}
