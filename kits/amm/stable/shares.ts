// Liquidity of stable pools: what `add_liquidity` and `remove_liquidity` of https://github.com/curvefi/curve-contract, contracts/pools, give, to
// the unit. Deposits are paid to the pool itself, in any ratio, and bounded by the least shares; neither function takes a deadline.
import {
  badFields,
  SluiceError,
  type AMMShares,
  type Json,
  type Need,
  type Plan,
  type SharesAddition,
  type SharesFill,
  type SharesPool,
  type SharesPosition,
  type SharesRemoval,
  type SharesTerms,
  type Token,
  type Venue,
} from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isAddressTopic, isSameAddress, nativeAddress, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Call, CallResult, Evm, EvmReceipt } from '../../evm/types.ts'
import { configuredAddress, requireAddresses } from '../deployment.ts'
import { completeOffer, requireWorth, transferredRaw } from '../shares.ts'
import { sharesMinted, spotPrice, stablePoolState, type StablePoolParameters } from './math.ts'
import { coinCalls, liquidityTopics, readParameters, stateCalls, type StablePool, type StableShares } from './pools.ts'
import { expectedCoins } from './router.ts'

/** CurveTokenV1.vy to CurveTokenV3.vy of curve-contract, contracts/tokens, as every pool's was deployed. */
const shareDecimals = 18

const tokenAbi = abiOf(['function totalSupply() view returns (uint256)', 'function balanceOf(address) view returns (uint256)'])

type SharedPool = StablePool & { readonly shares: StableShares }

/** Shares of the pools that say what token these are. @throws Error where the configuration lacks the address of one, or has another */
export function stableShares(version: string, pools: readonly StablePool[], venue: Venue<Evm>): AMMShares<Evm> {
  const { reader } = venue
  const shared = pools.filter((pool): pool is SharedPool => pool.shares !== undefined)
  for (const { address, shares } of shared) {
    const configured = configuredAddress(venue, `${shares.label}Address`)
    if (!isSameAddress(configured, address))
      throw new Error(
        `${shares.label}Address is ${configured} in the configuration, and the plugin's pool is ${address}: correct one of the two.`,
      )
  }
  const verified = new Set<string>()

  function withoutNative(tokens: readonly Token[]): readonly string[] {
    const native = tokens.find((each) => each.native)
    if (native)
      throw badFields([
        { field: 'tokens', problem: `has ${native.symbol}, and these pools take tokens only: name ${reader.wrapped.symbol}` },
      ])
    return tokens.map(({ address }) => address)
  }

  function verifyCoins(pool: SharedPool, answers: readonly CallResult[]): void {
    if (verified.has(pool.address)) return
    requireAddresses(expectedCoins([pool]), answers)
    verified.add(pool.address)
  }

  return {
    sharesVersions: [version],
    // Of `add_liquidity`, `remove_liquidity` and `remove_liquidity_one_coin`, in this order.
    slippageReasons: ['Slippage screwed you', 'resulted in fewer coins than expected', 'Not enough coins removed'],
    boundsShares: true,
    depositSpenders: Object.fromEntries(shared.map(({ address, shares }) => [shares.label, address])),

    async sharePositions(asked, owner, at) {
      const wanted = withoutNative(asked)
      const found = shared.filter(({ coins }) => coins.length === wanted.length && coins.every(({ address }) => wanted.includes(address)))
      const calls = found.map((pool) => [...readCalls(pool), balanceCall(pool, owner), ...coinCalls(pool)])
      const { head, results } = await reader.read(calls.flat(), at)
      let offset = 0
      const positions = found.flatMap((pool, index): SharesPosition[] => {
        const answers = results.slice(offset, (offset += calls[index]?.length ?? 0))
        const readCount = readCalls(pool).length
        const read = readPool(pool, answers)
        if (!read) return []
        const balance = answers[readCount]
        verifyCoins(pool, answers.slice(readCount + 1))
        const sharesRaw = balance?.ok && wordCount(balance.data) > 0 ? wordAt(balance.data, 0) : undefined
        if (sharesRaw === undefined) throw silent(pool)
        const shown = poolOf(pool, read, version, head.timestamp)
        return [{ pool: shown, sharesRaw, amountsRaw: returned(shown, sharesRaw) }]
      })
      return { head, positions }
    },

    async depositFor({ pool: { address }, tokens, maxRaw }, at) {
      withoutNative(tokens)
      const pool = shared.find((each) => each.address === address)
      if (!pool) throw new Error(`The plugin lists no pool ${address} with shares.`)
      const { head, results } = await reader.read(readCalls(pool), at)
      const read = readPool(pool, results)
      if (!read) throw silent(pool)
      const { parameters, supplyRaw } = read
      const amountsRaw = completeOffer(maxRaw, parameters.balances)
      if (amountsRaw.every((each) => each === 0n)) return { amountsRaw, sharesRaw: 0n }
      const sharesRaw = sharesMinted(parameters, head.timestamp, amountsRaw, supplyRaw)
      if (sharesRaw === undefined)
        throw new SluiceError(
          'PRICE_FAILED',
          supplyRaw === 0n
            ? `The pool ${address} is empty, and its first deposit needs some of each of its ${amountsRaw.length} coins.`
            : `The pool ${address} refuses these amounts: they are too large or too small for it. Add others.`,
        )
      requireWorth(address, { sharesRaw }, lostRaw(read, head.timestamp))
      return { amountsRaw, sharesRaw }
    },

    returnFor: returned,
    addShares: (addition, terms) => planAdd(addition, terms),
    removeShares: (removal, terms) => planRemove(removal, terms),
    sharesFill,
  }
}

interface PoolRead {
  readonly parameters: StablePoolParameters
  readonly supplyRaw: bigint
}

const readCalls = (pool: SharedPool): readonly Call[] => [
  ...stateCalls(pool),
  { to: pool.shares.token, data: tokenAbi.encodeFunctionData('totalSupply') },
]

const balanceCall = ({ shares }: SharedPool, owner: string): Call => ({
  to: shares.token,
  data: tokenAbi.encodeFunctionData('balanceOf', [owner]),
})

/** Undefined where there is no such pool. @param results of `readCalls`, and maybe more */
function readPool(pool: SharedPool, results: readonly CallResult[]): PoolRead | undefined {
  const count = readCalls(pool).length
  const parameters = readParameters(pool, results.slice(0, count - 1))
  if (!parameters) return undefined
  const supply = results[count - 1]
  if (!supply?.ok || wordCount(supply.data) === 0) throw silent(pool)
  return { parameters, supplyRaw: wordAt(supply.data, 0) }
}

const silent = ({ address, shares }: SharedPool) =>
  new SluiceError('NETWORK', `The pool ${address} or its token of shares ${shares.token} does not say what it has: try again.`)

function poolOf({ address, coins, shares }: SharedPool, { parameters, supplyRaw }: PoolRead, version: string, time: number): SharesPool {
  const { balances } = parameters
  const state = stablePoolState(parameters, time)
  const last = coins.length - 1
  return {
    address,
    version,
    tokens: coins.map((coin) => coin.address),
    shareToken: shares.token,
    shareDecimals,
    totalSharesRaw: supplyRaw,
    reservesRaw: balances,
    heldRaw: balances,
    prices: state ? coins.map((_, index) => (index === last ? { numerator: 1n, denominator: 1n } : spotPrice(state, index, last))) : [],
  }
}

/** The shares that are lost at most to the rounding of a deposit: the invariant may be a unit off, before it and after it. */
function lostRaw({ parameters, supplyRaw }: PoolRead, time: number): bigint {
  const d = stablePoolState(parameters, time)?.d ?? 0n
  return d === 0n ? 1n : 1n + 2n * (supplyRaw / d + 1n)
}

/** `remove_liquidity`, rounded down. */
const returned = ({ heldRaw, totalSharesRaw }: SharesPool, sharesRaw: bigint): readonly bigint[] =>
  heldRaw.map((each) => (totalSharesRaw === 0n ? 0n : (sharesRaw * each) / totalSharesRaw))

const poolAbi = (coins: number) =>
  abiOf([
    `function add_liquidity(uint256[${coins}] amounts, uint256 min_mint_amount)`,
    `function remove_liquidity(uint256 amount, uint256[${coins}] min_amounts)`,
  ])

/** One call to the pool, which takes all of the amounts and enforces the least shares. The plan names no deadline. */
function planAdd({ pool, amountsRaw, minSharesRaw }: SharesAddition, { owner }: SharesTerms): Plan<Evm> {
  const { address, tokens, shareToken } = pool
  const needs = tokens.flatMap((token, index): Need[] => {
    const amountRaw = amountsRaw[index] ?? 0n
    if (amountRaw === 0n) return []
    return [
      { is: 'balance', token, amountRaw },
      { is: 'allowance', token, amountRaw, spender: address },
    ]
  })
  const data = poolAbi(tokens.length).encodeFunctionData('add_liquidity', [amountsRaw, minSharesRaw])
  const memo: SharesMemo = { is: 'add', stable: address, shareToken, owner, coins: tokens.length }
  return { steps: [{ to: address, data, value: '0' }], needs, memo }
}

/** One call to the pool, which burns the shares without an allowance and enforces the least amounts. The plan names no deadline. */
function planRemove({ pool, sharesRaw, minRaw }: SharesRemoval, { owner }: SharesTerms): Plan<Evm> {
  const { address, tokens, shareToken } = pool
  const data = poolAbi(tokens.length).encodeFunctionData('remove_liquidity', [sharesRaw, minRaw])
  const memo: SharesMemo = { is: 'remove', stable: address, shareToken, owner, coins: tokens.length }
  return { steps: [{ to: address, data, value: '0' }], needs: [{ is: 'balance', token: shareToken, amountRaw: sharesRaw }], memo }
}

/** What `sharesFill` needs to find a change in a receipt. `stable` is the pool. */
const sharesMemo = json.object({
  is: json.literal('add', 'remove'),
  stable: json.string,
  shareToken: json.string,
  owner: json.string,
  coins: json.number,
})
type SharesMemo = json.Infer<typeof sharesMemo>

/** What was really done: the amounts by the pool's log, the shares by the last transfer of their token before it. Undefined where the receipt does not show it. */
export function sharesFill({ status, logs }: EvmReceipt, memo: Json): SharesFill | undefined {
  if (status !== 1 || !json.is(sharesMemo, memo)) return undefined
  const { is, stable, shareToken, owner, coins } = memo
  const wanted = liquidityTopics(coins)[is]
  const end = logs.findLastIndex(
    ({ address, topics: [topic, provider] }) => topic === wanted && isSameAddress(address, stable) && isAddressTopic(provider, owner),
  )
  const log = logs[end]
  if (!log || wordCount(log.data) < coins) return undefined
  const [payer, payee] = is === 'add' ? [nativeAddress, owner] : [owner, nativeAddress]
  const sharesRaw = transferredRaw(logs.slice(0, end), shareToken, payer, payee)
  return sharesRaw === undefined
    ? undefined
    : { sharesRaw, amountsRaw: Array.from({ length: coins }, (_, index) => wordAt(log.data, index)) }
}
