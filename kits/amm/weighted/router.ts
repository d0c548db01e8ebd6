import type { Fill, Json, Plan, Quote, SwapTerms, Token } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isSameAddress, nativeAddress } from '../../evm/encoding.ts'
import type { Evm, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { requireAddresses } from '../deployment.ts'
import type { Router } from '../protocol.ts'
import { swapPlan } from '../swap-plan.ts'
import { poolAddress } from './pools.ts'

// IVault of npm @balancer-labs/v2-deployments 3.2.0 (tasks/20210418-vault/abi/Vault.json).
const swapSignature =
  'event Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut)'

/** The events of the Vault. */
export const weightedEvents = [
  swapSignature,
  'event PoolBalanceChanged(bytes32 indexed poolId, address indexed liquidityProvider, address[] tokens, int256[] deltas, uint256[] protocolFeeAmounts)',
  'event InternalBalanceChanged(address indexed user, address indexed token, int256 delta)',
  'event FlashLoan(address indexed recipient, address indexed token, uint256 amount, uint256 feeAmount)',
] as const

const vaultAbi = abiOf([
  `function batchSwap(
    uint8 kind,
    (bytes32 poolId, uint256 assetInIndex, uint256 assetOutIndex, uint256 amount, bytes userData)[] swaps,
    address[] assets,
    (address sender, bool fromInternalBalance, address recipient, bool toInternalBalance) funds,
    int256[] limits,
    uint256 deadline
  ) payable returns (int256[] assetDeltas)`,
  'function getPool(bytes32 poolId) view returns (address, uint8)',
  'function WETH() view returns (address)',
  swapSignature,
])

/** The Vault takes swaps through all its pools. */
export function vaultRouter(version: string, vault: string, ids: readonly string[], wrapped: string): Router {
  const idByPool = new Map(ids.map((id) => [poolAddress(id), id]))
  const idOf = (pool: string): string => {
    const id = idByPool.get(pool)
    if (id === undefined) throw new Error(`The plugin lists no pool ${pool}.`)
    return id
  }
  const contract = `The configured Vault ${vault}`
  const expected = [
    { contract, view: 'WETH()', address: wrapped },
    ...ids.map((id) => ({
      contract,
      view: `getPool(${id})`,
      address: poolAddress(id),
      remedy: "Correct contractAddresses in the connector's configuration, or the list of pools in the plugin",
    })),
  ]
  return {
    address: vault,
    name: 'vault',
    // SWAP_LIMIT of BalancerErrors (npm @balancer-labs/v2-solidity-utils 4.0.0).
    slippageReasons: ['BAL#507'],
    carries: (versions) => versions.every((each) => each === version),
    plan: (quote, terms) => planSwap(quote, terms, idOf),
    fill: readFill,
    check: {
      get calls() {
        const pools = ids.map((id) => ({ to: vault, data: vaultAbi.encodeFunctionData('getPool', [id]) }))
        return [{ to: vault, data: vaultAbi.encodeFunctionData('WETH') }, ...pools]
      },
      verify: (answers) => requireAddresses(expected, answers),
    },
  }
}

/** SwapKind of IVault. */
const swapKind = { in: 0, out: 1 } as const

/** One call to the Vault, which enforces the bound and the deadline. The same call gives back the rest of the value. */
function planSwap(quote: Quote, terms: SwapTerms, idOf: (pool: string) => string): Plan<Evm> {
  const { route, spender: vault } = quote
  const { tokenIn, tokenOut, exact, amountRaw } = quote.swap
  const { boundRaw, recipient, deadline } = terms
  const inSwapOrder = <T>(list: readonly T[]): readonly T[] => (exact === 'in' ? list : list.toReversed())
  const hops = route.map(({ pool }, index) => ({
    poolId: idOf(pool),
    assetInIndex: index,
    assetOutIndex: index + 1,
    // The exact amount is that of the hop that is swapped first. The others take the amount of the one before.
    amount: index === (exact === 'in' ? 0 : route.length - 1) ? amountRaw : 0n,
    userData: '0x',
  }))
  const intermediates = route.slice(1).map((hop) => hop.tokenIn)
  const assets = [assetOf(tokenIn, route[0]?.tokenIn), ...intermediates, assetOf(tokenOut, route.at(-1)?.tokenOut)]
  const [maxInRaw, minOutRaw] = exact === 'in' ? [amountRaw, boundRaw] : [boundRaw, amountRaw]
  // From the trader's side: what may be taken is above 0, what must be given below.
  const limits = [maxInRaw, ...intermediates.map(() => 0n), -minOutRaw]
  // The Vault takes from its caller, whom the kernel names as the recipient.
  const funds = { sender: recipient, fromInternalBalance: false, recipient, toInternalBalance: false }
  const data = vaultAbi.encodeFunctionData('batchSwap', [swapKind[exact], inSwapOrder(hops), assets, funds, limits, deadline])
  const swaps = inSwapOrder(route.map((hop) => ({ poolId: idOf(hop.pool), tokenIn: hop.tokenIn, tokenOut: hop.tokenOut })))
  return swapPlan(quote, terms, { router: vault, data, memo: { vault, swaps, exact } })
}

/** The Vault wraps and unwraps the coin itself: the zero address stands for it. */
const assetOf = (token: Token, address = token.address) => (token.native ? nativeAddress : address)

const memoSwap = json.object({ poolId: json.string, tokenIn: json.string, tokenOut: json.string })
type MemoSwap = json.Infer<typeof memoSwap>

/** What `readFill` needs to find a swap in a receipt. `swaps` are in the Vault's order: backward for an exact output. */
const swapMemo = json.object({ vault: json.string, swaps: json.array(memoSwap), exact: json.literal('in', 'out') })

/**
 * What a swap really moved, from the Vault's logs. Undefined where the receipt shows no such swap. The Vault lets nobody in while it swaps and
 * pays, so its logs in a transaction that calls it are those of one batch, in order.
 */
function readFill({ status, logs }: EvmReceipt, memo: Json): Fill | undefined {
  if (status !== 1 || !json.is(swapMemo, memo)) return undefined
  const swaps = logs.filter(({ address }) => isSameAddress(address, memo.vault)).flatMap((log) => readSwapLog(log) ?? [])
  if (swaps.length !== memo.swaps.length || !swaps.every((swap, index) => isSameSwap(swap, memo.swaps[index]))) return undefined
  const [first, last] = memo.exact === 'in' ? [swaps.at(0), swaps.at(-1)] : [swaps.at(-1), swaps.at(0)]
  return first && last && { amountInRaw: first.amountInRaw, amountOutRaw: last.amountOutRaw }
}

type SwapLog = MemoSwap & Fill

function readSwapLog({ topics, data }: EvmLog): SwapLog | undefined {
  const swapEvent = vaultAbi.getEvent('Swap')
  if (!swapEvent || topics[0] !== swapEvent.topicHash || topics.length !== 4 || data.length !== 2 + 2 * 64) return undefined
  const [poolId, tokenIn, tokenOut, amountInRaw, amountOutRaw] = vaultAbi.decodeEventLog(swapEvent, data, topics)
  return { poolId, tokenIn, tokenOut, amountInRaw, amountOutRaw }
}

const isSameSwap = (log: MemoSwap, swap: MemoSwap | undefined) =>
  swap !== undefined &&
  isSameAddress(log.poolId, swap.poolId) &&
  isSameAddress(log.tokenIn, swap.tokenIn) &&
  isSameAddress(log.tokenOut, swap.tokenOut)
