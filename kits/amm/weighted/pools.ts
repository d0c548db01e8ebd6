import { AbiCoder, id, dataSlice, getAddress } from 'ethers'
import { formatRaw } from '../../../core/decimal.ts'
import { SluiceError } from '../../../core/contracts/index.ts'
import { addressInTopic, addressOf, listAt, toInt256, wordAt } from '../../evm/encoding.ts'
import type { CallResult, Probe, EvmLog } from '../../evm/types.ts'
import { readBy, type PoolProtocol, type Passage, type Pool, type Pair, type Place, type PoolMemory } from '../index.ts'
import artifact from './artifacts/WeightedLens.json' with { type: 'json' }
import { complement, divUp, divideUp, mulUp, inGivenOut, outGivenIn, type Side } from './math.ts'

// Measured on the devnet with plain tokens: 104,000 to 113,000 for one hop and 140,000 for two, with what is added once.
const passUnits = 50_000n

/** Pools of tokens with weights, listed by their ids in a Vault. */
export function weightedProtocol(version: string, vault: string, ids: readonly string[]): PoolProtocol<WeightedState> {
  const memory = weightedPoolMemory(vault, ids)
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const otherRaw = (exact === 'in' ? amountOut : amountIn)(holdingsAlong(pool, passage), pool.state, amountRaw)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: passUnits }
    },
    spot(pool, passage) {
      const { into, outOf } = holdingsAlong(pool, passage)
      return { numerator: outOf.balanceRaw * into.weight, denominator: into.balanceRaw * outOf.weight }
    },
    fee: ({ state }) => formatRaw(state.swapFee, 18),
  }
}

interface WeightedState {
  readonly holdings: readonly Holding[]
  /** Of the input, with 18 decimals. */
  readonly swapFee: bigint
  /** Powers of 1, 2 and 4 are multiplied out. */
  readonly squares: boolean
}

/** What a pool has of one of its tokens. */
export interface Holding {
  readonly balanceRaw: bigint
  /** With 18 decimals. */
  readonly weight: bigint
  /** What makes 18 decimals of the token's. */
  readonly scale: bigint
}

/** The Vault keeps balances in 112 bits: BalanceAllocation of npm @balancer-labs/v2-vault. */
export const maxBalanceRaw = 2n ** 112n - 1n

export interface HoldingsAlong {
  readonly into: Holding
  readonly outOf: Holding
}

/** @throws where the pool has not both tokens */
function holdingsAlong({ address, tokens, state: { holdings } }: Pool<WeightedState>, { tokenIn, tokenOut }: Passage): HoldingsAlong {
  const [into, outOf] = [holdings[tokens.indexOf(tokenIn)], holdings[tokens.indexOf(tokenOut)]]
  if (!into || !outOf) throw new Error(`The pool ${address} does not have both ${tokenIn} and ${tokenOut}.`)
  return { into, outOf }
}

const scaled = ({ balanceRaw, weight, scale }: Holding): Side => ({ balance: balanceRaw * scale, weight })

/** `onSwap` of BaseMinimalSwapInfoPool (npm @balancer-labs/v2-pool-utils 2.0.1), given in: the fee comes off before scaling. */
export function amountOut({ into, outOf }: HoldingsAlong, { swapFee, squares }: WeightedState, amountInRaw: bigint): bigint | undefined {
  if (into.balanceRaw + amountInRaw > maxBalanceRaw) return undefined
  const netRaw = amountInRaw - mulUp(amountInRaw, swapFee)
  const out = outGivenIn(scaled(into), scaled(outOf), netRaw * into.scale, squares)
  return out === undefined ? undefined : out / outOf.scale
}

/** The same, given out: the fee is added after scaling. */
export function amountIn({ into, outOf }: HoldingsAlong, { swapFee, squares }: WeightedState, amountOutRaw: bigint): bigint | undefined {
  const amount = inGivenOut(scaled(into), scaled(outOf), amountOutRaw * outOf.scale, squares)
  if (amount === undefined) return undefined
  const grossRaw = divUp(divideUp(amount, into.scale), complement(swapFee))
  return into.balanceRaw + grossRaw > maxBalanceRaw ? undefined : grossRaw
}

interface VaultPool extends Place {
  readonly id: string
}

/** Pools that are listed by their ids in a Vault, in memory: the Vault logs what they have, and they log their fees. */
function weightedPoolMemory(vault: string, ids: readonly string[]): PoolMemory<WeightedState, VaultPool> {
  const listed = ids.map((id): VaultPool => ({ id, address: poolAddress(id) }))
  const keys = listed.map(({ address }) => address.toLowerCase())
  const keyById = new Map(listed.map(({ id, address }) => [id.toLowerCase(), address.toLowerCase()]))
  const vaultKey = vault.toLowerCase()
  // What tokens a pool has never changes: once they are known it is read for those alone.
  const tokensById = new Map<string, readonly string[]>()
  const mayLieBetween = ({ id }: VaultPool, pairs: readonly Pair[]) => {
    const tokens = tokensById.get(id)
    return !tokens || pairs.some(([a, b]) => tokens.includes(a) && tokens.includes(b))
  }

  return {
    places: (pairs) => listed.filter((place) => mayLieBetween(place, pairs)),

    read(places) {
      if (places.length === 0) return { calls: [], pools: () => [] }
      const asked = places.map(({ id }) => id)
      return {
        calls: [lensProbe(vault, asked)],
        pools: ([result = noResult]) =>
          readLens(result, asked).map((pool, index) => {
            const id = asked[index]
            if (!pool || id === undefined) return null
            tokensById.set(id, pool.tokens)
            return pool
          }),
      }
    },

    follow: Object.values(topics),
    emitters: [vaultKey],

    poolsOf(log) {
      const key = log.address.toLowerCase()
      if (key !== vaultKey) return log.topics[0] === topics.feeChanged || log.topics[0] === topics.pauseChanged ? [key] : []
      // Where the Vault itself is paused, no pool of it swaps.
      if (log.topics[0] === topics.pauseChanged) return keys
      const found = keyById.get(poolIdIn(log))
      return found === undefined ? [] : [found]
    },

    apply(pool, log) {
      const change = changeIn(log)
      if (change === undefined) return 'reload'
      if (change.is === 'pause') return change.paused ? null : (pool ?? 'reload')
      // Of one that there was not, that was empty or paused, the log says too little. A pause ends by time alone, too, which nothing logs: the
      // pool is known of again with its first swap.
      if (pool === null) return 'reload'
      if (change.is === 'fee') return { ...pool, state: { ...pool.state, swapFee: change.swapFee } }
      return moved(pool, change.deltas)
    },
  }
}

const noResult: CallResult = { ok: false, data: '0x' }

/** Null where it has nothing left of a token: then the lens shows none, too. */
function moved(pool: Pool<WeightedState>, deltas: ReadonlyMap<string, bigint>): Pool<WeightedState> | null | 'reload' {
  const { tokens, state } = pool
  let known = 0
  const holdings = state.holdings.map((holding, index) => {
    const delta = deltas.get((tokens[index] ?? '').toLowerCase())
    if (delta === undefined) return holding
    known += 1
    return delta === 0n ? holding : { ...holding, balanceRaw: holding.balanceRaw + delta }
  })
  if (known !== deltas.size) return 'reload'
  return holdings.every(({ balanceRaw }) => balanceRaw > 0n) ? { ...pool, state: { ...state, holdings } } : null
}

const coder = AbiCoder.defaultAbiCoder()
const answerTypes = [
  'tuple(address[] tokens, uint256[] balances, uint256[] weights, uint256[] decimals, uint256 swapFee, bool hasScalingFactors)[]',
]
const mostDecimals = 18n

/** Reads pools of a Vault: contracts/WeightedLens.sol. */
function lensProbe(vault: string, ids: readonly string[]): Probe {
  return { code: artifact.bytecode, args: coder.encode(['address', 'bytes32[]'], [vault, ids]) }
}

/**
 * What the lens saw of each pool, in order: undefined where there is none that swaps.
 * @throws SluiceError NETWORK where the node did not run it to its end
 */
function readLens(result: CallResult, ids: readonly string[]): readonly (Pool<WeightedState> | undefined)[] {
  const seen = seenIn(result)
  if (seen?.length !== ids.length) {
    const cure = 'try again, and see in rpcUrls that the node allows calls of 50 million gas if this stays'
    throw new SluiceError('NETWORK', `The node did not read the pools to the end: ${cure}.`)
  }
  return ids.map((id, index) => seen[index] && poolOf(id, seen[index]))
}

function seenIn({ ok, data }: CallResult): readonly Seen[] | undefined {
  if (!ok) return undefined
  try {
    const [seen] = coder.decode(answerTypes, data)
    return [...seen]
  } catch {
    // No answer of the lens: the calls that it makes have reasons of their own, which come back in its place.
    return undefined
  }
}

interface Seen {
  readonly tokens: readonly string[]
  readonly balances: readonly bigint[]
  readonly weights: readonly bigint[]
  readonly decimals: readonly bigint[]
  readonly swapFee: bigint
  readonly hasScalingFactors: boolean
}

/** One whose token lacks or has too many decimals is none of these pools, and nor is one without a weight for each token. */
function poolOf(id: string, { tokens, balances, weights, decimals, swapFee, hasScalingFactors }: Seen): Pool<WeightedState> | undefined {
  const holdings = [...tokens].flatMap((_, index) => {
    const [balanceRaw = 0n, weight = 0n, decimal = mostDecimals + 1n] = [balances[index], weights[index], decimals[index]]
    return balanceRaw > 0n && weight > 0n && decimal <= mostDecimals ? [{ balanceRaw, weight, scale: 10n ** (mostDecimals - decimal) }] : []
  })
  if (holdings.length === 0 || holdings.length < tokens.length) return undefined
  return { address: poolAddress(id), tokens: [...tokens], state: { holdings, swapFee, squares: hasScalingFactors } }
}

/**
 * The logs that tell what becomes of a pool. Of the Vault (npm @balancer-labs/v2-vault 3.0.1): Swaps, PoolBalances, AssetManagers,
 * PoolTokens and PoolRegistry; of a pool: its fee (BasePool of npm @balancer-labs/v2-pool-utils 2.0.1); of both, whether they are paused.
 */
const topics = {
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

/** Of the Vault's logs. */
const poolIdIn = ({ topics: [, poolId = ''] }: EvmLog): string => poolId.toLowerCase()

/** Undefined where it does not say what the pool has then. */
function changeIn({ topics: found, data }: EvmLog): PoolChange | undefined {
  switch (found[0]) {
    case topics.swap: {
      const [amountIn, amountOut] = [wordAt(data, 0), wordAt(data, 1)]
      return balances([
        [addressInTopic(found[2]), amountIn],
        [addressInTopic(found[3]), -amountOut],
      ])
    }
    case topics.balanceChanged: {
      // What comes in or goes out, and what the protocol takes of the pool besides: `_processJoinPoolTransfers` and its like for exits.
      const [tokens, deltas, fees] = [listAt(data, 0), listAt(data, 1), listAt(data, 2)]
      return balances(tokens.map((token, index) => [addressOf(token), toInt256(deltas[index] ?? 0n) - (fees[index] ?? 0n)]))
    }
    case topics.balanceManaged:
      // A pool has what lies in the Vault and what its manager took out of it: swaps go by both together.
      return balances([[addressInTopic(found[3]), toInt256(wordAt(data, 0)) + toInt256(wordAt(data, 1))]])
    case topics.feeChanged:
      return { is: 'fee', swapFee: wordAt(data, 0) }
    case topics.pauseChanged:
      return { is: 'pause', paused: wordAt(data, 0) !== 0n }
    default:
      return undefined
  }
}

const balances = (deltas: readonly (readonly [token: string, delta: bigint])[]): PoolChange => ({ is: 'balances', deltas: new Map(deltas) })

/** A pool's address is the first part of its id in the Vault: PoolRegistry of npm @balancer-labs/v2-vault, `_toPoolId`. */
export const poolAddress = (id: string): string => getAddress(dataSlice(id, 0, 20))
