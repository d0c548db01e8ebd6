// What EVM transactions pay: fees by the policy and the caller, replacements that nodes take, and the base fee and tip that they follow from.
import { abortable } from '../../core/base/async.ts'
import { badFields, SluiceError, type FeeOverrides, type GasTerms, type At, type Head, type Log } from '../../core/contracts/index.ts'
import { formatRaw } from '../../core/base/decimal.ts'
import { isObject } from '../../core/base/json.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { type Rpc, invalidAnswer, isUnsupported, resultOf } from '../nodes/rpc.ts'
import { quantityOf } from './encoding.ts'
import { chargeRaw, maxChargeRaw, type Charge } from './op-stack.ts'
import { blockCall, readBlock, type Block } from './rpc.ts'
import type { EvmIntent } from './types.ts'
import { dropOldest } from '../../core/base/oldest.ts'

/** The fees of a transaction: wei as decimal strings, for the journal. */
export type EvmFees = {
  readonly gasLimit: string
  readonly maxFeePerGas: string
  readonly maxPriorityFeePerGas: string
  /** A transaction of type 0: both fees are its gas price. */
  readonly legacy?: true
  /** The maximum that a rollup charges on top of gas. */
  readonly rollupFee?: string
}

export interface FeePolicy {
  /** maxFeePerGas = this × base fee + tip. Twice the base fee lasts for six full blocks in a row (each raises it by at most 1/8, EIP-1559). */
  baseFeeMultiplier: number
  /** The tip if the node suggests none or less, wei per gas. */
  minTipRaw: bigint
  /** Nodes or validators refuse a lower tip, wei per gas. */
  networkMinTipRaw: bigint
  /** Blocks have no base fee: the tip is the whole price, and transactions are of type 0. */
  legacy: boolean
  /** By how many percent, at least, both fees of a stuck transaction are raised. */
  bumpPercent: number
  /**
   * By how many percent both fees of a replacement must be raised for nodes to take it (geth `core/txpool/legacypool`: PriceBump 10; the
   * same in erigon, nethermind, besu and anvil).
   */
  minBumpPercent: number
}

export const defaultFeePolicy: FeePolicy = {
  baseFeeMultiplier: 2,
  minTipRaw: 0n,
  networkMinTipRaw: 0n,
  legacy: false,
  bumpPercent: 12.5,
  minBumpPercent: 10,
}

export interface FeeConditions {
  baseFeeRaw: bigint
  /** What the node suggests. Undefined if it does not know. */
  tipRaw: bigint | undefined
  policy: FeePolicy
  feeCapRaw: bigint
}

/** Wei per gas. */
export interface FeePerGas {
  maxFeeRaw: bigint
  tipRaw: bigint
  /** Base fee plus the tip, as far as maxFee leaves room for it. */
  gasPriceRaw: bigint
}

/** Refuses fees that are wrong in any state of the network, without asking it. Many clients send wei instead of gwei. */
export function checkFeeOverrides({ maxFeePerGasRaw: maxFee, maxPriorityFeePerGasRaw: tip }: FeeOverrides, feeCapRaw: bigint): void {
  const above = (raw: bigint) =>
    `is ${gwei(raw)} gwei per gas, above the network's feeCap of ${gwei(feeCapRaw)} gwei; the unit is gwei, not wei`
  if (maxFee !== undefined && maxFee > feeCapRaw) throw badFields([{ field: 'maxFeePerGas', problem: above(maxFee) }])
  if (tip !== undefined && tip > feeCapRaw) throw badFields([{ field: 'maxPriorityFeePerGas', problem: above(tip) }])
  if (maxFee !== undefined && tip !== undefined && tip > maxFee) {
    throw badFields([
      { field: 'maxPriorityFeePerGas', problem: `is ${gwei(tip)} gwei, more than maxFeePerGas (${gwei(maxFee)} gwei), which includes it` },
    ])
  }
}

/**
 * Fees of a transaction at a base fee: the caller's, and by the policy what the caller left out. Policy fees are cut to the cap, and are at
 * least what nodes take as a replacement of `over`. The overrides must have passed `checkFeeOverrides`.
 * @throws SluiceError TRANSACTION_GAS_PRICE_TOO_LOW
 */
export function computeFeePerGas(
  overrides: FeeOverrides,
  over: EvmFees | undefined,
  { baseFeeRaw, tipRaw, policy, feeCapRaw }: FeeConditions,
): FeePerGas {
  const { maxFeePerGasRaw: givenMaxRaw, maxPriorityFeePerGasRaw: givenTipRaw } = policy.legacy ? asGasPrice(overrides) : overrides
  if (givenMaxRaw !== undefined && givenMaxRaw < baseFeeRaw) {
    throw new SluiceError(
      'TRANSACTION_GAS_PRICE_TOO_LOW',
      `maxFeePerGas is ${gwei(givenMaxRaw)} gwei and the network's base fee is ${gwei(baseFeeRaw)} gwei now: offer more, or leave the fees to the server.`,
    )
  }
  if (givenMaxRaw === undefined && baseFeeRaw > feeCapRaw) {
    throw new SluiceError(
      'TRANSACTION_GAS_PRICE_TOO_LOW',
      `The network's base fee is ${gwei(baseFeeRaw)} gwei now, above the feeCap of ${gwei(feeCapRaw)} gwei in its settings: wait, or raise feeCap.`,
    )
  }
  const replacement = over && minReplacement(over, policy.minBumpPercent)
  const suggested = max(tipRaw ?? 0n, policy.minTipRaw, replacement?.tipRaw ?? 0n)
  const tip = givenTipRaw ?? min(suggested, givenMaxRaw ?? feeCapRaw)
  if (tip < policy.networkMinTipRaw) {
    const isGiven = givenMaxRaw !== undefined || givenTipRaw !== undefined
    const remedy = isGiven
      ? 'offer more, or leave the fees to the server'
      : `raise feeCap in its settings, which is ${gwei(feeCapRaw)} gwei`
    throw new SluiceError(
      'TRANSACTION_GAS_PRICE_TOO_LOW',
      `The tip would be ${gwei(tip)} gwei per gas and the network takes none below ${gwei(policy.networkMinTipRaw)} gwei: ${remedy}.`,
    )
  }
  const byPolicy = max(policyMaxFee(baseFeeRaw, tip, policy), replacement?.maxFeeRaw ?? 0n)
  const maxFeeRaw = givenMaxRaw ?? min(byPolicy, feeCapRaw)
  return { maxFeeRaw, tipRaw: tip, gasPriceRaw: baseFeeRaw + min(tip, maxFeeRaw - baseFeeRaw) }
}

export const policyMaxFee = (baseFeeRaw: bigint, tipRaw: bigint, { baseFeeMultiplier }: FeePolicy) =>
  (baseFeeRaw * BigInt(Math.round(baseFeeMultiplier * 1000))) / 1000n + tipRaw

/** A transaction of type 0 has one price, which corresponds to the maxFee of type 2. */
function asGasPrice({ maxFeePerGasRaw, maxPriorityFeePerGasRaw }: FeeOverrides): FeeOverrides {
  const priceRaw = maxFeePerGasRaw ?? maxPriorityFeePerGasRaw
  return priceRaw === undefined ? {} : { maxFeePerGasRaw: priceRaw, maxPriorityFeePerGasRaw: priceRaw }
}

/** The lowest fees that nodes take as a replacement, rounded up. A fee of 0 becomes 1. */
export function minReplacement(
  { maxFeePerGas, maxPriorityFeePerGas }: EvmFees,
  percent = defaultFeePolicy.minBumpPercent,
): { maxFeeRaw: bigint; tipRaw: bigint } {
  return { maxFeeRaw: raised(BigInt(maxFeePerGas), percent), tipRaw: raised(BigInt(maxPriorityFeePerGas), percent) }
}

function raised(feeRaw: bigint, percent: number): bigint {
  if (feeRaw === 0n) return 1n
  return (feeRaw * (100_000n + BigInt(Math.ceil(percent * 1000))) + 99_999n) / 100_000n
}

export function outbids(fees: EvmFees, over: EvmFees, percent = defaultFeePolicy.minBumpPercent): boolean {
  const { maxFeeRaw, tipRaw } = minReplacement(over, percent)
  return BigInt(fees.maxFeePerGas) >= maxFeeRaw && BigInt(fees.maxPriorityFeePerGas) >= tipRaw
}

export function describeMinReplacement(over: EvmFees, percent = defaultFeePolicy.minBumpPercent): string {
  const { maxFeeRaw, tipRaw } = minReplacement(over, percent)
  return `maxFeePerGas ${gwei(maxFeeRaw)} and maxPriorityFeePerGas ${gwei(tipRaw)} (gwei)`
}

/** Fees for the journal and terms for the answer: for an amount of gas at a price, and what a rollup charges on top. */
export function feesOf(
  gasLimit: bigint,
  { maxFeeRaw, tipRaw, gasPriceRaw }: FeePerGas,
  { legacy }: Pick<FeePolicy, 'legacy'> = defaultFeePolicy,
  charge?: Charge,
): { fees: EvmFees; gas: GasTerms } {
  return {
    fees: {
      gasLimit: String(gasLimit),
      maxFeePerGas: String(maxFeeRaw),
      maxPriorityFeePerGas: String(tipRaw),
      ...(legacy && { legacy }),
      ...(charge && { rollupFee: String(maxChargeRaw(charge, gasLimit)) }),
    },
    gas: { gasLimit, gasPriceRaw, gasCostRaw: gasLimit * gasPriceRaw + (charge ? chargeRaw(charge, gasLimit) : 0n) },
  }
}

/** The maximum that a transaction can cost, in wei: its value, all of its gas, and what a rollup charges on top. */
export function costOf({ value }: EvmIntent, fees: EvmFees): bigint {
  return BigInt(value) + maxFeeOf(fees)
}

export const maxFeeOf = ({ gasLimit, maxFeePerGas, rollupFee = '0' }: EvmFees): bigint =>
  BigInt(gasLimit) * BigInt(maxFeePerGas) + BigInt(rollupFee)

function gwei(raw: bigint): string {
  return formatRaw(raw, 9)
}

function max(...values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a > b ? a : b))
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/**
 * The price of an attempt that replaces `over`: both fees are raised by the policy's percentage, and are at least what the policy pays now.
 * They are cut to the cap. Undefined if nodes would not take what is left as a replacement.
 */
export function bumpedFeePerGas(over: EvmFees, { baseFeeRaw, tipRaw, policy, feeCapRaw }: FeeConditions): FeePerGas | undefined {
  if (minReplacement(over, policy.minBumpPercent).maxFeeRaw > feeCapRaw) return undefined
  const bumped = minReplacement(over, Math.max(policy.bumpPercent, policy.minBumpPercent))
  const tip = max(bumped.tipRaw, tipRaw ?? 0n, policy.minTipRaw)
  const maxFeeRaw = min(max(bumped.maxFeeRaw, policyMaxFee(baseFeeRaw, tip, policy)), feeCapRaw)
  return priceAt(baseFeeRaw, maxFeeRaw, min(tip, maxFeeRaw))
}

export function bumpFees(over: EvmFees, conditions: FeeConditions): EvmFees | undefined {
  const price = bumpedFeePerGas(over, conditions)
  return price && { ...over, maxFeePerGas: String(price.maxFeeRaw), maxPriorityFeePerGas: String(price.tipRaw) }
}

/** Fees of an attempt that replaces `over`, with the caller's overrides. @throws SluiceError if these are not possible */
export function overrideFees(over: EvmFees, overrides: FeeOverrides, conditions: FeeConditions): EvmFees {
  checkFeeOverrides(overrides, conditions.feeCapRaw)
  const { maxFeeRaw, tipRaw } = computeFeePerGas(overrides, over, conditions)
  return { ...over, maxFeePerGas: String(maxFeeRaw), maxPriorityFeePerGas: String(tipRaw) }
}

/** A transaction that pays less than the base fee waits until the base fee has fallen to what it pays. */
function priceAt(baseFeeRaw: bigint, maxFeeRaw: bigint, tipRaw: bigint): FeePerGas {
  return { maxFeeRaw, tipRaw, gasPriceRaw: min(maxFeeRaw, baseFeeRaw + tipRaw) }
}

/** For how many blocks base fees are kept. */
const maxBaseFees = 64
/** Where the node suggests no tip: the one that half of a block's transactions paid less than. */
const defaultPercentile = 50
const historyBlocks = '0x5'
/** After so long a node that did not know a method may be another one, or a newer. */
const askAgainMs = 600_000
/** Where blocks are empty and nothing else tells a tip: at most as much as the base fee, and 1 gwei. */
const quietTipRaw = 1_000_000_000n
/** A tip is stale after so many times `tipMs`. Followed heads refresh it sooner; this is for quotes while nobody follows. */
const staleFactor = 3

export interface FeeOracle {
  /** Wei per gas, of a block that was read or of the one after it. */
  baseFeeRaw(number: bigint): bigint | undefined
  /**
   * The tip of a transaction, wei per gas: the known one; if it is stale, what a node has just suggested (`tipMethod`), or what recent
   * blocks were paid if that is the policy or nodes suggest nothing.
   */
  tipFor(suggested: bigint | undefined, at: At): Promise<bigint | undefined>
  /** The tip as far as it is known, wei per gas. */
  tipRaw(): bigint | undefined
  /** Base fee plus tip at a block, wei per gas, without asking anybody. The newest known base fee stands in if the block's is not known. */
  priceRaw(head: Head | undefined): bigint
  /** Waits for a tip if there was never one, and refreshes a stale one in the background. Undefined if there is nothing to wait for. */
  warm(at: At): Promise<unknown> | undefined
  /** Reads the latest block, and the tip if it is old, in one round trip that all callers share. */
  refresh(): Promise<Block>
}

interface FeeOracleOptions {
  rpc: Rpc
  /** Takes the tip from what was paid, at this percentile, rather than from the node's suggestion. */
  tipPercentile?: number | undefined
  /** The tip if the node suggests less. */
  minTipRaw: bigint
  /** There is no base fee: the tip is the whole price. */
  legacy?: boolean | undefined
  /** An older tip is read again with the next block. */
  tipMs: number
  log: Log
  /** Receives every block that was read, also as the node gave it. */
  onBlock?: (block: Block, raw: unknown) => void
  /** Steady. */
  nowMs?: () => number
}

export function createFeeOracle({
  rpc,
  tipPercentile,
  minTipRaw,
  legacy = false,
  tipMs,
  log,
  onBlock,
  nowMs = () => performance.now(),
}: FeeOracleOptions): FeeOracle {
  const baseFees = new Map<bigint, bigint>()
  let latest: Block | undefined
  let tipRaw: bigint | undefined
  let tipAt = 0
  let refreshing: Promise<Block> | undefined
  /** By `nowMs`: until then the nodes count as not knowing `tipMethod`. Not every node does. */
  let unknownUntilMs = -Infinity
  const byHistory = () => tipPercentile !== undefined || nowMs() < unknownUntilMs

  function remember(block: Block): void {
    latest = block
    if (block.baseFeeRaw !== undefined) baseFees.set(block.number, block.baseFeeRaw)
    dropOldest(baseFees, maxBaseFees)
  }

  function baseFeeRaw(number: bigint): bigint | undefined {
    return baseFees.get(number) ?? (latest !== undefined && number === latest.number + 1n ? maxNextBaseFee(latest) : undefined)
  }

  async function read(): Promise<Block> {
    // Callers share this, so the node's own timeout bounds it and not one caller's signal.
    const at = { signal: new AbortController().signal }
    const readsTip = tipRaw === undefined || nowMs() - tipAt >= tipMs
    const ofHistory = byHistory()
    const [block, tip] = await rpc.batch([blockCall('latest'), ...(readsTip ? [tipCall(ofHistory)] : [])], at)
    const head = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', block))
    remember(head)
    onBlock?.(head, block?.result)
    if (!readsTip) return head
    if (!ofHistory && isUnsupported(tip)) {
      if (unknownUntilMs === -Infinity)
        log.warn({ method: tipMethod(legacy) }, 'RPC node suggests no tip: the tip is taken from what recent blocks were paid')
      unknownUntilMs = nowMs() + askAgainMs
      return read()
    }
    const readRaw = ofHistory ? medianReward(tip?.result) : quantityOf(tip?.result)
    if (readRaw !== undefined) {
      if (!ofHistory && unknownUntilMs !== -Infinity) {
        log.info({ method: tipMethod(legacy) }, 'RPC node suggests a tip again')
        unknownUntilMs = -Infinity
      }
      tipRaw = max(readRaw, minTipRaw)
      tipAt = nowMs()
    } else if (tipRaw === undefined) tipRaw = firstTip(head, tip, ofHistory)
    return head
  }

  /** Where nobody has told a tip yet. A failed answer and empty blocks tell none: what was known before stays, and is asked for again with the next block. */
  function firstTip({ baseFeeRaw: base = 0n }: Block, tip: RpcAnswer | undefined, ofHistory: boolean): bigint {
    const method = ofHistory ? 'eth_feeHistory' : tipMethod(legacy)
    if (isUnsupported(tip)) throw invalidAnswer(rpc, `gives no tip by ${tipMethod(legacy)} or eth_feeHistory`)
    const answer = resultOf(rpc, method, tip)
    if (!ofHistory || !isHistory(answer)) throw invalidAnswer(rpc, `answered ${method} with something that is no tip`)
    return max(minTipRaw, min(base, quietTipRaw))
  }

  const tipCall = (ofHistory: boolean) =>
    ofHistory
      ? { method: 'eth_feeHistory', params: [historyBlocks, 'latest', [tipPercentile ?? defaultPercentile]] }
      : { method: tipMethod(legacy), params: [] }

  const refresh = (): Promise<Block> =>
    (refreshing ??= read().finally(() => {
      refreshing = undefined
    }))

  const isStale = () => nowMs() - tipAt > tipMs * staleFactor

  return {
    async tipFor(suggested, at) {
      if (tipRaw !== undefined && !isStale()) return tipRaw
      if (suggested !== undefined && !byHistory()) return suggested
      await abortable(refresh(), at.signal)
      return tipRaw
    },
    baseFeeRaw,
    tipRaw: () => tipRaw,
    priceRaw(head) {
      const base = legacy ? 0n : (head?.baseFeeRaw ?? (head && baseFeeRaw(head.number)) ?? (latest && maxNextBaseFee(latest)) ?? 0n)
      return base + (tipRaw ?? 0n)
    },
    warm(at) {
      if (tipRaw === undefined) return abortable(refresh(), at.signal)
      if (isStale()) {
        refresh().catch((error: unknown) => log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'fees not refreshed'))
      }
      return undefined
    },
    refresh,
  }
}

/**
 * The base fee of the next block, but never less than this one's. On Arbitrum blocks have room for 2^50 gas, far more than the target, and
 * Ethereum's rule would always predict an eighth less.
 */
function maxNextBaseFee({ baseFeeRaw, nextBaseFeeRaw }: Block): bigint | undefined {
  return baseFeeRaw === undefined || nextBaseFeeRaw === undefined ? undefined : max(baseFeeRaw, nextBaseFeeRaw)
}

/** The method by which a node suggests the tip. Without a base fee the tip is the whole price. */
export const tipMethod = (legacy: boolean) => (legacy ? 'eth_gasPrice' : 'eth_maxPriorityFeePerGas')

const isHistory = (history: unknown): history is { reward: readonly unknown[]; gasUsedRatio?: unknown } =>
  isObject(history) && Array.isArray(history['reward'])

/**
 * The median of the blocks' rewards at one of the requested percentiles. Empty blocks have rewards of 0, which say nothing. Undefined where all blocks are
 * empty, or where it is no history.
 */
export function medianReward(history: unknown, index = 0): bigint | undefined {
  if (!isHistory(history)) return undefined
  const used = history.gasUsedRatio
  const isEmpty = (block: number) => Array.isArray(used) && used[block] === 0
  const tips = history.reward
    .flatMap((entry, block) => (Array.isArray(entry) && !isEmpty(block) ? (quantityOf(entry[index]) ?? []) : []))
    .toSorted((a, b) => (a < b ? -1 : 1))
  return tips[Math.floor(tips.length / 2)]
}
