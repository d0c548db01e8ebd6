import { NodeFailure } from '../../core/kits/nodes/node/node-failure.ts'
import { isObject } from '../../core/kits/nodes/is-object.ts'
import type { Dialect, SeenHead } from '../nodes/dialect.ts'
import type { RpcAnswer, RpcCall } from '../../core/kits/nodes/types.ts'
import { slotSeconds } from '../../core/kits/solana/network.ts'
import { confirmed } from '../../core/kits/solana/rpc/commitment.ts'
import { contextSlotOf, numberOf, parseNodeJson } from '../../core/kits/solana/rpc/json.ts'
import { isPlausible } from '../../core/kits/solana/rpc/plausible.ts'

/** Codes of a node that cannot serve for now: https://solana.com/docs/rpc, agave `rpc-client-api/src/custom_error.rs`. */
const unhealthy = -32005
const minContextSlotNotReached = -32016
const behind: ReadonlySet<number> = new Set([unhealthy, minContextSlotNotReached])
/** HTTP's own number, which public nodes repeat in the body. */
const overLimit: ReadonlySet<number> = new Set([429])

/** agave `rpc/src/rpc_service.rs`, MAX_REQUEST_BODY_SIZE. */
const mostBodyBytes = 50 * 1024

/** How nodes of Solana are spoken to. Forks are not looked for: what is confirmed is on one. */
export function solanaDialect(genesisHash: string | undefined): Dialect {
  return {
    identity: {
      call: { method: 'getGenesisHash', params: [] },
      fault(result) {
        if (typeof result !== 'string') return { is: 'garbage', what: 'answered getGenesisHash with something that is no hash' }
        if (genesisHash === undefined || result === genesisHash) return undefined
        return { is: 'other', what: `has the genesis hash ${result.slice(0, 64)}, not ${genesisHash}` }
      },
    },
    headCall: { method: 'getSlot', params: [confirmed] },
    headIn,
    sendCall: (raw) => ({ method: 'sendTransaction', params: [raw, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }] }),
    isPlausible,
    refusal(code) {
      if (behind.has(code)) return new NodeFailure('unreachable', `is behind the chain by its own word (code ${code})`)
      return overLimit.has(code) ? new NodeFailure('rate-limited', `is over its limit (code ${code})`) : undefined
    },
    mostBodyBytes,
    parse: parseNodeJson,
  }
}

/** Heads are confirmed slots: answers for another commitment say nothing of them. */
function headIn(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): SeenHead | undefined {
  for (const [index, { method, params }] of calls.entries()) {
    const options = params.at(-1)
    if (!isObject(options) || options['commitment'] !== confirmed.commitment) continue
    const result = answers[index]?.result
    const number = method === 'getSlot' ? numberOf(result) : contextSlotOf(result)
    if (number !== undefined) return { number, timestamp: number * slotSeconds }
  }
  return undefined
}
