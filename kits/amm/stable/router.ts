import { ZeroHash, concat, getCreate2Address, keccak256 } from 'ethers'
import { SluiceError, type Fill, type Hop, type Json, type Plan, type Quote, type SwapTerms } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isSameAddress, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Evm, EvmReceipt } from '../../evm/types.ts'
import { requireAddresses, requireNoRevert } from '../deployment.ts'
import type { Router } from '../protocol.ts'
import { swapPlan } from '../swap-plan.ts'
import artifact from './artifacts/StableRouter.json' with { type: 'json' }
import { coinCalls, type StablePool } from './pools.ts'

/** Deploys the code that it is sent behind a salt, at the same address on nearly every chain: https://github.com/Arachnid/deterministic-deployment-proxy. */
const deploymentProxy = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** The transaction that deploys the router, whoever sends it, and the router's address, which is the same on every network. */
export const routerDeployment = {
  to: deploymentProxy,
  data: concat([ZeroHash, artifact.bytecode]),
  address: getCreate2Address(deploymentProxy, ZeroHash, keccak256(artifact.bytecode)),
}

const terms = '(address tokenIn, address recipient, bool unwrap, uint256 deadline) terms'
const hop = '(address pool, int128 i, int128 j, address tokenOut)'

/** contracts/StableRouter.sol. */
export const routerAbi = abiOf([
  `function sell(${terms}, uint256 amountIn, uint256 leastOut, ${hop}[] hops) payable returns (uint256 amountOut)`,
  `function buy(${terms}, uint256 leastOut, uint256 likelyIn, uint256 mostIn, ${hop}[] hops) payable returns (uint256 amountIn, uint256 amountOut)`,
  'function stableRouter() view returns (uint256)',
  'event Swapped(address indexed sender, address indexed recipient, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut)',
])

/** A coin taken for another would be sold for the other's worth. */
export const expectedCoins = (pools: readonly StablePool[]) =>
  pools.flatMap((pool) =>
    pool.coins.map((coin, index) => ({
      contract: `The pool ${pool.address}`,
      view: `coin ${index}`,
      address: coin.address,
      remedy: "Correct the plugin's pools",
    })),
  )

export function stableRouter(version: string, address: string, pools: readonly StablePool[]): Router {
  const expected = expectedCoins(pools)
  return {
    address,
    name: version,
    // contracts/StableRouter.sol.
    slippageReasons: ['StableRouter: INSUFFICIENT_OUTPUT_AMOUNT', 'StableRouter: EXCESSIVE_INPUT_AMOUNT'],
    carries: (versions) => versions.every((each) => each === version),
    plan: (quote, terms) => planSwap(quote, terms, pools),
    fill: readFill,
    check: {
      get calls() {
        return [{ to: address, data: routerAbi.encodeFunctionData('stableRouter') }, ...pools.flatMap(coinCalls)]
      },
      verify([routerVersion, ...coins]) {
        const remedy = "correct routerAddress in the connector's configuration"
        requireNoRevert(`The configured router ${address}`, 'stableRouter()', routerVersion, remedy)
        // A call to an address without code would succeed and do nothing.
        if (!routerVersion?.ok || wordCount(routerVersion.data) !== 1 || wordAt(routerVersion.data, 0) !== 1n) {
          throw new SluiceError(
            'SERVICE_UNINITIALIZED',
            `There is no StableRouter at ${address} on this network. Deploy it, which anybody may (docs/bots/connectors.md says how), or correct routerAddress in the connector's configuration.`,
          )
        }
        requireAddresses(expected, coins)
      },
    },
  }
}

/** One call to the router, which enforces the bound and the deadline. */
function planSwap(quote: Quote, swapTerms: SwapTerms, pools: readonly StablePool[]): Plan<Evm> {
  const { swap, route, amountRaw: otherRaw, spender: router } = quote
  const { boundRaw, recipient, deadline } = swapTerms
  const hops = route.map((each) => encodedHop(each, pools))
  const encodedTerms = [route[0]?.tokenIn, recipient, swap.tokenOut.native === true, deadline]
  const data =
    swap.exact === 'in'
      ? routerAbi.encodeFunctionData('sell', [encodedTerms, swap.amountRaw, boundRaw, hops])
      : routerAbi.encodeFunctionData('buy', [encodedTerms, swap.amountRaw, otherRaw, boundRaw, hops])
  return swapPlan(quote, swapTerms, { router, data, memo: { router, recipient } })
}

function encodedHop({ pool: address, tokenIn, tokenOut }: Hop, pools: readonly StablePool[]) {
  const pool = pools.find((each) => each.address === address)
  const [from, to] = [tokenIn, tokenOut].map((token) => pool?.coins.findIndex((coin) => coin.address === token) ?? -1)
  if (from === -1 || to === -1) throw new Error(`The plugin lists no pool ${address} of ${tokenIn} and ${tokenOut}.`)
  return [address, from, to, tokenOut]
}

/** What `readFill` needs to find a swap in a receipt. */
const swapMemo = json.object({ router: json.string, recipient: json.string })

/** What a swap really moved, as the router logged it; undefined where the receipt shows none. */
function readFill({ status, from, logs }: EvmReceipt, memo: Json): Fill | undefined {
  if (status !== 1 || !json.is(swapMemo, memo)) return undefined
  const expected = routerAbi.encodeFilterTopics('Swapped', [from, memo.recipient])
  // A swap within a swap, which a token's own code could make, is logged first.
  const log = logs.findLast(
    ({ address, topics }) =>
      isSameAddress(address, memo.router) &&
      topics.length === expected.length &&
      topics.every((topic, index) => topic.toLowerCase() === String(expected[index]).toLowerCase()),
  )
  const parsed = log && routerAbi.parseLog({ topics: [...log.topics], data: log.data })
  return parsed ? { amountInRaw: BigInt(parsed.args['amountIn']), amountOutRaw: BigInt(parsed.args['amountOut']) } : undefined
}
