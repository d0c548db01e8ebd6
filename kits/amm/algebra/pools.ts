// Pools of Algebra: concentrated liquidity as in Uniswap v3, one pool for two tokens, with a fee that changes. Those of Integral have a plugin of
// their own.
import { AbiCoder, getCreate2Address, id, keccak256 } from 'ethers'
import { wordAt } from '../../evm/encoding.ts'
import type { FoundLog } from '../../evm/types.ts'
import { cacheByPair } from '../deployment.ts'
import { bothReadings, readBy, type Passage, type Pool, type PoolMemory, type PoolProtocol } from '../protocol.ts'
import { joinTried, passByTrial, triedAsOf, triedIn, trialReading, trialsAmong, type TriedState } from '../trial.ts'
import { initialQuery, isPriceKnown, lensReading, missingTicks, widerQuery, type Lens, type LensQuery } from '../v3/lens.ts'
import { changedState, isSameState, joinStates, withLiquidity } from '../v3/logs.ts'
import { toInt24, wholeFeePips } from '../v3/math.ts'
import { isEmpty, loanOf, spotOf } from '../v3/pools.ts'
import { firstWriteUnitsOf, gasUnitsOf, swap, TickTable, type V3PoolState } from '../v3/swap.ts'
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
  /** Whether a swap is tried on the chain, because something decides the fee before it. */
  isTried(pluginConfig: number): boolean
  /** What the first swap of a block uses beyond others. The block of a trial may have had one, and that of the trade has none before it. */
  readonly firstSwapUnits: bigint
}

/** BEFORE_SWAP_FLAG of the library Plugins, @cryptoalgebra/integral-core@1.2.10: the plugin may set the fee, or refuse. */
const beforeSwapFlag = 1

const poolKinds: Readonly<Record<AlgebraKind, PoolKind>> = {
  integral: {
    lens: { bytecode: integralLens.bytecode, hasTickList: true },
    isTried: (pluginConfig) => (pluginConfig & beforeSwapFlag) !== 0,
    firstSwapUnits: 0n,
  },
  // AlgebraPool of @cryptoalgebra/v1-core@1.0.0: the first swap of a block sets the fee, by how much the price moved until then. It is behind the
  // hash of QuickSwap v3 on polygon.
  // It writes down the price for that, which uses 66,000 as measured on anvil.
  '1.0': { lens: { bytecode: v1Lens.bytecode }, isTried: () => true, firstSwapUnits: 66_000n },
}

/** A pool at one block. What was tried is of those whose swaps are tried. */
export interface AlgebraPoolState extends TriedState {
  /** Its fee is that of the last swap, unless it is set before a swap. */
  readonly range: V3PoolState
  /** What the plugin does: a bit for each of the flags of the library Plugins. 0 where there are no plugins. */
  readonly pluginConfig: number
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
 * The factory's own pools. A swap is computed where nothing decides the fee before it; others are tried on the chain, at the block of the
 * quote, and the result holds for that block alone.
 */
export function algebraProtocol({ version, kind, deployment }: AlgebraProtocolOptions): PoolProtocol<AlgebraPoolState> {
  const { isTried, firstSwapUnits } = poolKinds[kind]
  const memory = algebraPoolMemory(deployment, poolKinds[kind])
  const isDownward = ({ tokens }: Pool<AlgebraPoolState>, { tokenIn }: Passage) => tokenIn === tokens[0]
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const zeroForOne = isDownward(pool, passage)
      if (!isTried(pool.state.pluginConfig)) return computed(pool, zeroForOne, exact, amountRaw)
      const passed = passByTrial(pool, { zeroForOne, exact, amountRaw })
      return passed && 'gasUnits' in passed ? { ...passed, gasUnits: passed.gasUnits + firstSwapUnits } : passed
    },
    curve: (pool, passage, exact, amountRaw) => computed(pool, isDownward(pool, passage), exact, amountRaw),
    spot: (pool, passage) => spotOf(pool.state.range, isDownward(pool, passage)),
    fee: ({ state }) => String(state.range.fee / Number(wholeFeePips)),
    asksChain: ({ state }) => isTried(state.pluginConfig),
    holds: ({ state }) => ({ liquidityRaw: state.range.liquidity }),
    mostIn: (pool, passage) => (isEmpty(pool.state.range, isDownward(pool, passage)) ? 0n : undefined),
    loan: ({ address, tokens, state }, token) => loanOf(address, tokens, state.range, token),
  }
}

/** By the pool's liquidity and its last fee. */
function computed({ address, state: { range } }: Pool<AlgebraPoolState>, zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint) {
  // The fee would be the whole input.
  if (BigInt(range.fee) >= wholeFeePips) return undefined
  const swapped = swap(range, zeroForOne, exact, amountRaw)
  if (!swapped) return undefined
  if (!('atBestRaw' in swapped))
    return { amountRaw: swapped.amountRaw, gasUnits: gasUnitsOf(swapped), firstWriteUnits: firstWriteUnitsOf(swapped) }
  const missing = missingTicks(address, zeroForOne, range)
  return missing && { missing, ...swapped }
}

// IAlgebraPoolEvents of @cryptoalgebra/integral-core@1.2.10 and of @cryptoalgebra/v1-core@1.0.0. Up to Integral 1.1, and from 1.2.9 on, Swap and Burn
// are those of Uniswap v3; between them, two fees follow in one and one in the other.
const swapTopics = [
  id('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  id('Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)'),
]
const mintTopic = id('Mint(address,address,int24,int24,uint128,uint256,uint256)')
const burnTopics = [id('Burn(address,int24,int24,uint128,uint256,uint256)'), id('Burn(address,int24,int24,uint128,uint256,uint256,uint24)')]
const feeTopic = id('Fee(uint16)')
const pluginConfigTopic = id('PluginConfig(uint8)')
const reloadTopics = [id('Initialize(uint160,int24)'), id('Plugin(address)'), id('TickSpacing(int24)')]

function algebraPoolMemory(deployment: Deployment, { lens, isTried }: PoolKind): PoolMemory<AlgebraPoolState, PoolLocation> {
  const poolBetween = cacheByPair((tokens): PoolLocation => {
    const address = poolAddress(deployment, tokens)
    return { address, tokens, query: initialQuery(address) }
  })
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
            const { pluginConfig = 0, ...range } = state
            const found = head && isTried(pluginConfig) ? triedIn(tried, address, head) : {}
            return { address, tokens, state: { range, pluginConfig, ...found } }
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
    asOf: (pool, head) => (isTried(pool.state.pluginConfig) ? triedAsOf(pool, head) : pool),
    same: ({ state: inMemory }, { state: loaded }) =>
      inMemory.pluginConfig === loaded.pluginConfig && isSameState(inMemory.range, loaded.range),
    join: ({ state: inMemory }, loaded) => ({
      ...loaded,
      state: {
        range: joinStates(inMemory.range, loaded.state.range),
        pluginConfig: loaded.state.pluginConfig,
        ...joinTried(inMemory, loaded.state),
      },
    }),
  }
}

/** A pool after one of its logs; the same object where nothing changes. */
function applyLog(state: AlgebraPoolState, { topics, data }: FoundLog): AlgebraPoolState | 'reload' {
  const { range, pluginConfig } = state
  const [topic = ''] = topics
  const changed = (next: V3PoolState | 'reload') => (next === 'reload' ? next : next === range ? state : { range: next, pluginConfig })
  if (swapTopics.includes(topic)) return changed(changedState(range, wordAt(data, 2), tickIn(data, 4), wordAt(data, 3), range.ticks))
  if (topic === mintTopic) return changed(withLiquidity(range, ...boundsIn(topics), wordAt(data, 1)))
  if (burnTopics.includes(topic)) return changed(withLiquidity(range, ...boundsIn(topics), -wordAt(data, 0)))
  if (topic === feeTopic) return changed(withFee(range, Number(wordAt(data, 0))))
  if (topic === pluginConfigTopic) return { range, pluginConfig: Number(wordAt(data, 0)) }
  return 'reload'
}

/** What earlier swaps found holds for their fee. */
function withFee(range: V3PoolState, fee: number): V3PoolState {
  if (fee === range.fee) return range
  const { from, to, ticks, liquidity } = range.ticks
  return { ...range, fee, ticks: new TickTable(from, to, ticks, liquidity) }
}

/** The last six digits of a word. */
const tickIn = (data: string, word: number): number => toInt24(data.slice(2 + 64 * (word + 1) - 6, 2 + 64 * (word + 1)))
const boundsIn = (topics: readonly string[]): readonly [lower: number, upper: number] => [
  toInt24(topics[2]?.slice(-6) ?? ''),
  toInt24(topics[3]?.slice(-6) ?? ''),
]

/**
 * The address of the factory's pool of two tokens, deployed or not: PoolAddress of @cryptoalgebra/integral-periphery@1.2.4 and of
 * @cryptoalgebra/periphery@1.0.0.
 * @param tokens in the pool's order
 */
export const poolAddress = ({ poolDeployer, initCodeHash }: Deployment, tokens: readonly [string, string]): string =>
  getCreate2Address(poolDeployer, keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'address'], [...tokens])), initCodeHash)
