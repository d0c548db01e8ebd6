// Liquidity of weighted pools: what `joinPool` and `exitPool` of the Vault give (npm @balancer-labs/v2-vault 3.0.1, PoolBalances). What a deposit
// gives is asked of the pool's own contract, because its versions differ; what shares return is computed.
import { getCreateAddress } from 'ethers'
import { SluiceError, type AMMShares, type SharesPool, type SharesPosition, type Venue } from '../../../core/contracts/index.ts'
import { abiOf, listAt, nativeAddress, wordAt, wordCount } from '../../evm/encoding.ts'
import { revertReason } from '../../evm/reverts.ts'
import type { Call, CallResult, Evm } from '../../evm/types.ts'
import { poolToken } from '../../pools/price.ts'
import { routerChecks } from '../pool-amm.ts'
import type { Router } from '../protocol.ts'
import { completeOffer, requireWorth } from '../shares.ts'
import { dueProtocolFee, one } from './math.ts'
import { maxBalanceRaw, poolAddress } from './pools.ts'
import { exactTokensIn, planJoin, planExit, sharesFill } from './share-plans.ts'

/** BalancerPoolToken of npm @balancer-labs/v2-pool-utils. */
const shareDecimals = 18

const poolAbi = abiOf([
  'function totalSupply() view returns (uint256)',
  'function getActualSupply() view returns (uint256)',
  'function getInvariant() view returns (uint256)',
  'function getLastInvariant() view returns (uint256)',
  'function getNormalizedWeights() view returns (uint256[])',
  'function getPausedState() view returns (bool, uint256, uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function queryJoin(bytes32, address, address, uint256[], uint256, uint256, bytes) returns (uint256, uint256[])',
])
const vaultAbi = abiOf(['function getPoolTokens(bytes32) view returns (address[], uint256[], uint256)'])
const collectorAbi = abiOf(['function getSwapFeePercentage() view returns (uint256)'])

interface WeightedSharesOptions {
  readonly version: string
  readonly ids: readonly string[]
  readonly router: Router
}

/** Shares of the listed pools of a Vault. A pool itself is the token of its shares. */
export function weightedShares({ version, ids, router }: WeightedSharesOptions, { reader }: Venue<Evm>): AMMShares<Evm> {
  const { wrapped } = reader
  const vault = router.address
  const checks = routerChecks()
  // The Vault's constructor creates it, as its first: ProtocolFeesCollector of npm @balancer-labs/v2-vault 3.0.1, Fees.
  const feeCall = (): Call => ({
    to: getCreateAddress({ from: vault, nonce: 1 }),
    data: collectorAbi.encodeFunctionData('getSwapFeePercentage'),
  })
  // They never change.
  const tokensById = new Map<string, readonly string[]>()
  const poolById = new Map(ids.map((id) => [poolAddress(id), id]))
  let lastFee = 0n

  return {
    sharesVersions: [version],
    // BPT_IN_MAX_AMOUNT, BPT_OUT_MIN_AMOUNT, EXIT_BELOW_MIN, JOIN_ABOVE_MAX of BalancerErrors (npm @balancer-labs/v2-solidity-utils 4.0.0).
    slippageReasons: ['BAL#207', 'BAL#208', 'BAL#505', 'BAL#506'],
    boundsShares: true,

    async sharePositions(asked, owner, at) {
      const wanted = asked.map((token) => poolToken(token, wrapped))
      const decimalsOf = new Map(asked.map((token) => [poolToken(token, wrapped), token.decimals]))
      const isWanted = (tokens: readonly string[]) =>
        tokens.length === wanted.length && new Set(wanted).size === wanted.length && tokens.every((each) => wanted.includes(each))
      const may = ids.filter((id) => isWanted(tokensById.get(id) ?? wanted))
      const due = checks.due([router])
      const calls = may.map((id) => positionCalls(vault, id, owner))
      const reads = [feeCall(), ...calls.flat()]
      const { head, results } = await reader.read([...reads, ...checks.calls(due)], at)
      checks.verify(due, results.slice(reads.length))
      lastFee = readWord(results[0]) ?? lastFee
      let offset = 1
      const positions = may.flatMap((id, index): SharesPosition[] => {
        const answers = results.slice(offset, (offset += calls[index]?.length ?? 0))
        const held = readHeld(answers[0])
        if (!held) return []
        tokensById.set(id, held.tokens)
        if (!isWanted(held.tokens)) return []
        const position = positionIn(id, { held, answers: answers.slice(1), feePercentage: readWord(results[0]), version }, decimalsOf)
        return position ? [position] : []
      })
      return { head, positions }
    },

    async depositFor({ pool: { address, reservesRaw }, maxRaw }, at) {
      const id = poolById.get(address)
      if (id === undefined) throw new Error(`The plugin lists no pool ${address}.`)
      let seen: JoinState = { balances: reservesRaw, feePercentage: lastFee }
      // The pool is asked with what it held a moment ago. If that has changed, it is asked again.
      for (let tries = 0; tries < mostTries; tries += 1) {
        if (!seen.balances.some((each) => each > 0n))
          throw new SluiceError(
            'PRICE_FAILED',
            `The pool ${address} is empty, and what fills it first is another kind of deposit. Choose another pool.`,
          )
        const amountsRaw = completeOffer(maxRaw, seen.balances)
        if (amountsRaw.every((each) => each === 0n)) return { amountsRaw, sharesRaw: 0n }
        if (amountsRaw.some((each) => each > maxBalanceRaw))
          throw new SluiceError(
            'PRICE_FAILED',
            `The Vault holds less than 2^112 of the smallest units of a token: add less to the pool ${address}.`,
          )
        const calls = [tokensCall(vault, id), feeCall(), joinCall(id, seen, amountsRaw), poolCall(address, 'totalSupply')]
        const { results } = await reader.read(calls, at)
        const [held, feePercentage, supplyRaw] = [readHeld(results[0]), readWord(results[1]), readWord(results[3])]
        if (!held || feePercentage === undefined || supplyRaw === undefined) throw silent(address)
        lastFee = feePercentage
        const now: JoinState = { balances: held.balances, feePercentage }
        if (isSameState(now, seen)) {
          const sharesRaw = readJoin(address, results[2])
          requireWorth(address, { sharesRaw }, lostRaw(supplyRaw, amountsRaw.length))
          return { amountsRaw, sharesRaw }
        }
        seen = now
      }
      throw new SluiceError('NETWORK', `The pool ${address} changes with every block, so that what it gives is not known: try again.`)
    },

    returnFor: returned,
    addShares: (addition, terms) => planJoin({ vault, id: idOf(addition.pool), wrapped: wrapped.address }, addition, terms),
    removeShares: (removal, terms) => planExit({ vault, id: idOf(removal.pool), wrapped: wrapped.address }, removal, terms),
    sharesFill,
  }

  function idOf({ address }: SharesPool): string {
    const id = poolById.get(address)
    if (id === undefined) throw new Error(`The plugin lists no pool ${address}.`)
    return id
  }
}

const mostTries = 4

const poolCall = (pool: string, view: string, ...args: readonly unknown[]): Call => ({
  to: pool,
  data: poolAbi.encodeFunctionData(view, args),
})

const tokensCall = (vault: string, id: string): Call => ({ to: vault, data: vaultAbi.encodeFunctionData('getPoolTokens', [id]) })

function positionCalls(vault: string, id: string, owner: string): readonly Call[] {
  const pool = poolAddress(id)
  const views = ['totalSupply', 'getActualSupply', 'getInvariant', 'getLastInvariant', 'getNormalizedWeights', 'getPausedState'] as const
  return [tokensCall(vault, id), ...views.map((view) => poolCall(pool, view)), poolCall(pool, 'balanceOf', owner)]
}

const readWord = (result: CallResult | undefined): bigint | undefined =>
  result?.ok && wordCount(result.data) > 0 ? wordAt(result.data, 0) : undefined

interface PoolBalances {
  readonly tokens: readonly string[]
  readonly balances: readonly bigint[]
}

/** Undefined where the Vault has no such pool. */
function readHeld(result: CallResult | undefined): PoolBalances | undefined {
  if (!result?.ok || wordCount(result.data) < 3) return undefined
  const [tokens, balances] = vaultAbi.decodeFunctionResult('getPoolTokens', result.data)
  return { tokens: [...tokens].map(String), balances: [...balances].map(BigInt) }
}

interface PoolAnswers {
  readonly held: PoolBalances
  /** Of `positionCalls` after the first. */
  readonly answers: readonly CallResult[]
  readonly feePercentage: bigint | undefined
  readonly version: string
}

/** Undefined where the pool's contract is of no version whose exits are known. */
function positionIn(
  id: string,
  { held, answers, feePercentage, version }: PoolAnswers,
  decimalsOf: ReadonlyMap<string, number>,
): SharesPosition | undefined {
  const address = poolAddress(id)
  const [supplyRaw, actualSupplyRaw, invariant, lastInvariant] = answers.slice(0, 4).map(readWord)
  const [weights, paused, sharesRaw] = [answers[4], readWord(answers[5]), readWord(answers[6])]
  if (supplyRaw === undefined || sharesRaw === undefined || !weights?.ok) throw silent(address)
  // Later versions say what the next change creates for the protocol. Those before have it paid out of what the pool holds.
  const isLater = actualSupplyRaw !== undefined
  if (!isLater && lastInvariant === undefined) return undefined
  const normalized = listAt(weights.data, 0)
  const scales = held.tokens.map((token) => 10n ** BigInt(18 - (decimalsOf.get(token) ?? 18)))
  const scaled = held.balances.map((balance, index) => balance * (scales[index] ?? 1n))
  let afterFee: readonly bigint[] = scaled
  if (!isLater && paused === 0n && supplyRaw > 0n) {
    if (feePercentage === undefined || invariant === undefined) throw silent(address)
    afterFee = lessProtocolFee(scaled, normalized, { invariant, lastInvariant: lastInvariant ?? 0n, feePercentage })
  }
  const last = held.tokens.length - 1
  const hasPrice = held.balances.every((each) => each > 0n) && normalized.length === held.tokens.length
  const [lastBalance = 0n, lastWeight = 1n] = [held.balances[last], normalized[last]]
  const pool: SharesPool = {
    address,
    version,
    tokens: held.tokens,
    shareToken: address,
    shareDecimals,
    totalSharesRaw: actualSupplyRaw ?? supplyRaw,
    reservesRaw: held.balances,
    // Rounded down, so that a part of it is never more than the contract gives.
    heldRaw: afterFee.map((each, index) => each / (scales[index] ?? 1n)),
    prices: hasPrice
      ? held.balances.map((balance, index) => ({ numerator: lastBalance * (normalized[index] ?? 0n), denominator: balance * lastWeight }))
      : [],
  }
  const ratio = ratioOf(pool, sharesRaw)
  return { pool, sharesRaw, amountsRaw: afterFee.map((each, index) => (each * ratio) / one / (scales[index] ?? 1n)) }
}

/** What the protocol takes of a pool of the first versions at a change: of the first of the heaviest tokens, BaseWeightedPool `_getDueProtocolFeeAmounts`. */
function lessProtocolFee(
  scaled: readonly bigint[],
  weights: readonly bigint[],
  growth: { readonly invariant: bigint; readonly lastInvariant: bigint; readonly feePercentage: bigint },
): readonly bigint[] {
  const heaviest = weights.reduce((best, weight, index) => (weight > (weights[best] ?? 0n) ? index : best), 0)
  return scaled.map((balance, index) =>
    index === heaviest ? balance - dueProtocolFee({ balance, weight: weights[index] ?? one }, growth) : balance,
  )
}

/** The fraction that shares are of all, with 18 decimals, rounded down: WeightedMath, `_calcTokensOutGivenExactBptIn`. */
const ratioOf = ({ totalSharesRaw }: SharesPool, sharesRaw: bigint): bigint =>
  totalSharesRaw === 0n ? 0n : (sharesRaw * one) / totalSharesRaw

/** The same, for what the pool holds after the protocol's part. */
function returned(pool: SharesPool, sharesRaw: bigint): readonly bigint[] {
  const ratio = ratioOf(pool, sharesRaw)
  return pool.heldRaw.map((each) => (each * ratio) / one)
}

interface JoinState {
  readonly balances: readonly bigint[]
  /** Of the protocol, with 18 decimals. */
  readonly feePercentage: bigint
}

const isSameState = (a: JoinState, b: JoinState): boolean =>
  a.feePercentage === b.feePercentage &&
  a.balances.length === b.balances.length &&
  a.balances.every((each, index) => each === b.balances[index])

/** As the Vault would ask it, but that nothing is changed: BasePool, `queryJoin`. The block of the last change counts for oracles only. */
const joinCall = (id: string, { balances, feePercentage }: JoinState, amountsRaw: readonly bigint[]): Call =>
  poolCall(poolAddress(id), 'queryJoin', id, nativeAddress, nativeAddress, balances, 0n, feePercentage, exactTokensIn(amountsRaw, 0n))

// BalancerErrors of npm @balancer-labs/v2-solidity-utils 4.0.0.
const isPaused = 'BAL#402'
/** SUB_OVERFLOW: what is added is so little that rounding leaves less than nothing. */
const tooLittle = 'BAL#001'

/** The shares. @throws SluiceError PRICE_FAILED where the pool refuses */
function readJoin(address: string, result: CallResult | undefined): bigint {
  const sharesRaw = readWord(result)
  if (sharesRaw !== undefined) return sharesRaw
  const reason = revertReason(result?.data)
  if (reason === tooLittle) return 0n
  if (reason === isPaused)
    throw new SluiceError('PRICE_FAILED', `The pool ${address} is paused, so it takes no deposit: wait, or choose another pool.`)
  throw new SluiceError('PRICE_FAILED', `The pool ${address} refuses this deposit (${reason}). Add less, or to another pool.`)
}

/**
 * The shares that a deposit loses at most to rounding. Of each token's power the pool takes off what its error may be, 10^-14:
 * MAX_POW_RELATIVE_ERROR of FixedPoint.
 */
const lostRaw = (supplyRaw: bigint, tokens: number): bigint => 1n + (supplyRaw * BigInt(tokens)) / 10n ** 14n

const silent = (address: string) => new SluiceError('NETWORK', `The pool ${address} or its Vault does not say what it holds: try again.`)
