import { toBeHex } from 'ethers/utils'
import { SluiceError, type Json } from '../../core/contracts/index.ts'
import { isObject, type RpcAnswer } from '../nodes/dialect.ts'
import { quoteNode } from '../nodes/rpc.ts'
import { quantityOf } from './encoding.ts'
import { revertReason, errorMeaning, revertData } from './node-errors.ts'
import type { EvmIntent, GasProfile } from './types.ts'

/** A plain transfer to an account without code costs exactly this (yellow paper, G_transaction): no margin is needed. */
const transferGas = 21_000n
/**
 * The limit is the estimate and a quarter: what happens in between (other swaps that cross a tick, a slot that became cold)
 * may cost more. What is not used is not paid.
 */
const withMargin = (estimate: bigint) => (estimate === transferGas ? estimate : (estimate * 5n) / 4n)
/** `eth_simulateV1` says what was used, after refunds and without the 1/64 that calls must leave (EIP-150): half again covers both. */
export const limitFromGasUsed = (used: bigint) => (used === transferGas ? used : (used * 3n) / 2n)
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
export function gasLimitsOf(steps: readonly EvmIntent[], [estimated, simulated]: readonly RpcAnswer[], mostGas: bigint): readonly bigint[] {
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
    return used === undefined ? cut(0n, unsimulatedGas + beyond) : cut(used, limitFromGasUsed(used) + beyond)
  })
}

/**
 * What the estimate of the first step has that its simulation does not know of, as Arbitrum's has the gas that pays for layer 1
 * (https://docs.arbitrum.io/how-arbitrum-works/gas-fees): the others need it too.
 */
function beyondSimulation(estimate: bigint, results: readonly unknown[] | undefined): bigint {
  const first = results?.[0]
  const used = isObject(first) ? quantityOf(first['gasUsed']) : undefined
  const known = used === undefined ? estimate : limitFromGasUsed(used)
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
  const meaning = errorMeaning(error)
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

/** The gas limits that simulations gave to calls of a kind, for calls of the same kind through what was simulated before. */
export interface GasLimitCache {
  /** After a simulation. @param mostGas what a transaction may have: a limit that was cut to it says nothing of others */
  learn(step: EvmIntent, from: string, limit: bigint, mostGas: bigint): void
  /** Undefined where it is to be simulated. */
  limitOf(step: EvmIntent, from: string): bigint | undefined
  /** It failed on the chain: who comes next is simulated. @param step as the journal has it */
  forget(step: Json, from: string): void
}

/** What was simulated so long ago is simulated again: tokens and pools are paused, and change their code. */
const knownMs = 3_600_000
const mostKnown = 20_000
/** Others who came first may have left a slot at zero: then 20,000 where it was 5,000 (https://eips.ethereum.org/EIPS/eip-2200). */
const unseenGas = 20_000n

/** As for a simulation's own estimate. */
const withMarginOfGasTable = (units: bigint) => (units * 5n) / 4n

/**
 * By kind what limits had beyond what the quote said that its swaps use, at most: a swap that comes to more ticks says so itself.
 * By wallet and pool whether it was simulated: one wallet may be barred where others are not.
 */
export function createGasLimitCache(nowMs = () => performance.now()): GasLimitCache {
  const beyond = new Map<string, bigint>()
  const simulated = new Map<string, number>()
  let mostGas = 0n

  const passages = ({ through }: GasProfile, from: string) => through.map((each) => `${from} ${each}`)

  return {
    learn({ to, alike, spareGas = '0' }, from, limit, most) {
      mostGas = most
      if (!alike || limit >= most) return
      const kind = `${to} ${alike.kind}`
      const more = limit - BigInt(spareGas) - withMarginOfGasTable(BigInt(alike.units))
      const known = beyond.get(kind)
      put(beyond, kind, known === undefined || more > known ? more : known)
      for (const each of passages(alike, from)) put(simulated, each, nowMs())
    },
    limitOf({ to, alike, spareGas = '0' }, from) {
      const more = alike && beyond.get(`${to} ${alike.kind}`)
      if (!alike || more === undefined) return undefined
      const isKnown = (each: string) => nowMs() - (simulated.get(each) ?? -Infinity) < knownMs
      if (!passages(alike, from).every(isKnown)) return undefined
      const { units, firstWriteUnits = '0' } = alike
      const limit = withMarginOfGasTable(BigInt(units)) + BigInt(firstWriteUnits) + more + unseenGas + BigInt(spareGas)
      return limit > mostGas ? undefined : limit
    },
    forget(step, from) {
      const alike = isObject(step) ? step['alike'] : undefined
      const through: unknown = isObject(alike) ? alike['through'] : undefined
      if (Array.isArray(through)) for (const each of through) simulated.delete(`${from} ${each}`)
    },
  }
}

/** The oldest makes room. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= mostKnown) return
    map.delete(oldest)
  }
}
