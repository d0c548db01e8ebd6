// Constant-product pools. Their arithmetic is UniswapV2Library of @uniswap/v2-periphery@1.1.0-beta.0, equal to it to the unit. The fee is a
// parameter, because forks differ in it.
import { getCreate2Address, id, solidityPackedKeccak256 } from 'ethers'
import { formatRaw } from '../../../core/base/decimal.ts'
import { wordAt, wordCount } from '../../evm/encoding.ts'
import type { CallResult } from '../../evm/types.ts'
import { cacheByPair } from '../deployment.ts'
import { lender, trialAmount } from '../fee-on-transfer.ts'
import { readBy, type Loan, type PoolMemory, type PoolProtocol } from '../protocol.ts'
import { floatError, maxEstimateError, maxSteepness, type Estimate, type Passage, type Pool } from '../../pools/protocol.ts'

/** The part of the input that a pool keeps: `[3n, 1000n]` is 0.3 %. */
export type Fee = readonly [numerator: bigint, denominator: bigint]

/** Pairs keep their reserves in 112 bits and revert above: UniswapV2Pair, `_update`. */
export const maxReserveRaw = 2n ** 112n - 1n

/**
 * The output for an exact input, rounded down: UniswapV2Library.getAmountOut.
 * Undefined where the pair would refuse the swap: an empty reserve, or one that overflows.
 */
export function getAmountOut(amountInRaw: bigint, reserveInRaw: bigint, reserveOutRaw: bigint, fee: Fee): bigint | undefined {
  if (reserveInRaw <= 0n || reserveOutRaw <= 0n || reserveInRaw + amountInRaw > maxReserveRaw) return undefined
  const [kept, whole] = fee
  const amountInWithFee = amountInRaw * (whole - kept)
  return (amountInWithFee * reserveOutRaw) / (reserveInRaw * whole + amountInWithFee)
}

/**
 * The input for an exact output, rounded down plus one unit, as UniswapV2Library.getAmountIn does.
 * Undefined where the pool does not hold that much, or the input would overflow its reserve.
 */
export function getAmountIn(amountOutRaw: bigint, reserveInRaw: bigint, reserveOutRaw: bigint, fee: Fee): bigint | undefined {
  if (reserveInRaw <= 0n || amountOutRaw >= reserveOutRaw) return undefined
  const [kept, whole] = fee
  const amountInRaw = (reserveInRaw * amountOutRaw * whole) / ((reserveOutRaw - amountOutRaw) * (whole - kept)) + 1n
  return reserveInRaw + amountInRaw > maxReserveRaw ? undefined : amountInRaw
}

const maxReserve = Number(maxReserveRaw) * (1 - floatError)

/** `getAmountOut` and `getAmountIn` in floating point, by the part of an input that passes. They round by a unit. */
export function estimateOther(
  exact: 'in' | 'out',
  amount: number,
  reserveIn: number,
  reserveOut: number,
  passedPart: number,
  gasUnits: number,
): Estimate | undefined {
  const left = reserveOut - amount
  if (exact === 'out' && left * maxSteepness < reserveOut) return undefined
  const other =
    exact === 'in' ? (amount * passedPart * reserveOut) / (reserveIn + amount * passedPart) : (reserveIn * amount) / (left * passedPart)
  const error = 1 / other + floatError
  const isTaken = reserveIn + (exact === 'in' ? amount : other) < maxReserve
  return isTaken && error < maxEstimateError ? { amount: other, error, gasUnits } : undefined
}

/** `[25n, 10_000n]` → "0.0025": exact for fees of up to 18 decimals, cut off after that. */
export function feeDecimal([kept, whole]: Fee): string {
  return formatRaw((kept * 10n ** 18n) / whole, 18)
}

/** Where an exchange's pairs come from, on one network. */
export interface Deployment {
  readonly factory: string
  /** keccak256 of the pair's creation code: with the factory it gives every pair's address. */
  readonly initCodeHash: string
}

/** What a pair holds, in smallest units. */
interface Reserves {
  readonly reserve0Raw: bigint
  readonly reserve1Raw: bigint
}

// Measured on the devnet with plain tokens: what one more hop adds, through pools that have traded before.
const hopGasUnits = 60_000n
const hopGas = Number(hopGasUnits)

/** Pools of two tokens whose product of reserves never shrinks; one pool for each two tokens. */
export function v2Protocol(version: string, fee: Fee, deployment: Deployment): PoolProtocol<Reserves> {
  const memory = v2PoolMemory(deployment)
  const feeText = feeDecimal(fee)
  const passedPart = 1 - Number(fee[0]) / Number(fee[1])
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const { reserveInRaw, reserveOutRaw } = reservesAlong(pool, passage)
      const otherRaw = (exact === 'in' ? getAmountOut : getAmountIn)(amountRaw, reserveInRaw, reserveOutRaw, fee)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: hopGasUnits }
    },
    estimate(pool, passage, exact, amount) {
      const { reserveInRaw, reserveOutRaw } = reservesAlong(pool, passage)
      return estimateOther(exact, amount, Number(reserveInRaw), Number(reserveOutRaw), passedPart, hopGas)
    },
    spot(pool, passage) {
      const { reserveInRaw, reserveOutRaw } = reservesAlong(pool, passage)
      return { numerator: reserveOutRaw, denominator: reserveInRaw }
    },
    fee: () => feeText,
    mostIn: (pool, passage) => maxReserveRaw - reservesAlong(pool, passage).reserveInRaw,
    spotIsBest: true,
    leastGasUnits: hopGasUnits,
    holds: reservesAlong,
    loan: loanOf,
  }
}

function reservesAlong({ tokens: [token0], state: { reserve0Raw, reserve1Raw } }: Pool<Reserves>, { tokenIn }: Passage) {
  return tokenIn === token0
    ? { reserveInRaw: reserve0Raw, reserveOutRaw: reserve1Raw }
    : { reserveInRaw: reserve1Raw, reserveOutRaw: reserve0Raw }
}

/** A pair, deployed or not. */
interface PairAddress {
  readonly address: string
  /** In the order in which the factory keeps them. */
  readonly tokens: readonly [token0: string, token1: string]
}

/** Of two tokens in the order of pools, whether the pair is deployed or not. */
export const pairAddress = ({ factory, initCodeHash }: Deployment, tokens: readonly [token0: string, token1: string]): string =>
  getCreate2Address(factory, solidityPackedKeccak256(['address', 'address'], tokens), initCodeHash)

// Every change of a pair's reserves ends in this: UniswapV2Pair of @uniswap/v2-core@1.0.1, `_update`.
const syncTopic = id('Sync(uint112,uint112)')
/** Selector of `getReserves()`, which returns three words: two reserves and a time. */
const getReservesData = '0x0902f1ac'

/** Pairs in memory: each log says all of their state. */
function v2PoolMemory({ factory, initCodeHash }: Deployment): PoolMemory<Reserves, PairAddress> {
  const pairBetween = cacheByPair((tokens) => ({
    address: pairAddress({ factory, initCodeHash }, tokens),
    tokens,
  }))
  return {
    places: (pairs) => pairs.map(([a, b]) => pairBetween(a, b)),
    read: (pairs) => ({
      calls: pairs.map(({ address }) => ({ to: address, data: getReservesData })),
      pools: (results) => pairs.map((pair, index) => readPool(pair, results[index])),
    }),
    follow: [syncTopic],
    // Shares are a token of the pair itself: its transfers are followed too, for wallets.
    poolsOf: ({ address, topics }) => (topics[0] === syncTopic ? [address.toLowerCase()] : []),
    apply(pool, { data }) {
      // A new pair: the log does not name its tokens.
      if (pool === null) return 'reload'
      const state = reservesIn(data)
      return state ? { address: pool.address, tokens: pool.tokens, state } : null
    },
  }
}

/** Null where there is no such pair, or an empty one: a call to an address without code succeeds and returns nothing. */
function readPool({ address, tokens }: PairAddress, result: CallResult | undefined): Pool<Reserves> | null {
  const state = result?.ok && wordCount(result.data) >= 3 ? reservesIn(result.data) : undefined
  return state ? { address, tokens, state } : null
}

/** From the first two words; undefined where either reserve is 0, or more than a pair can have. */
function reservesIn(data: string): Reserves | undefined {
  const [reserve0Raw, reserve1Raw] = [wordAt(data, 0), wordAt(data, 1)]
  const isReserve = (raw: bigint) => raw > 0n && raw <= maxReserveRaw
  return isReserve(reserve0Raw) && isReserve(reserve1Raw) ? { reserve0Raw, reserve1Raw } : undefined
}

// UniswapV2Pair of @uniswap/v2-core@1.0.1: calls back where there is data.
const borrow = lender({ lends: 'swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)', recipient: 2 })

/** A pair lends any of its tokens, and takes either token back. */
export function loanOf(pool: Pool<Reserves>, token: string): Loan | undefined {
  const sentRaw = trialAmount(reservesAlong(pool, { tokenIn: token, tokenOut: '' }).reserveInRaw)
  if (sentRaw === undefined) return undefined
  const amounts = token === pool.tokens[0] ? [sentRaw, 0n] : [0n, sentRaw]
  return borrow(pool.address, token, sentRaw, [...amounts, '0x01'])
}
