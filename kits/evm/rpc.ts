import type { Head } from '../../core/contracts/index.ts'
import { type Dialect, type RpcAnswer, type RpcCall, type ReportedHead } from '../nodes/dialect.ts'
import { createRpc, type RpcOptions, invalidAnswer, type ReadRpc, type Rpc } from '../nodes/rpc.ts'
import { isBytes, numberOf, quantityOf } from './encoding.ts'
import { judge } from './node-errors.ts'
import { isObject } from '../../core/base/json.ts'

/** The nodes of one EVM network. */
export function evmRpc({ chainId, ...options }: Omit<RpcOptions, 'dialect'> & { chainId: number }): Rpc {
  return createRpc({ ...options, dialect: evmDialect(chainId) })
}

export const blockCall = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })

/** How to speak to nodes of an EVM chain. */
function evmDialect(chainId: number): Dialect {
  return {
    identity: {
      call: { method: 'eth_chainId', params: [] },
      fault(result) {
        // As a number null and an empty text would be chain 0.
        const theirs = result === null || result === '' ? Number.NaN : Number(result)
        return theirs === chainId
          ? undefined
          : { is: Number.isNaN(theirs) ? 'garbage' : 'other', what: `serves chain id ${theirs}, not ${chainId}` }
      },
    },
    headCall: blockCall('latest'),
    headIn: headInAnswers,
    fork: { call: (number) => blockCall(`0x${number.toString(16)}`), read: (result) => blockOf(result)?.hash },
    sendCall: (raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }),
    isPlausible,
    judge,
  }
}

/** The node's head, if the answers include it: calls that were made for another reason may tell how far the node is. */
function headInAnswers(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): ReportedHead | undefined {
  const index = calls.findIndex(({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest')
  return index < 0 ? undefined : blockOf(answers[index]?.result)
}

function blockOf(result: unknown): (ReportedHead & { hash: string }) | undefined {
  if (!isObject(result) || typeof result['hash'] !== 'string') return undefined
  const number = numberOf(result['number'])
  const timestamp = numberOf(result['timestamp'])
  return number === undefined || timestamp === undefined ? undefined : { number, hash: result['hash'], timestamp }
}

type IsPlausible = (result: unknown, params: readonly unknown[]) => boolean

const isQuantity = (result: unknown) => quantityOf(result) !== undefined
const isNumber = (result: unknown) => numberOf(result) !== undefined
const isObjectOrNull = (result: unknown) => result === null || isObject(result)

/** What a result must look like. The callers of other methods check results themselves. */
const plausibleResults: ReadonlyMap<string, IsPlausible> = new Map<string, IsPlausible>([
  // A node without a latest block has no chain.
  ['eth_getBlockByNumber', (result, [tag]) => blockOf(result) !== undefined || (result === null && tag !== 'latest')],
  ['eth_blockNumber', isNumber],
  ['eth_getTransactionCount', isNumber],
  ['eth_getBalance', isQuantity],
  ['eth_estimateGas', isQuantity],
  ['eth_gasPrice', isQuantity],
  ['eth_call', isBytes],
  ['eth_getCode', isBytes],
  ['eth_getTransactionReceipt', isObjectOrNull],
  ['eth_getTransactionByHash', isObjectOrNull],
])

/** Whether a working node can give this result. Otherwise another node is asked. */
function isPlausible({ method, params }: RpcCall, result: unknown): boolean {
  return plausibleResults.get(method)?.(result, params) ?? true
}

/** A block's head, and the base fee that the block after it will have. */
export interface Block extends Head {
  hash: string
  /** Absent if the chain has no base fee. */
  nextBaseFeeRaw?: bigint
}

/** Reads the result of `eth_getBlockByNumber`. @throws SluiceError NETWORK if it is not a block */
export function readBlock(rpc: ReadRpc, raw: unknown): Block {
  const block = isObject(raw) ? raw : {}
  const number = quantityOf(block['number'])
  const timestamp = quantityOf(block['timestamp'])
  const { hash, parentHash } = block
  if (number === undefined || timestamp === undefined || typeof hash !== 'string')
    throw invalidAnswer(rpc, 'answered with something that is no block')
  const head = { number, timestamp: Number(timestamp), hash, ...(typeof parentHash === 'string' && { parentHash }) }
  const baseFeeRaw = quantityOf(block['baseFeePerGas'])
  const gasUsed = quantityOf(block['gasUsed'])
  const gasLimit = quantityOf(block['gasLimit'])
  if (baseFeeRaw === undefined || gasUsed === undefined || gasLimit === undefined) return head
  return { ...head, baseFeeRaw, nextBaseFeeRaw: nextBaseFee(baseFeeRaw, gasUsed, gasLimit) }
}

/** https://eips.ethereum.org/EIPS/eip-1559, with ELASTICITY_MULTIPLIER 2 and BASE_FEE_MAX_CHANGE_DENOMINATOR 8. */
function nextBaseFee(baseFeeRaw: bigint, gasUsed: bigint, gasLimit: bigint): bigint {
  const target = gasLimit / 2n
  if (gasUsed === target || target === 0n) return baseFeeRaw
  if (gasUsed < target) return baseFeeRaw - (baseFeeRaw * (target - gasUsed)) / target / 8n
  const rise = (baseFeeRaw * (gasUsed - target)) / target / 8n
  return baseFeeRaw + (rise > 1n ? rise : 1n)
}
