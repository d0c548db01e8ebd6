import { NodeFailure } from '../../nodes/node/node-failure.ts'

/**
 * Codes that mean "too many requests": HTTP's own number, EIP-1474's "limit exceeded", and those of Optimism's
 * proxyd (`proxyd/backend.go`: over capacity, over rate limit, sender over rate limit), which fronts many public nodes.
 */
const limitExceeded = -32005
const rateLimitCodes: ReadonlySet<number> = new Set([429, limitExceeded, -32012, -32016, -32017])
/**
 * Methods for which "limit exceeded" is about the call: Infura and others say it for logs that are too many, besu for a transaction
 * with more gas than a block has (`RpcErrorType.EXCEEDS_BLOCK_GAS_LIMIT`).
 */
const ownLimits: ReadonlySet<string> = new Set(['eth_getLogs', 'eth_sendRawTransaction'])
/** proxyd: "no backend is currently healthy to serve traffic". */
const unhealthyCodes: ReadonlySet<number> = new Set([-32011])

/** What an error's code says of the node itself. */
export function refusal(code: number, method: string | undefined): NodeFailure | undefined {
  if (unhealthyCodes.has(code)) return new NodeFailure('unreachable', `has no healthy backend (code ${code})`)
  if (rateLimitCodes.has(code) && !(code === limitExceeded && method !== undefined && ownLimits.has(method)))
    return new NodeFailure('rate-limited', `is over its limit (code ${code})`)
  return undefined
}
