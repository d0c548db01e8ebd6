import { isObject } from '../../nodes/is-object.ts'
import type { RpcAnswer, RpcCall } from '../../nodes/types.ts'
import type { SeenHead } from '../../../../kits/nodes/dialect.ts'
import { quantityOf } from '../quantity.ts'

/** The chain's head where the answers tell it by the way: what is asked for another reason says how far a node is. */
export function headInAnswers(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): SeenHead | undefined {
  const index = calls.findIndex(({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest')
  return index < 0 ? undefined : blockOf(answers[index]?.result)
}

export function blockOf(result: unknown): (SeenHead & { hash: string }) | undefined {
  if (!isObject(result) || typeof result['hash'] !== 'string') return undefined
  const number = quantityOf(result['number'])
  const timestamp = quantityOf(result['timestamp'])
  return number === undefined || timestamp === undefined
    ? undefined
    : { number: Number(number), hash: result['hash'], timestamp: Number(timestamp) }
}
