import { isObject, quantityOf } from '../quantity.ts'
import type { RpcAnswer } from '../types.ts'
import type { SeenBlock } from './heads-seen.ts'
import type { RpcCall } from './rpc-node.ts'

/** The chain's head where the answers tell it by the way: what is asked for another reason says how far a node is. */
export function headInAnswers(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): SeenBlock | undefined {
  const index = calls.findIndex(({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest')
  return index < 0 ? undefined : blockOf(answers[index]?.result)
}

export function blockOf(result: unknown): SeenBlock | undefined {
  if (!isObject(result) || typeof result['hash'] !== 'string') return undefined
  const number = quantityOf(result['number'])
  const timestamp = quantityOf(result['timestamp'])
  return number === undefined || timestamp === undefined
    ? undefined
    : { number: Number(number), hash: result['hash'], timestamp: Number(timestamp) }
}
