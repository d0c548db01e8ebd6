import type { CallResult } from 'sluice/evm'
import { readBy, type Passage, type Pool, type PoolMemory, type PoolProtocol } from 'sluice/pools'

/** Addresses in their checksummed spelling, the tokens in the order of the contract. */
export interface Pair {
  readonly address: string
  readonly tokens: readonly [string, string]
}
/** What a pair holds of each token, in smallest units. */
type Reserves = readonly [bigint, bigint]

/** The first four bytes of the keccak256 of `getReserves()`. */
const getReserves = '0x0902f1ac'
/** The keccak256 of `Sync(uint112,uint112)`: a pair logs what it holds after every change. */
const syncTopic = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
/** The part of the input that stays in the pool: 3 of 1000. */
const [feeParts, allParts] = [3n, 1000n]
/** Pairs keep their reserves in 112 bits. */
const maxReserveRaw = 2n ** 112n - 1n
/** One more pool on a route, as measured. */
const passGasUnits = 60_000n

/** Pools of two tokens whose product never shrinks, with the rounding of their contracts. */
export function pairProtocol(listed: readonly Pair[]): PoolProtocol<Reserves> {
  const memory = pairMemory(listed)
  return {
    version: 'pair',
    memory,
    read: readBy(memory),

    pass(pool, passage, exact, amountRaw) {
      const { inRaw, outRaw } = reserves(pool, passage)
      if (exact === 'in') {
        if (inRaw + amountRaw > maxReserveRaw) return undefined
        const afterFee = amountRaw * (allParts - feeParts)
        return { amountRaw: (afterFee * outRaw) / (inRaw * allParts + afterFee), gasUnits: passGasUnits }
      }
      if (amountRaw >= outRaw) return undefined
      const neededRaw = (inRaw * amountRaw * allParts) / ((outRaw - amountRaw) * (allParts - feeParts)) + 1n
      return inRaw + neededRaw > maxReserveRaw ? undefined : { amountRaw: neededRaw, gasUnits: passGasUnits }
    },

    spot(pool, passage) {
      const { inRaw, outRaw } = reserves(pool, passage)
      return { numerator: outRaw, denominator: inRaw }
    },
    fee: () => '0.003',
    mostIn: (pool, passage) => maxReserveRaw - reserves(pool, passage).inRaw,
    // No amount gets a better price than the smallest one.
    spotIsBest: true,
  }
}

function reserves({ tokens: [token0], state: [reserve0, reserve1] }: Pool<Reserves>, { tokenIn }: Passage) {
  return tokenIn === token0 ? { inRaw: reserve0, outRaw: reserve1 } : { inRaw: reserve1, outRaw: reserve0 }
}

function pairMemory(listed: readonly Pair[]): PoolMemory<Reserves, Pair> {
  return {
    places: (asked) => listed.filter(({ tokens }) => asked.some(([a, b]) => tokens.includes(a) && tokens.includes(b))),

    read: (places) => ({
      calls: places.map(({ address }) => ({ to: address, data: getReserves })),
      pools: (results) => places.map((pair, index) => poolOf(pair, reservesIn(results[index]))),
    }),

    follow: [syncTopic],
    poolsOf: ({ address }) => [address.toLowerCase()],
    apply(pool, { address, data }) {
      const pair = listed.find((each) => each.address.toLowerCase() === address.toLowerCase())
      // The log names everything that a pair holds.
      return pair ? poolOf(pair, [wordAt(data, 0), wordAt(data, 1)]) : pool
    },
  }
}

const poolOf = ({ address, tokens }: Pair, state: Reserves | undefined): Pool<Reserves> | null =>
  state === undefined || state[0] === 0n || state[1] === 0n ? null : { address, tokens, state }

/** Of a pair that is not there, the answer is empty. */
const reservesIn = (result: CallResult | undefined): Reserves | undefined =>
  result?.ok && result.data.length >= 2 + 2 * 64 ? [wordAt(result.data, 0), wordAt(result.data, 1)] : undefined

const wordAt = (data: string, index: number): bigint => BigInt(`0x${data.slice(2 + index * 64, 2 + (index + 1) * 64)}`)
