// Pools of Algebra: concentrated liquidity as in Uniswap v3, one pool for two tokens, with a fee that changes. Those of Integral have a plugin of
// their own. Where the code that sets the fee before swaps is known, the fee is one for all amounts of a block and direction: it is read once
// for each, and swaps are computed by it. Where the code is not known, each amount is tried on the chain.
import { AbiCoder, getCreate2Address, id, keccak256 } from 'ethers'
import type { Head } from '../../../core/contracts/index.ts'
import { wordAt } from '../../evm/encoding.ts'
import type { FoundLog } from '../../evm/types.ts'
import { cacheByPair } from '../deployment.ts'
import { bothReadings, readBy, type PoolMemory, type PoolProtocol } from '../protocol.ts'
import type { Passage, Pool } from '../../pools/protocol.ts'
import { joinTried, passByTrial, triedAsOf, triedIn, trialReading, trialsAmong, type TriedState } from '../trial.ts'
import { initialQuery, isPriceKnown, lensReading, missingTicks, widerQuery, type Lens, type LensQuery, type ReadPool } from '../v3/lens.ts'
import { boundsIn, changedState, isSameState, joinStates, mintTopic, tickIn, withLiquidity } from '../v3/logs.ts'
import { wholeFeePips } from '../v3/math.ts'
import { isEmpty, loanOf, spotOf } from '../v3/pools.ts'
import { estimateSwap, firstWriteUnitsOf, gasUnitsOf, hopUnits, swap, type V3PoolState } from '../v3/swap.ts'
import { feesOf, isSameFees, joinFees, neededForFee, withFee, type BlockFees, type PricedRange } from './block-fees.ts'
import integralLens from './artifacts/AlgebraLens.json' with { type: 'json' }
import v1Lens from './artifacts/AlgebraV1Lens.json' with { type: 'json' }

/** Where an exchange's pools come from, on one network. */
export interface Deployment {
  readonly factory: string
  /** Deploys the pools: the factory's `poolDeployer()`. */
  readonly poolDeployer: string
  /** keccak256 of the pool's creation code, `POOL_INIT_CODE_HASH()` of a factory of Integral: with the deployer it gives every pool's address. */
  readonly initCodeHash: string
}

/** Algebra Integral, and what there was before it: Algebra 1.0 and 1.1, which have the same pools. */
export type AlgebraKind = 'integral' | '1.0'

interface PoolKind {
  readonly lens: Lens
  /** Whether something decides the fee before a swap. */
  isFeeSet(pluginConfig: number): boolean
  /** Whether what decides it is known not to look at the amount. */
  hasBlockFees(deployment: Deployment, pool: Pick<ReadPool, 'hasPublishedPlugin'>): boolean
  /** The gas that deciding the fee uses, in the first swap of a block. */
  readonly feeUnits: bigint
  /** What a trial may have saved of that: its block may have had a swap, and that of the trade has none before it. */
  readonly savedUnits: bigint
}

/** BEFORE_SWAP_FLAG of the library Plugins, @cryptoalgebra/integral-core@1.2.10: the plugin may set the fee, or refuse. */
const beforeSwapFlag = 1

// POOL_INIT_CODE_HASH of @cryptoalgebra/v1-core@1.0.0. Its pools are those of QuickSwap v3 on polygon.
const v1PoolHash = '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4'

const poolKinds: Readonly<Record<AlgebraKind, PoolKind>> = {
  integral: {
    lens: { bytecode: integralLens.bytecode, hasTickList: true },
    isFeeSet: (pluginConfig) => (pluginConfig & beforeSwapFlag) !== 0,
    hasBlockFees: (_deployment, { hasPublishedPlugin = false }) => hasPublishedPlugin,
    // Of swaps by Algebra's own plugin on the devnet: 157,000 in all through one pool, where one without a plugin uses 105,000.
    feeUnits: 52_000n,
    savedUnits: 0n,
  },
  // AlgebraPool of @cryptoalgebra/v1-core@1.0.0: the first swap of a block sets the fee, by how much the price moved until then. It writes down
  // the price for that, which uses 66,000 as measured on anvil. In all, swaps through one pool of the devnet use 180,000.
  '1.0': {
    lens: { bytecode: v1Lens.bytecode },
    isFeeSet: () => true,
    hasBlockFees: ({ initCodeHash }) => initCodeHash.toLowerCase() === v1PoolHash,
    feeUnits: 75_000n,
    savedUnits: 66_000n,
  },
}

/** A pool at one block. What was tried is of those in which something decides the fee before swaps. */
export interface AlgebraPoolState extends TriedState {
  /** Its fee is that of the last swap, unless it is set before a swap. */
  readonly range: V3PoolState
  /** What the plugin does: a bit for each of the flags of the library Plugins. 0 where there are no plugins. */
  readonly pluginConfig: number
  /** Whether the fee, where it is set before a swap, is one for all amounts of a block and direction. */
  readonly hasBlockFees: boolean
  /** By those fees, at the block of what was tried; undefined where none were read. */
  readonly priced?: BlockFees | undefined
}

/** Where a pool is, or would be. */
interface PoolLocation {
  readonly address: string
  /** In the pool's order. */
  readonly tokens: readonly [token0: string, token1: string]
  readonly query: LensQuery
}

interface AlgebraProtocolOptions {
  /** The label of this protocol version: "integral". */
  readonly version: string
  readonly kind: AlgebraKind
  readonly deployment: Deployment
}

/**
 * The factory's own pools. A swap is computed where nothing decides the fee before it, and where the fee of its block and direction was read;
 * others are tried on the chain, at the block of the quote, and the result holds for that block alone.
 */
export function algebraProtocol({ version, kind, deployment }: AlgebraProtocolOptions): PoolProtocol<AlgebraPoolState> {
  const { isFeeSet, hasBlockFees, feeUnits, savedUnits } = poolKinds[kind]
  const memory = algebraPoolMemory(deployment, poolKinds[kind])
  const isDownward = ({ tokens }: Pool<AlgebraPoolState>, { tokenIn }: Passage) => tokenIn === tokens[0]
  /** What swaps of this direction are computed by; undefined while the fee is not known. */
  const pricedRange = ({ range, pluginConfig, hasBlockFees, priced }: AlgebraPoolState, zeroForOne: boolean): PricedRange | undefined => {
    if (!isFeeSet(pluginConfig)) return range
    return hasBlockFees ? priced?.[zeroForOne ? 'zeroForOne' : 'oneForZero'] : 'tried'
  }
  /** The same with the fee of the last swap, where none is known: to be shown. */
  const shownRange = (pool: Pool<AlgebraPoolState>, passage: Passage): V3PoolState => {
    const priced = pricedRange(pool.state, isDownward(pool, passage))
    return priced === undefined || priced === 'tried' ? pool.state.range : priced
  }
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const zeroForOne = isDownward(pool, passage)
      const priced = pricedRange(pool.state, zeroForOne)
      if (priced !== undefined && priced !== 'tried')
        return computed(pool.address, priced, zeroForOne, exact, amountRaw, isFeeSet(pool.state.pluginConfig) ? feeUnits : 0n)
      const missing = priced === undefined ? neededForFee(pool, pool.state.range, zeroForOne) : undefined
      if (missing) return { missing }
      const passed = passByTrial(pool, { zeroForOne, exact, amountRaw })
      return passed && 'gasUnits' in passed ? { ...passed, gasUnits: passed.gasUnits + savedUnits } : passed
    },
    estimate(pool, passage, exact, amount) {
      const zeroForOne = isDownward(pool, passage)
      const priced = pricedRange(pool.state, zeroForOne)
      if (priced === undefined || priced === 'tried' || priced.fee >= Number(wholeFeePips)) return undefined
      const estimate = estimateSwap(priced, zeroForOne, exact, amount)
      if (!estimate || !isFeeSet(pool.state.pluginConfig)) return estimate
      return { amount: estimate.amount, error: estimate.error, gasUnits: estimate.gasUnits + Number(feeUnits) }
    },
    curve: (pool, passage, exact, amountRaw) =>
      computed(pool.address, shownRange(pool, passage), isDownward(pool, passage), exact, amountRaw),
    spot: (pool, passage) => spotOf(pool.state.range, isDownward(pool, passage)),
    fee: (pool, passage) => String(shownRange(pool, passage).fee / Number(wholeFeePips)),
    asksChain(pool, passage) {
      const isAsked = (zeroForOne: boolean) => typeof pricedRange(pool.state, zeroForOne) !== 'object'
      return passage ? isAsked(isDownward(pool, passage)) : isAsked(true) || isAsked(false)
    },
    rateBound(pool, passage) {
      const zeroForOne = isDownward(pool, passage)
      const priced = pricedRange(pool.state, zeroForOne)
      // A plugin of unknown code may do anything before the swap.
      if (priced === 'tried') return undefined
      // Until the fee of the block is read, it is 0 at least.
      return { rateX128: rateOf(pool.state.range, zeroForOne, priced?.fee ?? 0), offsetRaw: 0n }
    },
    holds: ({ state }) => ({ liquidityRaw: state.range.liquidity }),
    mostIn: (pool, passage) => (isEmpty(pool.state.range, isDownward(pool, passage)) ? 0n : undefined),
    loan: ({ address, tokens, state }, token) => loanOf(address, tokens, state.range, token),
    // Of what is tried, nothing is known.
    ...(hasBlockFees(deployment, {}) && { leastGasUnits: BigInt(hopUnits) }),
  }
}

/** The marginal price with a fee, times 2^128, rounded up: the price only gets worse, and every step rounds against the swap. */
function rateOf(range: V3PoolState, zeroForOne: boolean, fee: number): bigint {
  if (isEmpty(range, zeroForOne)) return 1n
  const { numerator, denominator } = spotOf(range, zeroForOne)
  return ((numerator * (wholeFeePips - BigInt(fee))) << 128n) / (denominator * wholeFeePips) + 1n
}

/** By the pool's liquidity and its fee. */
function computed(address: string, range: V3PoolState, zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint, units = 0n) {
  // The fee would be the whole input.
  if (BigInt(range.fee) >= wholeFeePips) return undefined
  const swapped = swap(range, zeroForOne, exact, amountRaw)
  if (!swapped) return undefined
  if (!('atBestRaw' in swapped))
    return { amountRaw: swapped.amountRaw, gasUnits: gasUnitsOf(swapped) + units, firstWriteUnits: firstWriteUnitsOf(swapped) }
  const missing = missingTicks(address, zeroForOne, range)
  return missing && { missing, ...swapped }
}

// IAlgebraPoolEvents of @cryptoalgebra/integral-core@1.2.10 and of @cryptoalgebra/v1-core@1.0.0. Up to Integral 1.1, and from 1.2.9 on, Swap and Burn
// are those of Uniswap v3; between them, two fees follow in one and one in the other.
const swapTopics = [
  id('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  id('Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)'),
]
const burnTopics = [id('Burn(address,int24,int24,uint128,uint256,uint256)'), id('Burn(address,int24,int24,uint128,uint256,uint256,uint24)')]
const feeTopic = id('Fee(uint16)')
const pluginConfigTopic = id('PluginConfig(uint8)')
const reloadTopics = [id('Initialize(uint160,int24)'), id('Plugin(address)'), id('TickSpacing(int24)')]

function algebraPoolMemory(deployment: Deployment, kind: PoolKind): PoolMemory<AlgebraPoolState, PoolLocation> {
  const { lens, isFeeSet } = kind
  const poolBetween = cacheByPair((tokens): PoolLocation => {
    const address = poolAddress(deployment, tokens)
    return { address, tokens, query: initialQuery(address) }
  })
  function stateOf({ pluginConfig = 0, hasPublishedPlugin, ...range }: ReadPool, found: TriedState): AlgebraPoolState {
    const hasBlockFees = kind.hasBlockFees(deployment, { hasPublishedPlugin })
    return { range, pluginConfig, hasBlockFees, ...found, priced: hasBlockFees ? feesOf(range, found) : undefined }
  }
  return {
    places: (pairs) => pairs.map(([a, b]) => poolBetween(a, b)),
    read(locations, missing) {
      const trials = trialsAmong(missing, new Set(locations.map(({ address }) => address)))
      const queries = locations.map(({ address, query }) => (missing.length > 0 && widerQuery(address, missing)) || query)
      return bothReadings(
        lensReading(queries, lens),
        trialReading(trials, ({ pool }) => ({ target: pool })),
        (states, tried, head) =>
          locations.map(({ address, tokens }, index) => {
            const state = states[index]
            if (!state) return null
            const found = head && isFeeSet(state.pluginConfig ?? 0) ? triedIn(tried, address, head) : {}
            return { address, tokens, state: stateOf(state, found) }
          }),
      )
    },
    follow: [...swapTopics, mintTopic, ...burnTopics, feeTopic, pluginConfigTopic, ...reloadTopics],
    poolsOf: ({ address }) => [address.toLowerCase()],
    apply(pool, log) {
      // A new pool: its ticks are unknown.
      if (pool === null) return 'reload'
      const state = applyLog(pool.state, log)
      if (state === pool.state || state === 'reload') return state === 'reload' ? state : pool
      return isPriceKnown(state.range) ? { address: pool.address, tokens: pool.tokens, state } : 'reload'
    },
    asOf,
    ofBlock(pool, head) {
      const now = asOf(pool, head)
      const { range, pluginConfig, hasBlockFees, priced } = now.state
      if (!hasBlockFees || !isFeeSet(pluginConfig)) return []
      const downward = priced?.zeroForOne === undefined ? neededForFee(now, range, true) : undefined
      const upward = priced?.oneForZero === undefined ? neededForFee(now, range, false) : undefined
      return [downward, upward].filter((needed) => needed !== undefined)
    },
    same: ({ state: inMemory }, { state: loaded }) =>
      inMemory.pluginConfig === loaded.pluginConfig &&
      inMemory.hasBlockFees === loaded.hasBlockFees &&
      isSameState(inMemory.range, loaded.range) &&
      isSameFees(inMemory, loaded),
    join({ state: inMemory }, loaded) {
      const { pluginConfig, hasBlockFees, priced } = loaded.state
      const range = joinStates(inMemory.range, loaded.state.range)
      const found = joinTried(inMemory, loaded.state)
      const before = inMemory.block === loaded.state.block ? inMemory.priced : undefined
      const fees = hasBlockFees ? joinFees(range, found, priced, before) : undefined
      return { ...loaded, state: { range, pluginConfig, hasBlockFees, ...found, priced: fees } }
    },
  }

  function asOf(pool: Pool<AlgebraPoolState>, head: Head): Pool<AlgebraPoolState> {
    return isFeeSet(pool.state.pluginConfig) ? triedAsOf(pool, head, { priced: undefined }) : pool
  }
}

/** A pool after one of its logs; the same object where nothing changes. */
function applyLog(state: AlgebraPoolState, { topics, data }: FoundLog): AlgebraPoolState | 'reload' {
  const { range, pluginConfig, hasBlockFees } = state
  const [topic = ''] = topics
  const changed = (next: V3PoolState | 'reload') =>
    next === 'reload' ? next : next === range ? state : { range: next, pluginConfig, hasBlockFees }
  if (swapTopics.includes(topic)) return changed(changedState(range, wordAt(data, 2), tickIn(data, 4), wordAt(data, 3), range.ticks))
  if (topic === mintTopic) return changed(withLiquidity(range, ...boundsIn(topics), wordAt(data, 1)))
  if (burnTopics.includes(topic)) return changed(withLiquidity(range, ...boundsIn(topics), -wordAt(data, 0)))
  if (topic === feeTopic) return changed(withFee(range, Number(wordAt(data, 0))))
  if (topic === pluginConfigTopic) return { range, pluginConfig: Number(wordAt(data, 0)), hasBlockFees }
  return 'reload'
}

/**
 * The address of the factory's pool of two tokens, deployed or not: PoolAddress of @cryptoalgebra/integral-periphery@1.2.4 and of
 * @cryptoalgebra/periphery@1.0.0.
 * @param tokens in the pool's order
 */
export const poolAddress = ({ poolDeployer, initCodeHash }: Deployment, tokens: readonly [string, string]): string =>
  getCreate2Address(poolDeployer, keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'address'], [...tokens])), initCodeHash)
