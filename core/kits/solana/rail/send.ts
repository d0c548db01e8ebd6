import type { At, Reception, Sealed } from '../../../contracts/index.ts'
import { quoteNode } from '../../nodes/quote-node.ts'
import { sendToAll } from '../../nodes/send-to-all.ts'
import type { Rpc, RpcAnswer } from '../../nodes/types.ts'

/** Codes by which a node refuses bytes that no node takes: agave `rpc-client-api/src/custom_error.rs`, and JSON-RPC's invalid params. */
const invalid: ReadonlySet<number> = new Set([
  // The signature does not verify.
  -32003,
  // A precompiled program's check failed.
  -32006, -32602,
])

/** The same bytes to every node; one that has them is enough. What no leader takes no node keeps. */
export function send(rpc: Rpc, { id, raw }: Sealed, at: At): Promise<Reception> {
  const signed = { id, raw: Buffer.from(raw).toString('base64') }
  return sendToAll(rpc, signed, { isTaken: (result) => result === id, error: receptionOf }, at)
}

function receptionOf({ code, message }: NonNullable<RpcAnswer['error']>): Reception {
  const reason = quoteNode(message)
  // Whatever else a node says, it may have passed them on.
  return invalid.has(code) ? { is: 'refused', reason, meaning: 'invalid' } : { is: 'unclear', reason }
}
