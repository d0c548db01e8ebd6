import { SluiceError } from '../../core/contracts/index.ts'
import type { At, Checked, FeeWish, Need } from '../../core/contracts/index.ts'
import { isObject } from '../../core/kits/nodes/is-object.ts'
import { nodeLied, resultOf } from '../../core/kits/nodes/ask.ts'
import type { RpcAnswer } from '../../core/kits/nodes/types.ts'
import { fundsCommitted, gasTooDear } from '../nodes/rails.ts'
import { tipMethod } from './fee-oracle.ts'
import { packAggregate3, unpackAggregate3 } from './multicall.ts'
import { chargeCalls, chargesOf } from './op-stack.ts'
import { checkWish, costOf, feesOf, min, priceFees } from './fees.ts'
import type { EvmFees } from './fees.ts'
import type { GasTable } from '../../core/kits/evm/rail/gas-table.ts'
import { needsCalls, judgeNeeds, nativeAddress } from '../../core/kits/evm/rail/needs.ts'
import type { EvmRailOptions } from './rail.ts'
import { readGas, simulationCalls } from './gas-limit.ts'
import type { EvmSynced } from './nonces.ts'
import { isBytes, quantityOf } from '../../core/kits/evm/quantity.ts'
import type { EvmIntent } from './types.ts'

/** Everything there is to ask before signing, in one JSON-RPC batch; what is wrong is told in the order in which a person would cure it. */
export async function check(
  options: EvmRailOptions,
  gasTable: Pick<GasTable, 'learn'>,
  steps: readonly EvmIntent[],
  needs: readonly Need[],
  from: string,
  { wish, over }: { wish: FeeWish; over?: EvmFees },
  at: At,
): Promise<Checked<EvmIntent, EvmSynced, EvmFees>> {
  const { rpc, feeCapRaw, policy, chainId } = options
  checkWish(wish, feeCapRaw)
  const spentRaw = sum(steps.map(({ value }) => BigInt(value)))
  const wanted: readonly Need[] = [...needs, { is: 'balance', token: nativeAddress, amountRaw: spentRaw }]
  const chargeable = options.rollup ? chargeCalls(steps, chainId) : []
  const reading = packAggregate3([...needsCalls(wanted, from, options.multicall), ...chargeable])
  const calls = [
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_getTransactionCount', params: [from, 'latest'] },
    { method: 'eth_getTransactionCount', params: [from, 'pending'] },
    { method: tipMethod(policy.legacy), params: [] },
    { method: 'eth_call', params: [{ to: options.multicall, data: reading }, 'latest'] },
    ...simulationCalls(steps, from),
  ]
  const [block, latest, pending, tip, read, ...simulated] = await rpc.batch(calls, at)

  const bytes = resultOf(rpc, 'eth_call', read)
  const results = isBytes(bytes) ? unpackAggregate3(bytes, wanted.length + chargeable.length) : undefined
  if (!results) throw nodeLied(rpc, 'answered a call to Multicall3 with something else than its result')
  const nativeRaw = await judgeNeeds(options, wanted, results.slice(0, wanted.length), at)
  const charges = options.rollup ? chargesOf(results.slice(wanted.length)) : []
  if (!charges) throw nodeLied(rpc, 'has no GasPriceOracle, by which the fees of a rollup are told')
  const blockGas = blockField(options, block?.result, 'gasLimit')
  const mostGas = options.mostGas === undefined ? blockGas : min(options.mostGas, blockGas)
  const limits = readGas(steps, simulated, mostGas)
  const [only, ...others] = steps
  if (only && others.length === 0) gasTable.learn(only, from, limits[0] ?? 0n, mostGas)
  const suggested = quantityOf(tip?.result)
  const tipRaw = options.tipFor && wish.maxPriorityFeePerGasRaw === undefined ? await options.tipFor(suggested, at) : suggested
  const baseFeeRaw = policy.legacy ? 0n : blockField(options, block?.result, 'baseFeePerGas')
  const price = priceFees(wish, over, { baseFeeRaw, tipRaw, policy, feeCapRaw })
  const prepared = steps.map((step, index) => ({ step, ...feesOf(limits[index] ?? 0n, price, policy, charges[index]) }))
  const tradedRaw = sum(needs.flatMap((need) => (need.is === 'balance' && need.token === options.coinToken ? need.amountRaw : [])))
  const neededRaw = tradedRaw + sum(prepared.map(({ step, fees }) => costOf(step, fees)))
  if (nativeRaw < neededRaw) throw gasTooDear(options.nativeCurrency, nativeRaw, neededRaw)

  return { prepared, synced: syncedOf(options, latest, pending), beside: besideOf(options, nativeRaw, neededRaw) }
}

/** Whether a wallet with so much of the native coin bears what is needed beside what its other transactions may take. */
export const besideOf =
  ({ nativeCurrency }: Pick<EvmRailOptions, 'nativeCurrency'>, nativeRaw: bigint, neededRaw: bigint): Checked['beside'] =>
  (committedRaw) =>
    nativeRaw < committedRaw + neededRaw ? fundsCommitted(nativeCurrency, nativeRaw, committedRaw, neededRaw) : undefined

export async function sync(options: EvmRailOptions, from: string, at: At): Promise<EvmSynced> {
  const calls = ['latest', 'pending'].map((tag) => ({ method: 'eth_getTransactionCount', params: [from, tag] }))
  const [latest, pending] = await options.rpc.batch(calls, at)
  return syncedOf(options, latest, pending)
}

function syncedOf(options: EvmRailOptions, latest: RpcAnswer | undefined, pending: RpcAnswer | undefined): EvmSynced {
  const counts = { latest: countOf(options, latest), pending: countOf(options, pending) }
  return latest?.behind === undefined ? counts : { ...counts, behind: true }
}

function countOf({ rpc }: EvmRailOptions, answer: RpcAnswer | undefined): number {
  const count = quantityOf(resultOf(rpc, 'eth_getTransactionCount', answer))
  if (count === undefined) throw nodeLied(rpc, 'answered eth_getTransactionCount with something that is no number')
  return Number(count)
}

function blockField({ rpc, network }: EvmRailOptions, block: unknown, field: 'gasLimit' | 'baseFeePerGas'): bigint {
  const value = isObject(block) ? quantityOf(block[field]) : undefined
  if (value !== undefined) return value
  if (isObject(block) && field === 'baseFeePerGas')
    throw new SluiceError(
      'UNSUPPORTED',
      `Blocks of ${network} have no base fee (EIP-1559), and its chain plugin does not say legacyFees: transactions of type 2 would be refused.`,
    )
  throw nodeLied(rpc, 'answered eth_getBlockByNumber with something that is no block')
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}
