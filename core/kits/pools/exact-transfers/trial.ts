import { AbiCoder } from 'ethers'
import type { At } from '../../../contracts/index.ts'
import type { EvmReader } from '../../../../kits/evm/types.ts'
import type { Loan } from '../../../../kits/amm/protocol.ts'

/** What became of tokens that a pool lent out and got back at once, in smallest units. */
export interface TransferMeasure {
  readonly sentRaw: bigint
  readonly arrivedRaw: bigint
  /** What the pool had of `arrivedRaw` after it was sent back; undefined where the token refused that. */
  readonly returnedRaw: bigint | undefined
}

const coder = AbiCoder.defaultAbiCoder()
const answer = ['bool', 'uint256', 'bool', 'uint256']
const answerLength = '0x'.length + 4 * 64

// A thousandth of a percent of a pool: below what tokens with a limit per transfer object to.
const poolShare = 100_000n
// Enough units for a fee of a hundredth of a percent to show.
const leastTrialRaw = 10_000n

/** How much of what a pool holds is borrowed; undefined where there is too little to borrow any. */
export function trialAmount(heldRaw: bigint): bigint | undefined {
  const wantedRaw = heldRaw / poolShare > leastTrialRaw ? heldRaw / poolShare : leastTrialRaw
  // A pool lends less than all that it has.
  const sentRaw = wantedRaw < heldRaw ? wantedRaw : heldRaw - 1n
  return sentRaw > 0n ? sentRaw : undefined
}

/**
 * Borrows a little of a token from a pool and gives it back, inside one `eth_call` that needs no balance and changes
 * nothing. Undefined where the pool or the token refused that, so that nothing is known.
 */
export async function tryTransfers(reader: EvmReader, { code, sentRaw }: Loan, at: At): Promise<TransferMeasure | undefined> {
  const { ok, data } = await reader.call({ data: code }, at)
  if (!ok || data.length !== answerLength) return undefined
  const [measured, arrivedRaw, accepted, returnedRaw] = coder.decode(answer, data)
  return measured ? { sentRaw, arrivedRaw, returnedRaw: accepted ? returnedRaw : undefined } : undefined
}
