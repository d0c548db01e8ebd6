import type { At, Transaction } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import { nodeLied, resultOf } from '../../nodes/ask.ts'
import type { Rpc } from '../../nodes/types.ts'
import { readBlock } from './block.ts'
import { jsonOfNode } from './json-of-node.ts'
import { quantityOf } from '../quantity.ts'
import { readReceipt } from '../../../../kits/evm/receipts.ts'
import type { Evm } from '../../../../kits/evm/types.ts'

/** A transaction with its receipt, and whether a pending one pays the next block's base fee: one round trip. */
export async function findTransaction(rpc: Rpc, hash: string, at: At): Promise<Transaction<Evm> | undefined> {
  const calls = [
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ]
  const answers = await rpc.batch(calls, at)
  const [tx, rawReceipt, block] = calls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  if (!isObject(tx) && !isObject(rawReceipt)) return undefined
  const receipt = isObject(rawReceipt) ? readReceipt(rawReceipt) : null
  if (receipt === undefined) throw nodeLied(rpc, 'answered with something that is no receipt')
  const shown = jsonOfNode(tx)
  if (receipt) return { tx: shown, receipt, blockNumber: receipt.blockNumber }
  const { nextBaseFeeRaw = 0n } = readBlock(rpc, block)
  const offered = isObject(tx) ? (quantityOf(tx['maxFeePerGas']) ?? quantityOf(tx['gasPrice'])) : undefined
  return { tx: shown, receipt: null, pays: (offered ?? 0n) >= nextBaseFeeRaw }
}
