import { toBeHex } from 'ethers/utils'
import { SluiceError } from '../../core/contracts/index.ts'
import { isObject } from '../../core/kits/nodes/is-object.ts'
import { quoteNode } from '../../core/kits/nodes/quote-node.ts'
import type { RpcAnswer } from '../../core/kits/nodes/types.ts'
import { quantityOf } from '../../core/kits/evm/quantity.ts'
import { revertReason } from '../../core/kits/evm/rail/revert.ts'
import { meaningOf } from './node-errors.ts'
import { revertData } from '../../core/kits/evm/reading/call-result.ts'
import type { EvmIntent } from './types.ts'

/** A plain transfer to an account without code costs exactly this (yellow paper, G_transaction): no margin is needed. */
const transferGas = 21_000n
/**
 * The limit is the estimate and a quarter: what happens in between (other swaps that cross a tick, a slot that became cold)
 * may cost more. What is not used is not paid.
 */
const withMargin = (estimate: bigint) => (estimate === transferGas ? estimate : (estimate * 5n) / 4n)
/** `eth_simulateV1` says what was used, after refunds and without the 1/64 that calls must leave (EIP-150): half again covers both. */
export const limitFromUsed = (used: bigint) => (used === transferGas ? used : (used * 3n) / 2n)
/** For steps after the first where the node cannot simulate several: an approval takes about 50,000. */
const unsimulatedGas = 300_000n

/** One step is estimated. Several are also simulated one upon the other, for the second may need what the first does. */
export function simulationCalls(steps: readonly EvmIntent[], from: string) {
  const txs = steps.map(({ to, data, value }) => ({ from, to, data, value: toBeHex(BigInt(value)).replace(/^0x0+(?=.)/, '0x') }))
  const estimate = { method: 'eth_estimateGas', params: [txs[0]] }
  if (steps.length === 1) return [estimate]
  return [estimate, { method: 'eth_simulateV1', params: [{ blockStateCalls: [{ calls: txs }] }, 'latest'] }]
}

/** Gas limits of the steps, none above `mostGas`. Throws what a step would fail for. */
export function readGas(steps: readonly EvmIntent[], [estimated, simulated]: readonly RpcAnswer[], mostGas: bigint): readonly bigint[] {
  const estimate = quantityOf(estimated?.result)
  if (estimate === undefined) throw refusal(estimated?.error)
  const results = resultsOf(simulated?.result)
  const beyond = beyondSimulation(estimate, results)
  return steps.map(({ spareGas = '0' }, index) => {
    const cut = (needed: bigint, limit: bigint) => {
      if (needed > mostGas) throw tooMuchGas(needed, mostGas)
      const wanted = limit + BigInt(spareGas)
      return wanted > mostGas ? mostGas : wanted
    }
    if (index === 0) return cut(estimate, withMargin(estimate))
    const result = results?.[index]
    if (!isObject(result)) return cut(0n, unsimulatedGas + beyond)
    if (result['status'] === '0x0') throw wouldFail(revertReason(result['returnData']))
    const used = quantityOf(result['gasUsed'])
    return used === undefined ? cut(0n, unsimulatedGas + beyond) : cut(used, limitFromUsed(used) + beyond)
  })
}

/**
 * What the estimate of the first step has that its simulation does not know of, as Arbitrum's has the gas that pays for layer 1
 * (https://docs.arbitrum.io/how-arbitrum-works/gas-fees): the others need it too.
 */
function beyondSimulation(estimate: bigint, results: readonly unknown[] | undefined): bigint {
  const first = results?.[0]
  const used = isObject(first) ? quantityOf(first['gasUsed']) : undefined
  const known = used === undefined ? estimate : limitFromUsed(used)
  return estimate > known ? estimate - known : 0n
}

function resultsOf(answer: unknown): readonly unknown[] | undefined {
  const block: unknown = Array.isArray(answer) ? answer[0] : undefined
  const results = isObject(block) ? block['calls'] : undefined
  return Array.isArray(results) ? results : undefined
}

function refusal(error: RpcAnswer['error']): SluiceError {
  if (!error)
    return new SluiceError('NETWORK', 'The RPC node gave no estimate of the gas. Try again, or check rpcUrls.', { retryAfterSeconds: 1 })
  const meaning = meaningOf(error)
  if (meaning === 'out-of-gas' || meaning === 'insufficient-funds') {
    return new SluiceError('OUT_OF_GAS', `The gas could not be estimated: ${quoteNode(error.message)}. Fund the wallet, or trade less.`)
  }
  const data = revertData(error)
  return wouldFail(data === undefined || (data === '0x' && meaning !== 'reverted') ? quoteNode(error.message) : revertReason(data))
}

function tooMuchGas(needed: bigint, mostGas: bigint): SluiceError {
  return new SluiceError(
    'OUT_OF_GAS',
    `The transaction needs ${needed} gas, and the network takes at most ${mostGas} for one, so it was not signed: trade by a shorter route, or less at once.`,
  )
}

function wouldFail(reason: string): SluiceError {
  return new SluiceError('TRADE_FAILED', `The transaction would fail, so it was not signed: ${reason}.`, { details: { reason } })
}
