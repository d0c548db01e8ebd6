import { isObject } from '../../nodes/is-object.ts'
import type { RpcCall } from '../../nodes/types.ts'
import { isBytes, quantityOf } from '../quantity.ts'
import { blockOf } from './head-in-answers.ts'

type Form = (result: unknown, params: readonly unknown[]) => boolean

const isQuantity = (result: unknown) => quantityOf(result) !== undefined
const isObjectOrNull = (result: unknown) => result === null || isObject(result)

/** The form that the result of a method has from any working node. Methods that are not here are left to those who ask. */
const forms: ReadonlyMap<string, Form> = new Map<string, Form>([
  // A node without a latest block has no chain.
  ['eth_getBlockByNumber', (result, [tag]) => blockOf(result) !== undefined || (result === null && tag !== 'latest')],
  ['eth_blockNumber', isQuantity],
  ['eth_getTransactionCount', isQuantity],
  ['eth_getBalance', isQuantity],
  ['eth_estimateGas', isQuantity],
  ['eth_gasPrice', isQuantity],
  ['eth_call', isBytes],
  ['eth_getCode', isBytes],
  ['eth_getTransactionReceipt', isObjectOrNull],
  ['eth_getTransactionByHash', isObjectOrNull],
])

/** Whether a node may have meant this result; one that did not is broken, and another is asked in its place. */
export function isPlausible({ method, params }: RpcCall, result: unknown): boolean {
  return forms.get(method)?.(result, params) ?? true
}
