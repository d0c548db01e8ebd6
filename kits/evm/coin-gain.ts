// What a mined transaction brought its sender of the native coin, which moves without events: by the balances after its block and the one before.
import { toQuantity } from 'ethers/utils'
import type { At } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { numberOf, quantityOf } from './encoding.ts'
import type { EvmReceipt } from './types.ts'

/**
 * Above 0 what it brought, below what it took beside its gas, smallest units. Undefined where the balances do not tell: the wallet sent another
 * transaction in that block, or the receipt does not say all fees.
 * @param isRollup whether layer 1 is paid for beside the gas
 * @throws SluiceError NETWORK also where the node has another block of that number
 */
export async function readCoinGain(rpc: Rpc, receipt: EvmReceipt, wallet: string, isRollup: boolean, at: At): Promise<bigint | undefined> {
  const feesRaw = feesOf(receipt, isRollup)
  if (feesRaw === undefined) return undefined
  const [after, before] = [receipt.blockNumber, receipt.blockNumber - 1].map((number) => toQuantity(number))
  const calls = [
    ...[after, before].map((block) => ({ method: 'eth_getBalance', params: [wallet, block] })),
    ...[after, before].map((block) => ({ method: 'eth_getTransactionCount', params: [wallet, block] })),
    { method: 'eth_getBlockByNumber', params: [after, false] },
  ]
  const answers = await rpc.batch(calls, at)
  const [balanceAfter, balanceBefore, countAfter, countBefore, block] = calls.map(({ method }, index) =>
    resultOf(rpc, method, answers[index]),
  )
  const [afterRaw, beforeRaw, sentUntil, sentBefore] = [
    quantityOf(balanceAfter),
    quantityOf(balanceBefore),
    numberOf(countAfter),
    numberOf(countBefore),
  ]
  if (afterRaw === undefined || beforeRaw === undefined || sentUntil === undefined || sentBefore === undefined)
    throw invalidAnswer(rpc, 'answered a question about a wallet with something that is no number')
  if (!isObject(block) || block['hash'] !== receipt.blockHash) throw invalidAnswer(rpc, 'has another block of that number')
  return sentUntil - sentBefore === 1 ? afterRaw - beforeRaw + feesRaw : undefined
}

/** A factor per million gas, and an amount: https://specs.optimism.io/protocol/isthmus/exec-engine.html#operator-fee */
const million = 1_000_000n

function feesOf(receipt: EvmReceipt & Readonly<Record<string, unknown>>, isRollup: boolean): bigint | undefined {
  const gasUsed = BigInt(receipt.gasUsed)
  const gasRaw = gasUsed * BigInt(receipt.effectiveGasPrice)
  const dataRaw = wholeNumber(receipt['l1Fee'])
  if (dataRaw === undefined) return isRollup ? undefined : gasRaw
  const operatorRaw = (gasUsed * (wholeNumber(receipt['operatorFeeScalar']) ?? 0n)) / million
  return gasRaw + dataRaw + operatorRaw + (wholeNumber(receipt['operatorFeeConstant']) ?? 0n)
}

/** A field of a receipt: some are kept as decimal texts. */
const wholeNumber = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : quantityOf(value)
