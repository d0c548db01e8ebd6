import { id, getCreate2Address, solidityPackedKeccak256 } from 'ethers'
import type { CallResult } from '../../evm/types.ts'
import { readBy, type PoolProtocol, type PoolMemory, type Passage, type Pool, lender, trialAmount, type Loan } from '../index.ts'
import { feeDecimal, getAmountIn, getAmountOut, maxReserveRaw, type Fee } from './math.ts'

// Measured on the devnet with plain tokens: what another hop adds, through pools that have traded before.
const passUnits = 60_000n

/** Pools of two tokens whose product of reserves never shrinks, one for each two tokens. */
export function v2Protocol(version: string, fee: Fee, deployment: Deployment): PoolProtocol<Reserves> {
  const memory = v2PoolMemory(deployment)
  const feeText = feeDecimal(fee)
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const { reserveInRaw, reserveOutRaw } = reservesAlong(pool, passage)
      const otherRaw = (exact === 'in' ? getAmountOut : getAmountIn)(amountRaw, reserveInRaw, reserveOutRaw, fee)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: passUnits }
    },
    spot(pool, passage) {
      const { reserveInRaw, reserveOutRaw } = reservesAlong(pool, passage)
      return { numerator: reserveOutRaw, denominator: reserveInRaw }
    },
    fee: () => feeText,
    mostIn: (pool, passage) => maxReserveRaw - reservesAlong(pool, passage).reserveInRaw,
    spotIsBest: true,
    loan: loanOf,
  }
}

// Whatever moves a pair's reserves ends in this: UniswapV2Pair of @uniswap/v2-core@1.0.1, `_update`.
const syncTopic = id('Sync(uint112,uint112)')

/** Pairs in memory: each log says all of their state. */
function v2PoolMemory(deployment: Deployment): PoolMemory<Reserves, PairAddress> {
  const pairBetween = pairFinder(deployment)
  return {
    places: (pairs) => pairs.map(([a, b]) => pairBetween(a, b)),
    read: (places) => ({
      calls: places.map(({ address }) => ({ to: address, data: getReservesData })),
      pools: (results) =>
        places.map((pair, index) => {
          const result = results[index]
          return (result && readPool(pair, result)) ?? null
        }),
    }),
    follow: [syncTopic],
    poolsOf: ({ address }) => [address.toLowerCase()],
    apply(pool, { data }) {
      // A new one, of which the log says neither token.
      if (pool === null) return 'reload'
      const state = reservesIn(data)
      return state ? { address: pool.address, tokens: pool.tokens, state } : null
    },
  }
}

/** Where an exchange's pairs come from, on one network. */
export interface Deployment {
  readonly factory: string
  /** keccak256 of the pair's creation code: with the factory it gives every pair's address. */
  readonly initCodeHash: string
}

/** A pair, whether it is deployed or not. */
interface PairAddress {
  readonly address: string
  /** In the order in which the factory keeps them. */
  readonly tokens: readonly [token0: string, token1: string]
}

// Callers may ask for any token there is, so what is remembered has a bound.
const mostRemembered = 10_000

/**
 * An exchange's pairs, computed (CREATE2) and remembered: two hashes would cost more than the rest of a quote. A quote asks
 * some twenty times, so what is known is found by the names as they are, without sorting or joining them.
 */
function pairFinder({ factory, initCodeHash }: Deployment): (a: string, b: string) => PairAddress {
  const known = new Map<string, Map<string, PairAddress>>()
  let remembered = 0
  return (a, b) => {
    const found = known.get(a)?.get(b)
    if (found !== undefined) return found
    const tokens = sortTokens(a, b)
    const pair = { address: getCreate2Address(factory, solidityPackedKeccak256(['address', 'address'], tokens), initCodeHash), tokens }
    if (remembered >= mostRemembered) {
      known.clear()
      remembered = 0
    }
    const beside = known.get(a) ?? new Map<string, PairAddress>()
    known.set(a, beside.set(b, pair))
    remembered += 1
    return pair
  }
}

function sortTokens(a: string, b: string): readonly [token0: string, token1: string] {
  return a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
}

interface Reserves {
  readonly reserve0Raw: bigint
  readonly reserve1Raw: bigint
}

/** Selector of `getReserves()`, which returns three words: two reserves and a time. */
const getReservesData = '0x0902f1ac'
const hexDigitsPerWord = 64
const answerLength = '0x'.length + 3 * hexDigitsPerWord

/** Undefined where there is no such pair, or an empty one. */
function readPool({ address, tokens }: PairAddress, { ok, data }: CallResult): Pool<Reserves> | undefined {
  // A call to an address without code succeeds and returns nothing.
  const state = ok && data.length >= answerLength ? reservesIn(data) : undefined
  return state && { address, tokens, state }
}

/** In the first two words; undefined where either is nothing. */
function reservesIn(data: string): Reserves | undefined {
  const reserve0Raw = wordOf(data, 0)
  const reserve1Raw = wordOf(data, 1)
  return reserve0Raw > 0n && reserve1Raw > 0n ? { reserve0Raw, reserve1Raw } : undefined
}

const wordOf = (data: string, index: number) => BigInt(`0x${data.slice(2 + index * hexDigitsPerWord, 2 + (index + 1) * hexDigitsPerWord)}`)

function reservesAlong({ tokens: [token0], state: { reserve0Raw, reserve1Raw } }: Pool<Reserves>, { tokenIn }: Passage) {
  return tokenIn === token0
    ? { reserveInRaw: reserve0Raw, reserveOutRaw: reserve1Raw }
    : { reserveInRaw: reserve1Raw, reserveOutRaw: reserve0Raw }
}

// UniswapV2Pair of @uniswap/v2-core@1.0.1: calls back where there is data.
const borrow = lender({ lends: 'swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)', recipient: 2 })

/** A pair lends what it is asked for, and has itself paid in either token. */
export function loanOf(pool: Pool<Reserves>, token: string): Loan | undefined {
  const sentRaw = trialAmount(reservesAlong(pool, { tokenIn: token, tokenOut: '' }).reserveInRaw)
  if (sentRaw === undefined) return undefined
  const amounts = token === pool.tokens[0] ? [sentRaw, 0n] : [0n, sentRaw]
  return borrow(pool.address, token, sentRaw, [...amounts, '0x01'])
}
