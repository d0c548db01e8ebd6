import { toQuantity } from 'ethers/utils'
import type { At } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import type { Rpc, RpcAnswer } from '../../nodes/types.ts'
import { revertData } from '../reading/call-result.ts'
import { isBytes, quantityOf } from '../quantity.ts'
import { revertReason } from './revert.ts'
import { meaningOf } from '../../../../kits/evm/node-errors.ts'

/** Calls for one transaction. */
const calls = 2

export interface Failed {
  /** As `eth_getTransactionByHash` gave it. */
  tx: unknown
  /** As `eth_getTransactionReceipt` gave it. */
  receipt: unknown
  blockNumber: number
}

/**
 * Why transactions failed in their block, as far as the same calls tell that again: at the end of that block, which knows its
 * time and all that came before, else at the end of the one before. One batch; undefined where the node cannot, or where it would not fail.
 */
export async function whyReverted(rpc: Rpc, failed: readonly Failed[], at: At): Promise<readonly (string | undefined)[]> {
  const answers = await rpc.batch(
    failed.flatMap(({ tx, blockNumber }) => [blockNumber, blockNumber - 1].map((number) => callAgain(tx, number))),
    at,
  )
  return failed.map(({ tx, receipt }, index) => {
    const [inBlock, before] = answers.slice(index * calls, (index + 1) * calls).map(reasonOf)
    // An invalid instruction takes all of it, too.
    const gas = isObject(tx) ? quantityOf(tx['gas']) : undefined
    const isSpent = gas !== undefined && isObject(receipt) && quantityOf(receipt['gasUsed']) === gas
    return inBlock ?? before ?? (isSpent ? 'it used up all of its gas' : undefined)
  })
}

function callAgain(tx: unknown, blockNumber: number) {
  const { from, to, input, value, gas } = isObject(tx) ? tx : {}
  return { method: 'eth_call', params: [{ from, to, data: input, value, gas }, toQuantity(Math.max(0, blockNumber))] }
}

function reasonOf(answer: RpcAnswer): string | undefined {
  if (!answer.error) return undefined
  const meaning = meaningOf(answer.error)
  if (meaning === 'out-of-gas') return 'out of gas'
  const data = revertData(answer.error)
  // Codes that stand for a revert stand for a lost state, too: without words or data it is none.
  return meaning === 'reverted' || (isBytes(data) && data !== '0x') ? revertReason(data) : undefined
}
