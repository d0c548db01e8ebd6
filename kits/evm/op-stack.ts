import { id } from 'ethers/hash'
import { Transaction } from 'ethers/transaction'
import { packBytes, word } from './multicall.ts'
import type { EvmNetwork } from './network.ts'
import { uintOf } from './tokens.ts'
import type { Call, CallResult, EvmIntent } from './types.ts'

// https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle
const gasPriceOracle = '0x420000000000000000000000000000000000000F'
/** `getL1Fee(bytes)` of an unsigned transaction: what its data costs on layer 1, estimated as the node will charge it (since Fjord by FastLZ). */
const getL1Fee = '0x49948e0e'
/** `getOperatorFee(uint256)` of so much gas; there since Isthmus, linear in gas since then (Jovian changed the factor only). */
const getOperatorFee = '0x275aedd2'
const million = 1_000_000n

/** What a transaction is charged on top of its gas, wei. */
export interface Charge {
  dataFeeRaw: bigint
  operatorFeeRaw(gas: bigint): bigint
}

/** What tells the charges of transactions that are not signed yet, at the block of all else that is asked. */
export function chargeCalls(steps: readonly EvmIntent[], chainId: number): readonly Call[] {
  const datas = steps.map((step) => `${getL1Fee}${word(32)}${packBytes(unsignedOf(step, chainId))}`)
  return [...datas, ...[0n, million].map((gas) => `${getOperatorFee}${word(gas)}`)].map((data) => ({ to: gasPriceOracle, data }))
}

/** A charge for each of the steps; undefined where there is no oracle. */
export function chargesOf(results: readonly CallResult[]): readonly Charge[] | undefined {
  const amounts = results.map(uintOf)
  const dataFees = amounts.slice(0, -2)
  const [least = 0n, ofMillion = least] = amounts.slice(-2)
  // Rounded as the contract does, by a factor that is a whole number for a million.
  const operatorFeeRaw = (gas: bigint) => least + (gas * (ofMillion - least)) / million
  const charges = dataFees.flatMap((dataFeeRaw) => (dataFeeRaw === undefined ? [] : { dataFeeRaw, operatorFeeRaw }))
  return charges.length === dataFees.length ? charges : undefined
}

/** At the price of the block that was asked. */
export function chargeRaw({ dataFeeRaw, operatorFeeRaw }: Charge, gas: bigint): bigint {
  return dataFeeRaw + operatorFeeRaw(gas)
}

/**
 * The most, where it is mined later: layer 1's base fees rise by at most an eighth a block (EIP-1559, EIP-4844), so twice outlasts six
 * full ones in a row.
 */
export function maxChargeRaw({ dataFeeRaw, operatorFeeRaw }: Charge, gas: bigint): bigint {
  return 2n * dataFeeRaw + operatorFeeRaw(gas)
}

/** A step's bytes before signing. Digits that no compression shortens stand for what is not known yet. */
function unsignedOf({ to, data, value }: EvmIntent, chainId: number): string {
  const unknown = { nonce: 0xa1b3, gasLimit: 0x123456, maxFeePerGas: 0x1234567890, maxPriorityFeePerGas: 0x98765432 }
  return Transaction.from({ type: 2, chainId, to, data, value, ...unknown }).unsignedSerialized
}

const someAddress = (name: string) => `0x${id(name).slice(-40)}`

/** A swap over one pool as routers take it, `swapExactTokensForTokens(uint256,uint256,address[],address,uint256)`: what a quote's data fee is taken from. */
const typicalSwap: EvmIntent = {
  to: someAddress('router'),
  data: [
    '0x38ed1739',
    ...[0x6f05b59d3b20000n, 0x6a94d74f4b1c7d1n, 160n, BigInt(someAddress('trader')), 0x691f3a5cn, 2n].map(word),
    ...['base', 'quote'].map((name) => word(BigInt(someAddress(name)))),
  ].join(''),
  value: '0',
}

/** What a rollup charges for a typical swap on top of gas, as the last reading saw it. */
export interface RollupFees {
  /** They ride along with every reading. */
  readonly calls: readonly Call[]
  /** False where these are no answers to the calls. */
  observe(results: readonly CallResult[]): boolean
  /** Wei for a transaction of so much gas; undefined where that is not known, or is older than `ms`. */
  costRaw(gas: bigint, ms: number): bigint | undefined
}

export function createRollupFees(chainId: number): RollupFees {
  let last: { charge: Charge; atMs: number } | undefined
  return {
    calls: chargeCalls([typicalSwap], chainId),
    observe(results) {
      const [charge] = chargesOf(results) ?? []
      if (charge) last = { charge, atMs: performance.now() }
      return charge !== undefined
    },
    costRaw: (gas, ms) => (last && performance.now() - last.atMs <= ms ? chargeRaw(last.charge, gas) : undefined),
  }
}

/** What is true of every network of a rollup of the OP stack whose coin is ether. */
export function opStackRollup(blockSeconds: number) {
  return {
    nativeCurrency: 'ETH',
    blockSeconds,
    // A minute. What a sequencer that fails over loses has not reached layer 1, where its batches go every few minutes at most: seen are seconds.
    confirmations: 60 / blockSeconds,
    feeCapGwei: 100,
    rollup: 'op-stack',
  } satisfies Partial<EvmNetwork>
}
