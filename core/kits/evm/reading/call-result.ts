import { isObject } from '../../nodes/is-object.ts'
import { nodeLied, resultOf } from '../../nodes/ask.ts'
import type { Rpc, RpcAnswer } from '../../nodes/types.ts'
import { isBytes } from '../quantity.ts'
import type { CallResult } from '../../../../kits/evm/types.ts'

/** JSON-RPC error codes that say "the call itself failed": geth's with revert data, geth's without any, Nethermind's. */
const executionCodes: ReadonlySet<number> = new Set([3, -32000, -32015])

/** What a reverted call gave back, `0x` where it gave nothing; undefined where the error is of another kind. */
export function revertData({ code, data }: { code: number; data?: unknown }): string | undefined {
  // Some nodes wrap it once more: { data: '0x…' }.
  const inner = isObject(data) ? data['data'] : data
  // Nethermind writes "Reverted 0x…".
  const bytes = typeof inner === 'string' ? inner.replace(/^Reverted /, '') : inner
  if (isBytes(bytes)) return bytes
  return executionCodes.has(code) ? '0x' : undefined
}

/** What one `eth_call` of a batch gave: a revert is a result too. */
export function callResultOf(rpc: Rpc, answer: RpcAnswer | undefined): CallResult {
  if (isBytes(answer?.result)) return { ok: true, data: answer.result }
  const reverted = answer?.error && revertData(answer.error)
  if (reverted !== undefined) return { ok: false, data: reverted }
  resultOf(rpc, 'eth_call', answer)
  throw nodeLied(rpc, 'answered eth_call with something that is no bytes')
}
