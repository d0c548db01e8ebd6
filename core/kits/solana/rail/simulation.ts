import { SluiceError } from '../../../contracts/index.ts'
import type { Json } from '../../../contracts/index.ts'
import { MAX_COMPUTE_UNIT_LIMIT } from '@solana-program/compute-budget'
import { isObject } from '../../nodes/is-object.ts'
import { nodeLied, resultOf } from '../../nodes/ask.ts'
import type { Rpc, RpcAnswer, RpcCall } from '../../nodes/types.ts'
import { nativeAddress } from '../address.ts'
import { confirmed } from '../rpc/commitment.ts'
import { jsonOfNode, numberOf, valueOf } from '../rpc/json.ts'
import type { SolanaIntent } from '../../../../kits/solana/types.ts'
import { messageOf, withSignature } from '../../../../kits/solana/message.ts'
import { isUnfunded, whyFailed } from './why-failed.ts'

/** What fits a packet: agave `packet`, PACKET_DATA_SIZE. */
const mostBytes = 1_232
/** The instruction that advances a durable nonce, and its two accounts, come on top. */
const durableBytes = 110

/** The step with all the units there are and no signature, upon whatever blockhash the node has. */
export function simulationCall(step: SolanaIntent): RpcCall {
  const wire = withSignature(messageOf(step, { units: MAX_COMPUTE_UNIT_LIMIT, price: 0n }, nativeAddress))
  if (wire.length + durableBytes > mostBytes)
    throw wouldFail(
      `it has ${wire.length} bytes, and a transaction has at most ${mostBytes - durableBytes} beside what a durable nonce takes`,
    )
  const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, ...confirmed }
  return { method: 'simulateTransaction', params: [Buffer.from(wire).toString('base64'), options] }
}

/** The compute units that it used. Throws what it would fail for. */
export function readSimulation(rpc: Rpc, answer: RpcAnswer | undefined): number {
  const value = valueOf(resultOf(rpc, 'simulateTransaction', answer))
  if (!isObject(value)) throw nodeLied(rpc, 'answered simulateTransaction with something that is no simulation')
  const err: Json = jsonOfNode(value['err'])
  if (err !== null) throw refusal(err, Array.isArray(value['logs']) ? value['logs'].filter((line) => typeof line === 'string') : [])
  const units = numberOf(value['unitsConsumed'])
  if (units === undefined) throw nodeLied(rpc, 'simulates without saying how many compute units are used')
  return units
}

function refusal(err: Json, logs: readonly string[]): SluiceError {
  const reason = whyFailed(err, logs)
  if (!isUnfunded(err)) return wouldFail(reason)
  return new SluiceError('OUT_OF_GAS', `The wallet cannot pay for the transaction (${reason}), so it was not signed: fund it.`)
}

function wouldFail(reason: string): SluiceError {
  return new SluiceError('TRADE_FAILED', `The transaction would fail, so it was not signed: ${reason}.`, { details: { reason } })
}
