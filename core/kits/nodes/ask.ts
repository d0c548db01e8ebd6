import { SluiceError } from '../../contracts/index.ts'
import type { At } from '../../contracts/index.ts'
import { RpcError } from './node/rpc-error.ts'
import type { Rpc, RpcAnswer } from './types.ts'

/** A request that a working node always answers: an error in its place is told to the caller as NETWORK. */
export async function ask(rpc: Rpc, method: string, params: readonly unknown[], at: At): Promise<unknown> {
  try {
    return await rpc.request(method, params, at)
  } catch (error) {
    throw error instanceof RpcError ? nodeRefused(rpc, method, error) : error
  }
}

/** The same for one answer of a batch. */
export function resultOf(rpc: Rpc, method: string, answer: RpcAnswer | undefined): unknown {
  if (answer?.error) throw nodeRefused(rpc, method, answer.error)
  return answer?.result
}

/** The node answered with something that cannot be: another one is asked next, where there is one. */
export function nodeLied(rpc: Rpc, what: string): SluiceError {
  const error = new SluiceError('NETWORK', `The RPC node ${rpc.url()} ${what}. Try again, or check rpcUrls.`, { retryAfterSeconds: 1 })
  rpc.distrust(what)
  return error
}

function nodeRefused(rpc: Rpc, method: string, { code, message }: { code: number; message: string }): SluiceError {
  return nodeLied(rpc, `refused ${method}: ${message.slice(0, 200)} (code ${code})`)
}
