// Liquidity of constant-product pools: what UniswapV2Pair of @uniswap/v2-core@1.0.1 and UniswapV2Router02 of @uniswap/v2-periphery@1.1.0-beta.0
// give for a deposit and for shares, to the unit.
import { SluiceError, type AMMShares, type SharesDeposit, type SharesPool, type SharesPosition } from '../../../core/contracts/index.ts'
import { abiOf, addressOf, isSameAddress, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Call, CallResult, Evm, EvmReader } from '../../evm/types.ts'
import { sortTokens } from '../deployment.ts'
import { feeOnTransferCheck } from '../fee-on-transfer.ts'
import { routerChecks } from '../pool-amm.ts'
import { poolToken } from '../../pools/price.ts'
import type { Router } from '../protocol.ts'
import { requireWorth } from '../shares.ts'
import { loanOf, maxReserveRaw, pairAddress, type Deployment, type Fee } from './pools.ts'
import { planAdd, planRemove, sharesFill } from './share-plans.ts'
import { squareRoot } from '../../../core/base/decimal.ts'

/** The pair itself is the token of its shares: UniswapV2ERC20. */
const shareDecimals = 18
/** Shares that the first deposit leaves to nobody: UniswapV2Pair, MINIMUM_LIQUIDITY. */
export const minimumSharesRaw = 1000n
/** Of the growth of a pool's shares by fees, where the factory has them taken: UniswapV2Pair, `_mintFee`. */
const uniswapProtocolShare: Fee = [1n, 6n]

const pairAbi = abiOf([
  'function getReserves() view returns (uint112, uint112, uint32)',
  'function totalSupply() view returns (uint256)',
  'function kLast() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function feeTo() view returns (address)',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
])

interface SharesOptions extends Deployment {
  readonly version: string
  readonly router: Router
  readonly coin: string
  readonly protocolShare: Fee | undefined
}

/** Shares of an exchange's pairs, by its router. */
export function v2Shares(
  { version, factory, initCodeHash, router, coin, protocolShare = uniswapProtocolShare }: SharesOptions,
  reader: EvmReader,
): AMMShares<Evm> {
  const { wrapped, intermediates } = reader
  const checks = routerChecks()
  const requireExactTransfers = feeOnTransferCheck(reader)
  const trusted = new Set([wrapped.address, ...intermediates.map(({ address }) => address)])
  const contracts = { router: router.address, coin, wrapped: wrapped.address }
  return {
    sharesVersions: [version],
    slippageReasons: ['Router: INSUFFICIENT_A_AMOUNT', 'Router: INSUFFICIENT_B_AMOUNT'],
    async sharePositions(asked, owner, at) {
      const [one, other, ...more] = asked.map((token) => poolToken(token, wrapped))
      const due = checks.due([router])
      // Pairs have two tokens.
      const tokens = one !== undefined && other !== undefined && one !== other && more.length === 0 ? sortTokens(one, other) : undefined
      const pair = tokens && { address: pairAddress({ factory, initCodeHash }, tokens), tokens }
      const reads = pair ? callsOf(pair, owner, factory) : []
      const { head, results } = await reader.read([...reads, ...checks.calls(due)], at)
      checks.verify(due, results.slice(reads.length))
      const position = pair && positionIn({ ...pair, version, protocolShare }, results)
      return { head, positions: position ? [position] : [] }
    },
    async depositFor({ pool, tokens, maxRaw }, at) {
      const lent = { address: pool.address, tokens: pool.tokens, state: reservesOf(pool) }
      const untrusted = tokens.flatMap((token) => {
        if (token.native || trusted.has(token.address)) return []
        const lendSome = () => {
          const loan = loanOf(lent, token.address)
          return loan && { loan, pool: pool.address }
        }
        return [{ token, pool: pool.address, loan: lendSome }]
      })
      await requireExactTransfers(untrusted, at)
      const ofCoin = tokens.findIndex(({ native }) => native)
      const found = deposit(pool, maxRaw, ofCoin)
      // In a pool of few shares: the rounding, or what the first deposit leaves to nobody.
      requireWorth(pool.address, found, pool.totalSharesRaw === 0n ? minimumSharesRaw : 1n)
      return found
    },
    returnFor: returned,
    addShares: (addition, terms) => planAdd(contracts, addition, terms),
    removeShares: (removal, terms) => planRemove(contracts, removal, terms),
    async removalAllowance(shareToken, owner, at) {
      const call = (view: string, ...args: readonly string[]): Call => ({ to: shareToken, data: pairAbi.encodeFunctionData(view, args) })
      const { results } = await reader.read([call('token0'), call('token1'), call('balanceOf', owner)], at)
      const [token0, token1, sharesRaw] = results.map((each) => (each.ok && wordCount(each.data) > 0 ? wordAt(each.data, 0) : undefined))
      if (token0 === undefined || token1 === undefined || sharesRaw === undefined) return undefined
      // What a contract says of its tokens is proved by its address.
      const tokenOf = (word: bigint): string => addressOf(BigInt.asUintN(160, word))
      const isPair = isSameAddress(pairAddress({ factory, initCodeHash }, sortTokens(tokenOf(token0), tokenOf(token1))), shareToken)
      return isPair ? { spender: router.address, sharesRaw } : undefined
    },
    sharesFill,
  }
}

interface PairOf {
  readonly address: string
  readonly tokens: readonly [token0: string, token1: string]
}

function callsOf({ address, tokens: [token0, token1] }: PairOf, owner: string, factory: string): readonly Call[] {
  const call = (to: string, view: string, ...args: readonly string[]): Call => ({ to, data: pairAbi.encodeFunctionData(view, args) })
  return [
    call(address, 'getReserves'),
    call(address, 'totalSupply'),
    call(address, 'kLast'),
    call(token0, 'balanceOf', address),
    call(token1, 'balanceOf', address),
    call(address, 'balanceOf', owner),
    call(factory, 'feeTo'),
  ]
}

/** Undefined where there is no such pair: a call to an address without code succeeds and returns nothing. */
function positionIn(
  { address, tokens, version, protocolShare }: PairOf & { version: string; protocolShare: Fee },
  [reserves, ...others]: readonly CallResult[],
): SharesPosition | undefined {
  if (!reserves?.ok || wordCount(reserves.data) < 3) return undefined
  const [supplyRaw, kLast, held0Raw, held1Raw, sharesRaw, feeTo] = others.map((each) =>
    each.ok && wordCount(each.data) > 0 ? wordAt(each.data, 0) : undefined,
  )
  if (supplyRaw === undefined || held0Raw === undefined || held1Raw === undefined || sharesRaw === undefined)
    throw new SluiceError('NETWORK', `The pool ${address} or one of its tokens does not say what it holds: try again.`)
  const [reserve0Raw, reserve1Raw] = [wordAt(reserves.data, 0), wordAt(reserves.data, 1)]
  // A fork may have no `feeTo`, and take its share by other means: then it counts as taken.
  const isTaken = feeTo !== 0n
  const ofProtocolRaw = isTaken ? protocolSharesRaw({ reserve0Raw, reserve1Raw, kLast: kLast ?? 0n, supplyRaw }, protocolShare) : 0n
  const hasPrice = reserve0Raw > 0n && reserve1Raw > 0n
  const pool: SharesPool = {
    address,
    version,
    tokens,
    shareToken: address,
    shareDecimals,
    totalSharesRaw: supplyRaw + ofProtocolRaw,
    reservesRaw: [reserve0Raw, reserve1Raw],
    heldRaw: [held0Raw, held1Raw],
    prices: hasPrice
      ? [
          { numerator: reserve1Raw, denominator: reserve0Raw },
          { numerator: 1n, denominator: 1n },
        ]
      : [],
  }
  return { pool, sharesRaw, amountsRaw: returned(pool, sharesRaw) }
}

interface Growth {
  readonly reserve0Raw: bigint
  readonly reserve1Raw: bigint
  /** The product of the reserves after the last change of liquidity. */
  readonly kLast: bigint
  readonly supplyRaw: bigint
}

/** What the next change of liquidity creates for the protocol: UniswapV2Pair, `_mintFee`. PancakeSwap's has the same form. */
export function protocolSharesRaw({ reserve0Raw, reserve1Raw, kLast, supplyRaw }: Growth, [share, whole]: Fee): bigint {
  const [root, rootLast] = [squareRoot(reserve0Raw * reserve1Raw, 'down'), squareRoot(kLast, 'down')]
  if (kLast === 0n || root <= rootLast) return 0n
  return (supplyRaw * (root - rootLast) * share) / (root * (whole - share) + rootLast * share)
}

/** UniswapV2Pair, `burn`: by what the pair holds, not by its reserves. */
export const returned = ({ heldRaw, totalSharesRaw }: SharesPool, sharesRaw: bigint): readonly bigint[] =>
  heldRaw.map((each) => (totalSharesRaw === 0n ? 0n : (sharesRaw * each) / totalSharesRaw))

const reservesOf = ({ reservesRaw: [reserve0Raw = 0n, reserve1Raw = 0n] }: SharesPool) => ({ reserve0Raw, reserve1Raw })

/**
 * What the router takes of the offered amounts, and what the pair gives for it.
 * @param most an amount that is absent follows from the other
 * @param ofCoin the index of the token that is paid as the coin: the router counts it as the second one
 * @throws SluiceError PRICE_FAILED where the pair refuses every such deposit
 */
export function deposit(pool: SharesPool, most: Offer, ofCoin = -1): SharesDeposit {
  const { address, heldRaw, totalSharesRaw } = pool
  const { reserve0Raw, reserve1Raw } = reservesOf(pool)
  const isReversed = ofCoin === 0
  const found = taken(inOrder(most, isReversed), inOrder([reserve0Raw, reserve1Raw] as const, isReversed))
  if (!found)
    throw new SluiceError(
      'PRICE_FAILED',
      `The pool ${address} holds one of its two tokens only, so its router adds nothing to it. Choose another pool.`,
    )
  const amounts = inOrder(found, isReversed)
  const after = amounts.map((each, index) => (heldRaw[index] ?? 0n) + each)
  if (after.some((each) => each > maxReserveRaw))
    throw new SluiceError('PRICE_FAILED', `The pool ${address} cannot hold that much. Add less.`)
  const [added0, added1] = [(after[0] ?? 0n) - reserve0Raw, (after[1] ?? 0n) - reserve1Raw]
  return { amountsRaw: amounts, sharesRaw: amounts.includes(0n) ? 0n : sharesFor(added0, added1, pool, totalSharesRaw) }
}

/** UniswapV2Pair, `mint`. A pair that holds less than its reserves gives less, or nothing. */
function sharesFor(added0: bigint, added1: bigint, pool: SharesPool, totalSharesRaw: bigint): bigint {
  if (added0 <= 0n || added1 <= 0n) return 0n
  if (totalSharesRaw === 0n) return positive(squareRoot(added0 * added1, 'down') - minimumSharesRaw)
  const { reserve0Raw, reserve1Raw } = reservesOf(pool)
  if (reserve0Raw === 0n || reserve1Raw === 0n) return 0n
  return lesser((added0 * totalSharesRaw) / reserve0Raw, (added1 * totalSharesRaw) / reserve1Raw)
}

type Amounts = readonly [bigint, bigint]
type Offer = readonly (bigint | undefined)[]

const inOrder = <T extends readonly unknown[]>(both: T, isReversed: boolean): T => (isReversed ? both.toReversed() : both) as never

const positive = (value: bigint) => (value > 0n ? value : 0n)
const lesser = (a: bigint, b: bigint) => (a < b ? a : b)

/**
 * UniswapV2Router02, `_addLiquidity`: what it takes of an offer, and of that again. The second token's amount is always that which the first one
 * needs, because a pair keeps what it gets beyond its ratio.
 */
function taken([mostA, mostB]: Offer, [reserveA, reserveB]: Amounts): Amounts | undefined {
  if (reserveA === 0n && reserveB === 0n) return [mostA ?? 0n, mostB ?? 0n]
  if (reserveA === 0n || reserveB === 0n) return undefined
  const isWithin = mostA !== undefined && (mostB === undefined || (mostA * reserveB) / reserveA <= mostB)
  const amountA = isWithin ? mostA : ((mostB ?? 0n) * reserveA) / reserveB
  return [amountA, (amountA * reserveB) / reserveA]
}
