import { isObject } from '../../core/kits/nodes/is-object.ts'
import { isBytes, numberOf, quantityOf } from '../../core/kits/evm/quantity.ts'
import { jsonFieldsOfNode } from '../../core/kits/evm/reading/json-of-node.ts'
import type { EvmLog, EvmReceipt } from './types.ts'

/** Reads what `eth_getTransactionReceipt` gave; undefined where that is no receipt. */
export function readReceipt(raw: unknown): EvmReceipt | undefined {
  if (!isObject(raw)) return undefined
  const { transactionHash, blockHash, from, to } = raw
  const blockNumber = numberOf(raw['blockNumber'])
  const gasUsed = quantityOf(raw['gasUsed'])
  const logs = Array.isArray(raw['logs']) ? raw['logs'].map(readLog) : undefined
  if (blockNumber === undefined || gasUsed === undefined || !logs?.every((log) => log !== undefined)) return undefined
  if (typeof transactionHash !== 'string' || typeof blockHash !== 'string' || typeof from !== 'string') return undefined
  return {
    ...jsonFieldsOfNode(raw),
    // Before Byzantium (2017) receipts had no status.
    status: quantityOf(raw['status']) === 0n ? 0 : 1,
    transactionHash,
    blockNumber,
    blockHash,
    from,
    to: typeof to === 'string' ? to : null,
    gasUsed: gasUsed.toString(),
    effectiveGasPrice: (quantityOf(raw['effectiveGasPrice']) ?? 0n).toString(),
    logs,
  }
}

/** Undefined where it is no log. */
function readLog(raw: unknown): EvmLog | undefined {
  if (!isLog(raw)) return undefined
  const { address, topics, data } = raw
  const logIndex = numberOf(raw['logIndex'])
  return { address, topics, data, ...(logIndex !== undefined && { logIndex }) }
}

export const isLog = (raw: unknown): raw is EvmLog & Record<string, unknown> =>
  isObject(raw) &&
  typeof raw['address'] === 'string' &&
  isBytes(raw['data']) &&
  Array.isArray(raw['topics']) &&
  raw['topics'].every(isBytes)
