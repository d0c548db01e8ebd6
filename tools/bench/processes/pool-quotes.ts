// Quotes of one pool in memory, by the arithmetic of its kind alone.
import type { FoundLog } from '../../../kits/evm/index.ts'
import type { Passage, Pool, PoolProtocol } from '../../../kits/amm/index.ts'
import { getSqrtRatioAtTick } from '../../../kits/amm/v3/math.ts'
import { changeTopics } from '../../../kits/amm/v3/logs.ts'
import { TickTable, type V3PoolState, pathOf } from '../../../kits/amm/v3/swap.ts'
import { v3Protocol } from '../../../kits/amm/v3/pools.ts'
import { v4Protocol } from '../../../kits/amm/v4/pools.ts'
import { algebraProtocol } from '../../../kits/amm/algebra/pools.ts'
import { v2Protocol } from '../../../kits/amm/v2/pools.ts'
import { serve } from '../child.ts'

export interface PoolQuotesRequest {
  exact: 'in' | 'out'
  zeroForOne: boolean
  /** Of the pool of concentrated liquidity. */
  ticksCrossed: number
  quotes: number
}

const tokens = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002'] as const
const origin = { factory: '0x0000000000000000000000000000000000000003', initCodeHash: `0x${'00'.repeat(32)}` }
const address = '0x0000000000000000000000000000000000000004'
const pairs = v2Protocol('v2', [3n, 1000n], origin)
const ranges = v3Protocol({ version: 'v3', fees: [3000], ...origin })
const keyed = v4Protocol({ version: 'v4', manager: address, poolsBetween: () => [] })

const listed = algebraProtocol({ version: 'integral', kind: 'integral', deployment: { ...origin, poolDeployer: origin.factory } })

// As between tokens of 6 and 18 decimals; every tick spacing has a tick at which liquidity comes or goes.
const [middle, spacing, ticksAround] = [199_800, 60, 50]
const held = 10n ** 22n
const ticks = Array.from({ length: 2 * ticksAround }, (_, place) => middle + (place - ticksAround + 1) * spacing)
const known = new TickTable(middle - (ticksAround + 1) * spacing, middle + (ticksAround + 1) * spacing, ticks, {
  gross: () => held / 10n,
  net: (index) => (index % 2 === 0 ? held / 10n : -held / 10n),
})
const tick = middle + spacing / 2
const sqrtPriceX96 = getSqrtRatioAtTick(tick) + 12_345n
const rangePool = { address, tokens, state: { sqrtPriceX96, tick, liquidity: held, fee: 3000, tickSpacing: spacing, ticks: known } }
/** The same ticks in a pool of v4. */
const keyedPool = {
  address: `0x${'05'.repeat(32)}`,
  tokens,
  state: { zeroForOne: rangePool.state, oneForZero: rangePool.state, lpFee: 3000, protocolFee: 0, coinForm: undefined },
}
/** The same ticks in a pool of Algebra Integral whose plugin does nothing before swaps. */
const listedPool = { address, tokens, state: { range: { ...rangePool.state, hasTickList: true }, pluginConfig: 0, hasBlockFees: false } }
// What has such liquidity at the same price.
const pair = { address, tokens, state: { reserve0Raw: (held << 96n) / sqrtPriceX96, reserve1Raw: (held * sqrtPriceX96) >> 96n } }

/** The same price, as a swap of nothing would log it: whatever was found of the state before serves no more. */
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const swapLog: FoundLog = {
  address,
  topics: changeTopics.slice(0, 1),
  data: `0x${[0n, 0n, sqrtPriceX96, held, BigInt(tick)].map(word).join('')}`,
  transactionHash: '',
  blockNumber: 1,
}
const head = { number: 1n, timestamp: 0 }

export type PoolQuotesProcess = typeof handlers
const handlers = serve({
  pair: (asking: PoolQuotesRequest) => timed(pairs, asking, () => pair),
  /** By one state, as all quotes between two swaps are. */
  range: (asking: PoolQuotesRequest) => timed(ranges, asking, () => rangePool),
  /** The same by processor time. */
  rangeProcessor: (asking: PoolQuotesRequest) => timed(ranges, asking, () => rangePool, processorMs),
  /** The same of v4. */
  keyed: (asking: PoolQuotesRequest) => timed(keyed, asking, () => keyedPool),
  /** The same of Algebra. */
  listed: (asking: PoolQuotesRequest) => timed(listed, asking, () => listedPool),
  /** Each by a state of its own. */
  rangeAnew: (asking: PoolQuotesRequest) => timed(ranges, asking, afterSwap),
})

function afterSwap(): Pool<V3PoolState> {
  const after = ranges.memory?.apply(rangePool, swapLog, head)
  if (!after || after === 'reload') throw new Error('The swap was not applied.')
  return after
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Nanoseconds of one. */
function timed<S>(protocol: PoolProtocol<S>, asking: PoolQuotesRequest, poolNow: () => Pool<S>, now = () => performance.now()): number {
  const { exact, zeroForOne, quotes } = asking
  const [tokenIn, tokenOut] = zeroForOne ? tokens : [tokens[1], tokens[0]]
  const passage: Passage = { tokenIn, tokenOut }
  const amountRaw = amountOf(asking)
  const pools = Array.from({ length: quotes }, poolNow)
  const startedAt = now()
  for (const [index, pool] of pools.entries()) {
    // Differs each time, as amounts of bots do.
    const passed = protocol.pass(pool, passage, exact, amountRaw + BigInt(index))
    if (!passed || 'missing' in passed) throw new Error('There was no quote.')
  }
  return ((now() - startedAt) * 1e6) / quotes
}

/** Ends half way between two ticks. */
function amountOf({ exact, zeroForOne, ticksCrossed }: PoolQuotesRequest): bigint {
  const path = pathOf(rangePool.state, zeroForOne)
  for (let index = 0; ; index += 1) {
    const step = path.step(index)
    if (!step) throw new Error(`The pool has no ${ticksCrossed} ticks.`)
    const { segment: stretch, paidRaw, outRaw } = step
    if (step.ticksCrossed === ticksCrossed) return exact === 'in' ? paidRaw + stretch.paidRaw / 2n : outRaw + stretch.outRaw / 2n
  }
}
