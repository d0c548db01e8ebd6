import { Interface, dataLength, concat, getCreate2Address, keccak256, ZeroHash } from 'ethers'
import { type Hop, type Plan, type Quote, type SwapTerms, type Fill, type Json, SluiceError } from '../../../core/contracts/index.ts'
import type { Evm, EvmReceipt, Call, CallResult } from '../../evm/types.ts'
import { swapPlan } from '../index.ts'
import artifact from './artifacts/StableRouter.json' with { type: 'json' }
import { type StablePool, type StableExchange, addressIn, coinCalls } from './pools.ts'

/** One call to the router, with the bound and the deadline enforced by it. */
export const planSwap = (quote: Quote, terms: SwapTerms, pools: readonly StablePool[]): Plan<Evm> =>
  swapPlan(quote, terms, {
    router: quote.spender,
    data: routerCall(quote, terms, pools),
    memo: { router: quote.spender, recipient: terms.recipient },
  })

function routerCall({ swap, route, amountRaw }: Quote, { boundRaw, recipient, deadline }: SwapTerms, pools: readonly StablePool[]): string {
  const hops = route.map((hop) => hopOf(hop, pools))
  const terms = [route[0]?.tokenIn, recipient, swap.tokenOut.native === true, deadline]
  return swap.exact === 'in'
    ? routerAbi.encodeFunctionData('sell', [terms, swap.amountRaw, boundRaw, hops])
    : routerAbi.encodeFunctionData('buy', [terms, swap.amountRaw, amountRaw, boundRaw, hops])
}

function hopOf({ pool: address, tokenIn, tokenOut }: Hop, pools: readonly StablePool[]) {
  const pool = pools.find((each) => each.address === address)
  const [from, to] = [tokenIn, tokenOut].map((token) => pool?.coins.findIndex((coin) => coin.address === token) ?? -1)
  if (from === -1 || to === -1) throw new Error(`${address} is no pool of ${tokenIn} and ${tokenOut}.`)
  return [address, from, to, tokenOut]
}

/** What a swap really moved, as the router logged it; undefined where the receipt shows none. */
export function readFill({ status, from, logs }: EvmReceipt, memo: Json): Fill | undefined {
  if (status !== 1 || typeof memo !== 'object' || memo === null || !('router' in memo)) return undefined
  const { router, recipient } = memo
  if (typeof router !== 'string' || typeof recipient !== 'string') return undefined
  const wanted = routerAbi.encodeFilterTopics('Swapped', [from, recipient])
  // Of a swap within a swap, which a token's own code could make, the log comes first.
  const log = logs.findLast(
    ({ address, topics }) => same(address, router) && topics.length === wanted.length && topics.every((each, i) => same(each, wanted[i])),
  )
  const parsed = log && routerAbi.parseLog({ topics: [...log.topics], data: log.data })
  return parsed ? { amountInRaw: BigInt(parsed.args['amountIn']), amountOutRaw: BigInt(parsed.args['amountOut']) } : undefined
}

const same = (a: string, b: unknown) => typeof b === 'string' && a.toLowerCase() === b.toLowerCase()

const terms = '(address tokenIn, address recipient, bool unwrap, uint256 deadline) terms'
const hop = '(address pool, int128 i, int128 j, address tokenOut)'

/** contracts/StableRouter.sol. */
export const routerAbi = new Interface([
  `function sell(${terms}, uint256 amountIn, uint256 leastOut, ${hop}[] hops) payable returns (uint256 amountOut)`,
  `function buy(${terms}, uint256 leastOut, uint256 likelyIn, uint256 mostIn, ${hop}[] hops) payable returns (uint256 amountIn, uint256 amountOut)`,
  'function stableRouter() view returns (uint256)',
  'event Swapped(address indexed sender, address indexed recipient, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut)',
])

/**
 * Asks whether the configured router is one, and the pools for their coins. A call to an address without code would succeed
 * and do nothing, and one coin taken for another would be sold for what that other is worth.
 */
export function routerCheck({ router, pools }: StableExchange) {
  const expected = pools.flatMap(({ address, coins }) => coins.map((coin, at) => ({ address, at, coin: coin.address })))
  const calls: readonly Call[] = [{ to: router, data: routerAbi.encodeFunctionData('stableRouter') }, ...pools.flatMap(coinCalls)]

  const verify = ([version, ...coins]: readonly CallResult[]): void => {
    if (!version?.ok || dataLength(version.data) !== 32 || BigInt(version.data) !== 1n) {
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `There is no StableRouter at ${router} on this network. Deploy it, which anybody may (docs/connectors.md says how), or correct routerAddress in the connector's configuration.`,
      )
    }
    for (const [index, { address, at, coin }] of expected.entries()) {
      const answer = coins[index]
      const found = answer ? addressIn(answer) : 'nothing'
      if (found.toLowerCase() === coin.toLowerCase()) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The pool ${address} is not this exchange's on this network: its coin ${at} is ${found}, not ${coin}. Correct the plugin's pools.`,
      )
    }
  }
  return { calls, verify }
}

/** Deploys what it is sent behind a salt, the same on nearly every chain: https://github.com/Arachnid/deterministic-deployment-proxy. */
const proxy = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** The transaction that puts the router on a network, whoever sends it, and where it then is: the same everywhere. */
export const routerDeployment = {
  to: proxy,
  data: concat([ZeroHash, artifact.bytecode]),
  address: getCreate2Address(proxy, ZeroHash, keccak256(artifact.bytecode)),
}
