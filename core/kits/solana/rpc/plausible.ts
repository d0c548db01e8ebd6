import { isObject } from '../../nodes/is-object.ts'
import type { RpcCall } from '../../nodes/types.ts'
import { canonicalAddress, isTransactionSignature } from '../address.ts'
import { contextSlotOf, integerOf, numberOf, valueOf } from './json.ts'

type Form = (result: unknown, params: readonly unknown[]) => boolean

const listOf = (value: unknown, length: number | undefined) => Array.isArray(value) && (length === undefined || value.length === length)
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const inContext =
  (holds: Form): Form =>
  (result, params) =>
    contextSlotOf(result) !== undefined && holds(valueOf(result), params)
const isInteger: Form = (result) => integerOf(result) !== undefined

/** Base58 of 32 bytes: what is signed upon anything else is nothing. */
const isBlockhash = (value: unknown) => typeof value === 'string' && canonicalAddress(value) !== undefined

/** The form that the result of a method has from any working node. Methods that are not here are left to those who ask. */
const forms: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['getSlot', isInteger],
  ['getBlockHeight', isInteger],
  ['getFirstAvailableBlock', isInteger],
  ['getMinimumBalanceForRentExemption', isInteger],
  ['getEpochInfo', (result) => isObject(result) && isInteger(result['absoluteSlot'], []) && isInteger(result['blockHeight'], [])],
  ['getBalance', inContext(isInteger)],
  ['getAccountInfo', inContext((value) => value === null || isObject(value))],
  ['getMultipleAccounts', inContext((value, [keys]) => listOf(value, lengthOf(keys)))],
  ['getSignatureStatuses', inContext((value, [signatures]) => listOf(value, lengthOf(signatures)))],
  ['isBlockhashValid', inContext((value) => typeof value === 'boolean')],
  [
    'getLatestBlockhash',
    inContext((value) => isObject(value) && isBlockhash(value['blockhash']) && numberOf(value['lastValidBlockHeight']) !== undefined),
  ],
  ['simulateTransaction', inContext(isObject)],
  ['getTransaction', (result) => result === null || isObject(result)],
  ['sendTransaction', (result) => typeof result === 'string' && isTransactionSignature(result)],
])

/** Whether a node may have meant this result; one that did not is broken, and another is asked in its place. */
export function isPlausible({ method, params }: RpcCall, result: unknown): boolean {
  return forms.get(method)?.(result, params) ?? true
}
