import { id } from 'ethers/hash'
import { Transaction } from 'ethers/transaction'
import { packBytes, word } from './encoding.ts'
import type { EvmNetwork } from './network.ts'
import { uintOf } from './tokens.ts'
import type { Call, CallResult, EvmIntent } from './types.ts'

// https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle
const gasPriceOracle = '0x420000000000000000000000000000000000000F'
/** `getL1Fee(bytes)` of an unsigned transaction: what its data costs on layer 1, estimated as the node charges it (since Fjord by FastLZ). */
const getL1Fee = '0x49948e0e'
/** `getOperatorFee(uint256)` of an amount of gas. It exists since Isthmus and is linear in gas (Jovian changed the factor only). */
const getOperatorFee = '0x275aedd2'
const million = 1_000_000n

/** What a rollup charges a transaction on top of its gas, in wei. */
export interface Charge {
  dataFeeRaw: bigint
  operatorFeeRaw(gas: bigint): bigint
}

/** Asks for the charges of unsigned transactions. The calls go with others, so that all are answered at one block. */
export function chargeCalls(steps: readonly EvmIntent[], chainId: number): readonly Call[] {
  const datas = steps.map((step) => `${getL1Fee}${word(32)}${packBytes(unsignedOf(step, chainId))}`)
  return [...datas, ...[0n, million].map((gas) => `${getOperatorFee}${word(gas)}`)].map((data) => ({ to: gasPriceOracle, data }))
}

/** A charge for each of the steps. Undefined if there is no oracle. */
export function chargesOf(results: readonly CallResult[]): readonly Charge[] | undefined {
  const amounts = results.map(uintOf)
  const dataFees = amounts.slice(0, -2)
  const [constantRaw = 0n, ofMillionRaw = constantRaw] = amounts.slice(-2)
  // The contract's factor is a whole number per million gas, so this rounds as the contract does.
  const operatorFeeRaw = (gas: bigint) => constantRaw + (gas * (ofMillionRaw - constantRaw)) / million
  const charges = dataFees.flatMap((dataFeeRaw) => (dataFeeRaw === undefined ? [] : { dataFeeRaw, operatorFeeRaw }))
  return charges.length === dataFees.length ? charges : undefined
}

/** At the prices of the block that was read, in wei. */
export function chargeRaw({ dataFeeRaw, operatorFeeRaw }: Charge, gas: bigint): bigint {
  return dataFeeRaw + operatorFeeRaw(gas)
}

/**
 * The maximum if it is mined later, in wei. Layer 1's base fees rise by at most an eighth per block (EIP-1559, EIP-4844), so twice the fee
 * lasts for six full blocks in a row.
 */
export function maxChargeRaw({ dataFeeRaw, operatorFeeRaw }: Charge, gas: bigint): bigint {
  return 2n * dataFeeRaw + operatorFeeRaw(gas)
}

/** A step's bytes before signing. Digits that do not compress stand for the fields that are not known yet. */
function unsignedOf({ to, data, value }: EvmIntent, chainId: number): string {
  const unknown = { nonce: 0xa1b3, gasLimit: 0x123456, maxFeePerGas: 0x1234567890, maxPriorityFeePerGas: 0x98765432 }
  return Transaction.from({ type: 2, chainId, to, data, value, ...unknown }).unsignedSerialized
}

const someAddress = (name: string) => `0x${id(name).slice(-40)}`

/** A swap through one pool by `swapExactTokensForTokens(uint256,uint256,address[],address,uint256)`. A quote shows the data fee of this swap. */
const typicalSwap = (): EvmIntent => ({
  to: someAddress('router'),
  data: [
    '0x38ed1739',
    ...[0x6f05b59d3b20000n, 0x6a94d74f4b1c7d1n, 160n, BigInt(someAddress('trader')), 0x691f3a5cn, 2n].map(word),
    ...['base', 'quote'].map((name) => word(BigInt(someAddress(name)))),
  ].join(''),
  value: '0',
})

/** What a rollup charges for a typical swap on top of gas, as last read. */
export interface RollupFees {
  /** They go with every reading. */
  readonly calls: readonly Call[]
  /**
   * Takes the answers to the calls at a block. Those of a block before the one that was taken last count only where it was the newest.
   * @returns false if they are not answers to these calls
   */
  observe(results: readonly CallResult[], number: bigint, isLatest: boolean): boolean
  /** Wei for a transaction of so much gas. Undefined if it is not known or older than `ms`. */
  costRaw(gas: bigint, ms: number): bigint | undefined
}

export function createRollupFees(chainId: number): RollupFees {
  let last: { charge: Charge; number: bigint; atMs: number } | undefined
  let calls: readonly Call[] | undefined
  return {
    // With the first reading: a start makes many networks that nobody uses.
    get calls() {
      return (calls ??= chargeCalls([typicalSwap()], chainId))
    },
    observe(results, number, isLatest) {
      const [charge] = chargesOf(results) ?? []
      if (charge && (isLatest || !last || number >= last.number)) last = { charge, number, atMs: performance.now() }
      return charge !== undefined
    },
    costRaw: (gas, ms) => (last && performance.now() - last.atMs <= ms ? chargeRaw(last.charge, gas) : undefined),
  }
}

/** What all rollups of the OP stack have in common whose native coin is ether. */
export function opStackRollup(blockSeconds: number) {
  return {
    nativeCurrency: 'ETH',
    blockSeconds,
    // A minute. A sequencer that fails over loses only what has not reached layer 1. Batches go there every few minutes at most, usually within seconds.
    confirmations: 60 / blockSeconds,
    feeCapGwei: 100,
    rollup: 'op-stack',
  } satisfies Partial<EvmNetwork>
}
