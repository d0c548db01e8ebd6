import type { Json } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import { quantityOf } from '../quantity.ts'

/** Fields that fit a number. */
const small: ReadonlySet<string> = new Set([
  'blockNumber',
  'transactionIndex',
  'logIndex',
  'nonce',
  'type',
  'chainId',
  'status',
  'yParity',
  'blockTimestamp',
  'l1BlockNumber',
  'l1BaseFeeScalar',
  'l1BlobBaseFeeScalar',
  'operatorFeeScalar',
])
/** Fields that may not: decimal strings. Those of rollups' receipts included. */
const big: ReadonlySet<string> = new Set([
  'value',
  'gas',
  'gasPrice',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'maxFeePerBlobGas',
  'gasUsed',
  'cumulativeGasUsed',
  'effectiveGasPrice',
  'blobGasUsed',
  'blobGasPrice',
  'gasUsedForL1',
  'l1Fee',
  'l1GasPrice',
  'l1GasUsed',
  'l1BlobBaseFee',
  'operatorFeeConstant',
])
/** Half a kilobyte that only helps those who search blocks. */
const dropped: ReadonlySet<string> = new Set(['logsBloom'])

/** A transaction, receipt or log as a node gave it, with its quantities as people and JSON read them. */
export function jsonOfNode(value: unknown): Json {
  if (Array.isArray(value)) return value.map(jsonOfNode)
  if (isObject(value)) return jsonFieldsOfNode(value)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

export function jsonFieldsOfNode(value: Record<string, unknown>): Record<string, Json> {
  const fields = Object.entries(value).filter(([key]) => !dropped.has(key))
  return Object.fromEntries(fields.map(([key, field]) => [key, fieldOfNode(key, field)]))
}

function fieldOfNode(key: string, value: unknown): Json {
  const quantity = small.has(key) || big.has(key) ? quantityOf(value) : undefined
  if (quantity === undefined) return jsonOfNode(value)
  return small.has(key) && quantity <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(quantity) : quantity.toString()
}
