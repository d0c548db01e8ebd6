import { toQuantity } from 'ethers/utils'
import { SluiceError, type Json } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { quoteNode } from '../nodes/faults.ts'
import { invalidAnswer, isUnsupported, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { quantityOf } from './encoding.ts'
import { min } from './fees.ts'
import { callVerdict } from './node-errors.ts'
import { revertData, revertReason } from './reverts.ts'
import type { EvmIntent, GasProfile } from './types.ts'
import { isObject } from '../../core/base/json.ts'
import { dropOldest } from '../../core/base/oldest.ts'

/** A plain transfer to an account without code costs exactly this (yellow paper, G_transaction): no margin is needed. */
const transferGas = 21_000n
/**
 * The limit is the estimate and a quarter. What happens before the transaction is mined may make it use more: other swaps cross a tick, a
 * storage slot becomes cold. Unused gas is not paid.
 */
const withMargin = (estimate: bigint) => (estimate === transferGas ? estimate : (estimate * 5n) / 4n)
/** `eth_simulateV1` gives the gas used after refunds, without the 1/64 that calls must leave (EIP-150). Half as much again covers both. */
export const limitFromGasUsed = (used: bigint) => (used === transferGas ? used : (used * 3n) / 2n)
/** For steps after the first, if the node cannot simulate several. An approval uses about 50,000. */
const defaultGas = 300_000n

/**
 * Estimates the first step. Several steps are also simulated one after the other, because the second may need what the first does.
 * @param overrides the state in which a single step is estimated, where it differs from the newest
 */
export function simulationCalls(steps: readonly EvmIntent[], from: string, overrides?: object) {
  const txs = steps.map((step) => callOf(step, from))
  const estimate = { method: 'eth_estimateGas', params: [txs[0], ...(overrides ? ['latest', overrides] : [])] }
  if (steps.length === 1) return [estimate]
  return [estimate, { method: 'eth_simulateV1', params: [{ blockStateCalls: [{ calls: txs }] }, 'latest'] }]
}

/** A step as nodes take it. */
export const callOf = ({ to, data, value }: EvmIntent, from: string) => ({ from, to, data, value: toQuantity(BigInt(value)) })

/**
 * Gas limits of the steps, none above `maxGas`. Where the node knows no simulation, steps after the first get a limit that is enough for an approval;
 * where it has trouble with one, nothing is known of them.
 * @throws SluiceError with the reason for which a step would fail; NETWORK or RATE_LIMIT where no node could tell
 */
export function gasLimitsOf(
  rpc: ReadRpc,
  steps: readonly EvmIntent[],
  [estimated, simulated]: readonly RpcAnswer[],
  maxGas: bigint,
): readonly bigint[] {
  const estimate = quantityOf(estimated?.error ? undefined : estimated?.result)
  if (estimate === undefined) throw noEstimate(rpc, 'eth_estimateGas', estimated)
  if (simulated?.error && !isUnsupported(simulated)) throw noEstimate(rpc, 'eth_simulateV1', simulated)
  const results = simulatedCalls(simulated?.result)
  const unsimulated = unsimulatedPart(estimate, results)
  return steps.map(({ spareGas = '0' }, index) => {
    const capped = (needed: bigint, limit: bigint) => {
      if (needed > maxGas) throw tooMuchGas(needed, maxGas)
      return min(limit + BigInt(spareGas), maxGas)
    }
    if (index === 0) return capped(estimate, withMargin(estimate))
    const result = results?.[index]
    if (!isObject(result)) return capped(0n, defaultGas + unsimulated)
    if (result['status'] === '0x0') throw wouldFail(revertReason(result['returnData']))
    const used = quantityOf(result['gasUsed'])
    return used === undefined ? capped(0n, defaultGas + unsimulated) : capped(used, limitFromGasUsed(used) + unsimulated)
  })
}

/**
 * What the first step's estimate includes and its simulation does not, as on Arbitrum the gas that pays for layer 1
 * (https://docs.arbitrum.io/how-arbitrum-works/gas-fees). The other steps need it, too.
 */
function unsimulatedPart(estimate: bigint, results: readonly unknown[] | undefined): bigint {
  const first = results?.[0]
  const used = isObject(first) ? quantityOf(first['gasUsed']) : undefined
  const known = used === undefined ? estimate : limitFromGasUsed(used)
  return estimate > known ? estimate - known : 0n
}

/** What `eth_simulateV1` says of each call of its one block. */
export function simulatedCalls(answer: unknown): readonly unknown[] | undefined {
  const block: unknown = Array.isArray(answer) ? answer[0] : undefined
  const results = isObject(block) ? block['calls'] : undefined
  return Array.isArray(results) ? results : undefined
}

/** Only what the chain says of the call is the contract's word. */
function noEstimate(rpc: ReadRpc, method: string, answer: RpcAnswer | undefined): unknown {
  const error = answer?.error
  const verdict = error && callVerdict(error)
  if (error && (verdict === 'out-of-gas' || verdict === 'insufficient-funds'))
    return new SluiceError('OUT_OF_GAS', `The gas could not be estimated: ${quoteNode(error.message)}. Fund the wallet, or trade less.`)
  if (error && verdict) return wouldFail(revertReason(revertData(error)))
  try {
    resultOf(rpc, method, answer)
  } catch (failure) {
    return failure
  }
  return invalidAnswer(rpc, 'gave no gas estimate')
}

function tooMuchGas(needed: bigint, maxGas: bigint): SluiceError {
  return new SluiceError(
    'OUT_OF_GAS',
    `The transaction needs ${needed} gas, and the network takes at most ${maxGas} for one, so it was not signed: trade less, or by a shorter route.`,
  )
}

function wouldFail(reason: string): SluiceError {
  return new SluiceError('TRADE_FAILED', `The transaction would fail, so it was not signed: ${reason}.`, { details: { reason } })
}

/** Gas limits of earlier simulations, for calls of the same kind through the same pools and tokens. */
export interface GasLimitCache {
  /** Called after a simulation. @param maxGas of one transaction; a limit that was cut to it says nothing about other calls */
  learn(step: EvmIntent, from: string, limit: bigint, maxGas: bigint): void
  /** Undefined if the call must be simulated. */
  limitOf(step: EvmIntent, from: string): bigint | undefined
  /** Called when a step failed on the chain: the next one like it is simulated. @param step as the journal has it */
  forget(step: Json, from: string): void
}

/** After this time a call is simulated again: tokens and pools can be paused, and can change their code. */
const cachedMs = 3_600_000
const maxCached = 20_000
/** Another transaction may set a storage slot to zero first. Writing it then uses 20,000 gas instead of 5,000 (https://eips.ethereum.org/EIPS/eip-2200). */
const zeroSlotGas = 20_000n

/**
 * Keeps two things. By kind of call: the maximum by which limits exceeded what the quote said that its swap uses (a swap that crosses more
 * ticks says so itself). By wallet and pool: when it was simulated, because a token may bar one wallet and not another.
 */
export function createGasLimitCache(nowMs = () => performance.now()): GasLimitCache {
  const surpluses = new Map<string, bigint>()
  const simulatedAt = new Map<string, number>()
  let maxGas = 0n

  const keysOf = ({ through }: GasProfile, from: string) => through.map((each) => `${from} ${each}`)

  return {
    learn({ to, alike, spareGas = '0' }, from, limit, max) {
      maxGas = max
      if (!alike || limit >= max) return
      const kind = `${to} ${alike.kind}`
      const surplus = limit - BigInt(spareGas) - withMargin(BigInt(alike.units))
      const known = surpluses.get(kind)
      put(surpluses, kind, known === undefined || surplus > known ? surplus : known)
      for (const key of keysOf(alike, from)) put(simulatedAt, key, nowMs())
    },
    limitOf({ to, alike, spareGas = '0' }, from) {
      const surplus = alike && surpluses.get(`${to} ${alike.kind}`)
      if (!alike || surplus === undefined) return undefined
      const isCached = (key: string) => nowMs() - (simulatedAt.get(key) ?? -Infinity) < cachedMs
      if (!keysOf(alike, from).every(isCached)) return undefined
      const { units, firstWriteUnits = '0' } = alike
      const limit = withMargin(BigInt(units)) + BigInt(firstWriteUnits) + surplus + zeroSlotGas + BigInt(spareGas)
      return limit > maxGas ? undefined : limit
    },
    forget(step, from) {
      const alike = isObject(step) ? step['alike'] : undefined
      const through: unknown = isObject(alike) ? alike['through'] : undefined
      if (Array.isArray(through)) for (const each of through) simulatedAt.delete(`${from} ${each}`)
    },
  }
}

/** Removes the oldest entry if there are too many. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  dropOldest(map, maxCached)
}
