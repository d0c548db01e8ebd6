import { isDeepStrictEqual } from 'node:util'
import { AbiCoder, dataSlice, getAddress, id } from 'ethers'
import { formatRaw } from '../../../core/base/decimal.ts'
import { addressInTopic, addressOf, listAt, toInt256, wordAt } from '../../evm/encoding.ts'
import type { CallResult, EvmLog, Probe } from '../../evm/types.ts'
import { readBy, type Place, type PoolMemory, type PoolProtocol } from '../protocol.ts'
import type { Pair, Passage, Pool } from '../../pools/protocol.ts'
import artifact from './artifacts/WeightedLens.json' with { type: 'json' }
import { complement, divUp, divideUp, inGivenOut, mulUp, outGivenIn, type Side } from './math.ts'

interface WeightedState {
  readonly holdings: readonly Holding[]
  /** Of the input, with 18 decimals. */
  readonly swapFee: bigint
  /** Powers of 1, 2 and 4 are multiplied out. */
  readonly squares: boolean
  readonly ofPool: Pause
  /** While the Vault itself is paused, none of its pools swaps. */
  readonly ofVault: Pause
}

/** A pause ends when it is taken back, or by time alone: TemporarilyPausable of npm @balancer-labs/v2-solidity-utils, `_isNotPaused`. */
interface Pause {
  readonly paused: boolean
  /** In seconds; the last one at which a pause still holds. */
  readonly bufferEnds: bigint
}

type WeightedFees = Omit<WeightedState, 'ofPool' | 'ofVault'>

/** What a pool holds of one of its tokens. */
export interface Holding {
  readonly balanceRaw: bigint
  /** With 18 decimals. */
  readonly weight: bigint
  /** Times a raw amount gives 18 decimals. */
  readonly scale: bigint
}

// Measured on the devnet with plain tokens: 104,000 to 113,000 for one hop and 140,000 for two, with what is added once.
const hopGasUnits = 50_000n

/**
 * Pools of tokens with weights, listed by their ids in a Vault.
 *
 * Why the marginal price is the best of all amounts (`spotIsBest`). With t = net input / balance and k = weight in / weight out, what comes out is
 * 1 - (1 + t)^-k of the other balance, which is concave in t, and k × t of it at the margin; an exact output costs the inverse, which is convex.
 * Every rounding of the contract goes against the swap: the base of the power up, its exponent so that the power grows, the fee up, the output down
 * and the input up. The power itself is raised by 10^-14 of it (`powUp`), which is more than its error: logarithms of 18 decimals are at most a few
 * units of the last one off, times an exponent of at most 99, and the series of the exponential ends within 10^-17.
 */
export function weightedProtocol(version: string, vault: string, ids: readonly string[]): PoolProtocol<WeightedState> {
  const memory = weightedPoolMemory(vault, ids)
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const otherRaw = (exact === 'in' ? amountOut : amountIn)(holdingsAlong(pool, passage), pool.state, amountRaw)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: hopGasUnits }
    },
    spot(pool, passage) {
      const { into, outOf } = holdingsAlong(pool, passage)
      return { numerator: outOf.balanceRaw * into.weight, denominator: into.balanceRaw * outOf.weight }
    },
    fee: ({ state }) => formatRaw(state.swapFee, 18),
    spotIsBest: true,
    leastGasUnits: hopGasUnits,
    holds(pool, passage) {
      const { into, outOf } = holdingsAlong(pool, passage)
      return { reserveInRaw: into.balanceRaw, reserveOutRaw: outOf.balanceRaw }
    },
    listed: (pairs) => memory.places(pairs).map(({ address }) => address),
  }
}

export interface HoldingsAlong {
  readonly into: Holding
  readonly outOf: Holding
}

function holdingsAlong({ address, tokens, state: { holdings } }: Pool<WeightedState>, { tokenIn, tokenOut }: Passage): HoldingsAlong {
  const [into, outOf] = [holdings[tokens.indexOf(tokenIn)], holdings[tokens.indexOf(tokenOut)]]
  if (!into || !outOf) throw new Error(`The pool ${address} does not have both ${tokenIn} and ${tokenOut}.`)
  return { into, outOf }
}

/** The Vault keeps balances in 112 bits: BalanceAllocation of npm @balancer-labs/v2-vault. */
export const maxBalanceRaw = 2n ** 112n - 1n

/**
 * The output for an exact input, rounded down: `onSwap` of BaseMinimalSwapInfoPool (npm @balancer-labs/v2-pool-utils 2.0.1), given in. The fee
 * is taken before scaling. Undefined where the pool would refuse it.
 */
export function amountOut({ into, outOf }: HoldingsAlong, { swapFee, squares }: WeightedFees, amountInRaw: bigint): bigint | undefined {
  if (into.balanceRaw + amountInRaw > maxBalanceRaw) return undefined
  const netRaw = amountInRaw - mulUp(amountInRaw, swapFee)
  const out = outGivenIn(scaled(into), scaled(outOf), netRaw * into.scale, squares)
  return out === undefined ? undefined : out / outOf.scale
}

/** The input for an exact output, rounded up: the same, given out. The fee is added after scaling. */
export function amountIn({ into, outOf }: HoldingsAlong, { swapFee, squares }: WeightedFees, amountOutRaw: bigint): bigint | undefined {
  const amount = inGivenOut(scaled(into), scaled(outOf), amountOutRaw * outOf.scale, squares)
  if (amount === undefined) return undefined
  const grossRaw = divUp(divideUp(amount, into.scale), complement(swapFee))
  return into.balanceRaw + grossRaw > maxBalanceRaw ? undefined : grossRaw
}

const scaled = ({ balanceRaw, weight, scale }: Holding): Side => ({ balance: balanceRaw * scale, weight })

/** A pool's address is the first part of its id in the Vault: PoolRegistry of npm @balancer-labs/v2-vault, `_toPoolId`. */
export const poolAddress = (id: string): string => getAddress(dataSlice(id, 0, 20))

interface VaultPool extends Place {
  readonly id: string
}

/** Pools in memory: the Vault logs their balances, and they log their fees. */
function weightedPoolMemory(vault: string, ids: readonly string[]): PoolMemory<WeightedState, VaultPool> {
  const listed = ids.map((id): VaultPool => ({ id, address: poolAddress(id) }))
  const keys = listed.map(({ address }) => address.toLowerCase())
  const keyById = new Map(listed.map(({ id, address }) => [id.toLowerCase(), address.toLowerCase()]))
  const vaultKey = vault.toLowerCase()
  // The tokens of a pool never change: once they are known, the pool is read for them alone.
  const tokensById = new Map<string, readonly string[]>()
  const mayHaveOneOf = ({ id }: VaultPool, pairs: readonly Pair[]) => {
    const tokens = tokensById.get(id)
    return !tokens || pairs.some(([a, b]) => tokens.includes(a) && tokens.includes(b))
  }

  return {
    places: (pairs) => listed.filter((pool) => mayHaveOneOf(pool, pairs)),

    // A probe for each: what one pool answers takes no other away.
    read: (pools) => ({
      calls: pools.map(({ id }) => lensProbe(vault, id)),
      pools: (results) =>
        pools.map(({ id }, index) => {
          const pool = readLens(results[index], id)
          if (!pool) return null
          tokensById.set(id, pool.tokens)
          return pool
        }),
    }),

    follow: Object.values(vaultTopics),
    emitters: [vaultKey],

    poolsOf({ address, topics: [topic, poolId = ''] }) {
      const key = address.toLowerCase()
      if (key !== vaultKey) return topic === vaultTopics.feeChanged || topic === vaultTopics.pauseChanged ? [key] : []
      if (topic === vaultTopics.pauseChanged) return keys
      const found = keyById.get(poolId.toLowerCase())
      return found === undefined ? [] : [found]
    },

    apply(pool, log) {
      const change = changeIn(log)
      // The pool was new or empty, and the log says too little.
      if (change === undefined || pool === null) return 'reload'
      const { state } = pool
      if (change.is === 'fee') return { ...pool, state: { ...state, swapFee: change.swapFee } }
      if (change.is === 'balances') return applyDeltas(pool, change.deltas)
      const of = log.address.toLowerCase() === vaultKey ? 'ofVault' : 'ofPool'
      return { ...pool, state: { ...state, [of]: { ...state[of], paused: change.paused } } }
    },

    asOf: (pool, { timestamp }) => (isPaused(pool.state.ofPool, timestamp) || isPaused(pool.state.ofVault, timestamp) ? null : pool),

    // The chain tells no longer of a pause that is over by time.
    same(inMemory, loaded, { timestamp }) {
      const known = ({ tokens, state: { ofPool, ofVault, ...state } }: Pool<WeightedState>) => ({
        tokens,
        state,
        pauses: [ofPool, ofVault].map((pause) => ({ ...pause, paused: isPaused(pause, timestamp) })),
      })
      return isDeepStrictEqual(known(inMemory), known(loaded))
    },
  }
}

const isPaused = ({ paused, bufferEnds }: Pause, timestamp: number): boolean => paused && BigInt(timestamp) <= bufferEnds

/** Null where nothing is left of a token: the lens shows no such pool, either. */
function applyDeltas(pool: Pool<WeightedState>, deltas: ReadonlyMap<string, bigint>): Pool<WeightedState> | null | 'reload' {
  const { tokens, state } = pool
  let count = 0
  const holdings = state.holdings.map((holding, index) => {
    const delta = deltas.get((tokens[index] ?? '').toLowerCase())
    if (delta === undefined) return holding
    count += 1
    return delta === 0n ? holding : { ...holding, balanceRaw: holding.balanceRaw + delta }
  })
  if (count !== deltas.size) return 'reload'
  return holdings.every(({ balanceRaw }) => balanceRaw > 0n) ? { ...pool, state: { ...state, holdings } } : null
}

const coder = AbiCoder.defaultAbiCoder()
const lensTypes = [
  'tuple(address[] tokens, uint256[] balances, uint256[] weights, uint256[] decimals, uint256 swapFee, bool hasScalingFactors, tuple(bool paused, uint256 bufferEnds) ofPool, tuple(bool paused, uint256 bufferEnds) ofVault)[]',
]

/** Reads a pool of a Vault: contracts/WeightedLens.sol. */
function lensProbe(vault: string, id: string): Probe {
  return { code: artifact.bytecode, args: coder.encode(['address', 'bytes32[]'], [vault, [id]]) }
}

interface LensAnswer {
  readonly tokens: readonly string[]
  readonly balances: readonly bigint[]
  readonly weights: readonly bigint[]
  readonly decimals: readonly bigint[]
  readonly swapFee: bigint
  readonly hasScalingFactors: boolean
  readonly ofPool: Pause
  readonly ofVault: Pause
}

/** Undefined where there is no such pool, or where what should be one does not answer so. */
function readLens(result: CallResult | undefined, id: string): Pool<WeightedState> | undefined {
  const answer = result?.ok ? decodeLens(result.data) : undefined
  return answer && poolOf(id, answer)
}

function decodeLens(data: string): LensAnswer | undefined {
  try {
    const [[answer]] = coder.decode(lensTypes, data)
    return answer
  } catch {
    // The data is the revert reason of a call that the lens made.
    return undefined
  }
}

const maxDecimals = 18n
const oneX18 = 10n ** 18n

/** Undefined for other kinds of pools: a token without decimals or with too many, or without a weight. */
function poolOf(
  id: string,
  { tokens, balances, weights, decimals, swapFee, hasScalingFactors, ofPool, ofVault }: LensAnswer,
): Pool<WeightedState> | undefined {
  const holdings = [...tokens].flatMap((_, index) => {
    const [balanceRaw = 0n, weight = 0n, decimal = maxDecimals + 1n] = [balances[index], weights[index], decimals[index]]
    return balanceRaw > 0n && weight > 0n && decimal <= maxDecimals ? [{ balanceRaw, weight, scale: 10n ** (maxDecimals - decimal) }] : []
  })
  if (holdings.length === 0 || holdings.length < tokens.length || swapFee >= oneX18) return undefined
  if (holdings.some(({ balanceRaw, weight }) => balanceRaw > maxBalanceRaw || weight > oneX18)) return undefined
  const pauseOf = ({ paused, bufferEnds }: Pause): Pause => ({ paused, bufferEnds })
  const state = { holdings, swapFee, squares: hasScalingFactors, ofPool: pauseOf(ofPool), ofVault: pauseOf(ofVault) }
  return { address: poolAddress(id), tokens: [...tokens], state }
}

/**
 * The logs that change pools. Of the Vault (npm @balancer-labs/v2-vault 3.0.1): Swaps, PoolBalances, AssetManagers, PoolTokens and PoolRegistry;
 * of a pool: its fee (BasePool of npm @balancer-labs/v2-pool-utils 2.0.1); of both: pauses.
 */
export const vaultTopics = {
  swap: id('Swap(bytes32,address,address,uint256,uint256)'),
  balanceChanged: id('PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])'),
  balanceManaged: id('PoolBalanceManaged(bytes32,address,address,int256,int256)'),
  registered: id('PoolRegistered(bytes32,address,uint8)'),
  tokensRegistered: id('TokensRegistered(bytes32,address[],address[])'),
  tokensDeregistered: id('TokensDeregistered(bytes32,address[])'),
  feeChanged: id('SwapFeePercentageChanged(uint256)'),
  pauseChanged: id('PausedStateChanged(bool)'),
} as const

/** `deltas` by token, in lower case. */
type PoolChange =
  | { readonly is: 'balances'; readonly deltas: ReadonlyMap<string, bigint> }
  | { readonly is: 'fee'; readonly swapFee: bigint }
  | { readonly is: 'pause'; readonly paused: boolean }

/** Undefined where the log does not say the pool's new state. */
function changeIn({ topics: [topic, , second, third], data }: EvmLog): PoolChange | undefined {
  switch (topic) {
    case vaultTopics.swap:
      return balances([
        [addressInTopic(second), wordAt(data, 0)],
        [addressInTopic(third), -wordAt(data, 1)],
      ])
    case vaultTopics.balanceChanged: {
      // What comes in or goes out, less the protocol's fees from the pool: `_processJoinPoolTransfers`, and the same for exits.
      const [tokens, deltas, fees] = [listAt(data, 0), listAt(data, 1), listAt(data, 2)]
      return balances(tokens.map((token, index) => [addressOf(token), toInt256(deltas[index] ?? 0n) - (fees[index] ?? 0n)]))
    }
    case vaultTopics.balanceManaged:
      // A pool's balance is what is in the Vault and what its asset manager took out of it: swaps use the sum.
      return balances([[addressInTopic(third), toInt256(wordAt(data, 0)) + toInt256(wordAt(data, 1))]])
    case vaultTopics.feeChanged:
      return { is: 'fee', swapFee: wordAt(data, 0) }
    case vaultTopics.pauseChanged:
      return { is: 'pause', paused: wordAt(data, 0) !== 0n }
    default:
      return undefined
  }
}

const balances = (deltas: readonly (readonly [token: string, delta: bigint])[]): PoolChange => ({ is: 'balances', deltas: new Map(deltas) })
