// The exchange's own router for stable pools, which sells: RouterNG of Curve. Its interface is the ABI that @curvefi/api 2.70.1 has for it
// (lib/constants/abis/router.json); what stands in `_swap_params` is what that client sends (lib/route-graph.worker.js).
import { SluiceError, type Fill, type Hop, type Json, type Plan, type Quote, type SwapTerms } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isSameAddress, nativeAddress, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Evm, EvmReceipt } from '../../evm/types.ts'
import { requireAddresses, requireNoRevert } from '../deployment.ts'
import type { Router } from '../protocol.ts'
import { swapPlan } from '../swap-plan.ts'
import { coinCalls, type StablePool } from './pools.ts'

export const exchangeRouterAbi = abiOf([
  'function exchange(address[11] _route, uint256[5][5] _swap_params, uint256 _amount, uint256 _expected) payable returns (uint256)',
  'function get_dy(address[11] _route, uint256[5][5] _swap_params, uint256 _amount) view returns (uint256)',
  'event Exchange(address indexed sender, address indexed receiver, address[11] route, uint256[5][5] swap_params, address[5] pools, uint256 in_amount, uint256 out_amount)',
])

const [mostSteps, routeLength] = [5, 11]
/** `exchange` of a pool of the first generations, by the indexes of its coins. */
const [plainSwap, stablePool] = [1n, 1n]

interface ExchangeRouterOptions {
  readonly version: string
  readonly address: string
  readonly pools: readonly StablePool[]
  /** The pools' coins as they have to be. */
  readonly expected: Parameters<typeof requireAddresses>[0]
}

/** It enforces the least amount out. It takes no deadline and no exact amount out, and pays who calls it. */
export function exchangeRouter({ version, address, pools, expected }: ExchangeRouterOptions): Router {
  const [pool] = pools
  const [one, other] = pool?.coins ?? []
  const trial = pool && one && other && { pool: pool.address, version, tokenIn: one.address, tokenOut: other.address }
  return {
    address,
    name: 'exchange',
    // `exchange` of github.com/curvefi/curve-router-ng at b5fe470, contracts/Router.vy.
    slippageReasons: ['Slippage'],
    carries: (versions, exact) => exact === 'in' && versions.length <= mostSteps && versions.every((each) => each === version),
    plan: (quote, terms) => planSale(quote, terms, pools),
    fill: readSale,
    ...(trial && {
      check: {
        get calls() {
          const asked = [...alongRoute([trial], pools), 10n ** BigInt(one.decimals)]
          return [{ to: address, data: exchangeRouterAbi.encodeFunctionData('get_dy', asked) }, ...pools.flatMap(coinCalls)]
        },
        verify([answer, ...coins]) {
          const remedy = "correct exchangeRouterAddress in the connector's configuration"
          requireNoRevert(`The configured router ${address}`, 'get_dy()', answer, remedy)
          // A call to an address without code would succeed and do nothing.
          if (!answer?.ok || wordCount(answer.data) !== 1 || wordAt(answer.data, 0) === 0n)
            throw new SluiceError(
              'SERVICE_UNINITIALIZED',
              `The contract at ${address} quotes nothing for the pool ${pool.address}: correct exchangeRouterAddress in the connector's configuration.`,
            )
          requireAddresses(expected, coins)
        },
      },
    }),
  }
}

/** The two lists that a route is told by. */
function alongRoute(route: readonly Hop[], pools: readonly StablePool[]) {
  const addresses = [route[0]?.tokenIn ?? nativeAddress, ...route.flatMap(({ pool, tokenOut }) => [pool, tokenOut])]
  const steps = route.map(({ pool: address, tokenIn, tokenOut }) => {
    const pool = pools.find((each) => each.address === address)
    const [from, to] = [tokenIn, tokenOut].map((token) => pool?.coins.findIndex((coin) => coin.address === token) ?? -1)
    if (!pool || from === undefined || to === undefined || from < 0 || to < 0)
      throw new Error(`The plugin lists no pool ${address} of ${tokenIn} and ${tokenOut}.`)
    return [BigInt(from), BigInt(to), plainSwap, stablePool, BigInt(pool.coins.length)]
  })
  const none = Array.from({ length: mostSteps - steps.length }, () => [0n, 0n, 0n, 0n, 0n])
  const noAddresses = Array.from({ length: routeLength - addresses.length }, () => nativeAddress)
  return [
    [...addresses, ...noAddresses],
    [...steps, ...none],
  ] as const
}

/** One call, without a deadline: the plan names none. */
function planSale(quote: Quote, terms: SwapTerms, pools: readonly StablePool[]): Plan<Evm> {
  const { swap, route, spender: router } = quote
  if (swap.tokenIn.native || swap.tokenOut.native)
    throw new SluiceError('UNSUPPORTED', `The exchange's router is not used for the native coin: trade its wrapped form.`)
  const data = exchangeRouterAbi.encodeFunctionData('exchange', [...alongRoute(route, pools), swap.amountRaw, terms.boundRaw])
  const { deadline: _, ...plan } = swapPlan(quote, terms, { router, data, memo: { exchange: router, recipient: terms.recipient } })
  return plan
}

/** What `readSale` needs to find a swap in a receipt. */
const saleMemo = json.object({ exchange: json.string, recipient: json.string })

function readSale({ status, from, logs }: EvmReceipt, memo: Json): Fill | undefined {
  if (status !== 1 || !json.is(saleMemo, memo)) return undefined
  const expected = exchangeRouterAbi.encodeFilterTopics('Exchange', [from, memo.recipient])
  const log = logs.findLast(
    ({ address, topics }) =>
      isSameAddress(address, memo.exchange) &&
      topics.length === expected.length &&
      topics.every((topic, index) => topic.toLowerCase() === String(expected[index]).toLowerCase()),
  )
  const parsed = log && exchangeRouterAbi.parseLog({ topics: [...log.topics], data: log.data })
  return parsed ? { amountInRaw: BigInt(parsed.args['in_amount']), amountOutRaw: BigInt(parsed.args['out_amount']) } : undefined
}
