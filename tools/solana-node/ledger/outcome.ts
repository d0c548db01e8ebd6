import { getAddressDecoder } from '@solana/kit'
import { FailedTransactionMetadata, type SimulatedTransactionInfo, type TransactionMetadata } from 'litesvm'
import type { InnerInstructions, Outcome } from './block.ts'
import { transactionErrorOf } from './transaction-error.ts'

export function outcomeOf(result: TransactionMetadata | FailedTransactionMetadata | SimulatedTransactionInfo, feeRaw: bigint): Outcome {
  const meta = 'meta' in result ? result.meta() : result
  const { programId, data } = { programId: meta.returnData().programId(), data: meta.returnData().data() }
  return {
    error: result instanceof FailedTransactionMetadata ? transactionErrorOf(result) : null,
    feeRaw,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    innerInstructions: innerInstructionsOf(meta),
    returnData: data.length > 0 ? { programId: getAddressDecoder().decode(programId), data } : null,
  }
}

/** What never ran: there is no more to say of it than why. */
export const outcomeWithoutRun = (error: Outcome['error'], feeRaw: bigint): Outcome => ({
  error,
  feeRaw,
  logs: [],
  unitsConsumed: 0n,
  innerInstructions: [],
  returnData: null,
})

function innerInstructionsOf(meta: TransactionMetadata): InnerInstructions[] {
  const all = meta.innerInstructions().map((inner, index) => ({
    index,
    instructions: inner.map((each) => {
      const instruction = each.instruction()
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: instruction.data(),
        stackHeight: each.stackHeight(),
      }
    }),
  }))
  return all.filter(({ instructions }) => instructions.length > 0)
}
