import { Interface, AbiCoder, dataLength } from 'ethers'
import { type Plan, type Quote, type SwapTerms, type Fill, type Json, SluiceError } from '../../../core/contracts/index.ts'
import { nativeAddress } from '../../evm/encoding.ts'
import type { Evm, EvmLog, EvmReceipt, Call, CallResult } from '../../evm/types.ts'
import { swapPlan } from '../index.ts'
import { poolAddress } from './pools.ts'

// IVault of npm @balancer-labs/v2-deployments 3.2.0 (tasks/20210418-vault/abi/Vault.json).
const swapEvent =
  'event Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut)'

/** What the Vault emits. */
export const weightedEvents = [
  swapEvent,
  'event PoolBalanceChanged(bytes32 indexed poolId, address indexed liquidityProvider, address[] tokens, int256[] deltas, uint256[] protocolFeeAmounts)',
  'event InternalBalanceChanged(address indexed user, address indexed token, int256 delta)',
  'event FlashLoan(address indexed recipient, address indexed token, uint256 amount, uint256 feeAmount)',
] as const

const vaultAbi = new Interface([
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
  swapEvent,
])

/** SwapKind of IVault. */
const swapKind = { in: 0, out: 1 } as const

/** One call to the Vault, with the bound and the deadline enforced by it. What is left of the value comes back in the same call. */
export const planSwap = (quote: Quote, terms: SwapTerms, idOf: (pool: string) => string): Plan<Evm> =>
  swapPlan(quote, terms, { router: quote.spender, data: batchSwap(quote, terms, idOf), memo: memoOf(quote, idOf) })

function batchSwap({ swap, route }: Quote, { boundRaw, recipient, deadline }: SwapTerms, idOf: (pool: string) => string): string {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const hops = route.map(({ pool }, index) => ({
    poolId: idOf(pool),
    assetInIndex: index,
    assetOutIndex: index + 1,
    // Of the first that is swapped; of the others it is what the one before has given, or wants.
    amount: index === (exact === 'in' ? 0 : route.length - 1) ? amountRaw : 0n,
    userData: '0x',
  }))
  const between = route.slice(1).map((hop) => hop.tokenIn)
  const assets = [assetOf(tokenIn, route[0]?.tokenIn), ...between, assetOf(tokenOut, route.at(-1)?.tokenOut)]
  const [mostInRaw, leastOutRaw] = exact === 'in' ? [amountRaw, boundRaw] : [boundRaw, amountRaw]
  // From the trader's side: what may be taken is positive, what must be given negative.
  const limits = [mostInRaw, ...between.map(() => 0n), -leastOutRaw]
  // The Vault takes from who calls it, which is whom the kernel names as the recipient.
  const funds = { sender: recipient, fromInternalBalance: false, recipient, toInternalBalance: false }
  const swaps = exact === 'in' ? hops : hops.toReversed()
  return vaultAbi.encodeFunctionData('batchSwap', [swapKind[exact], swaps, assets, funds, limits, deadline])
}

/** The Vault wraps and unwraps the coin itself where it stands as the zero address. */
const assetOf = (token: { readonly native?: boolean; readonly address: string }, address = token.address) =>
  token.native ? nativeAddress : address

const swapEventOfFill = vaultAbi.getEvent('Swap')

/**
 * What a swap really moved, from the Vault's logs. Undefined where the receipt shows no such swap. The Vault lets nobody in
 * while it swaps and pays, so its logs of a transaction that calls it are those of one batch, in order.
 */
export function readFill({ status, logs }: EvmReceipt, memo: Json): Fill | undefined {
  const asked = parseMemo(memo)
  if (!asked || status !== 1) return undefined
  const swaps = logs.filter(({ address }) => same(address, asked.vault)).flatMap((log) => swapIn(log) ?? [])
  if (swaps.length !== asked.swaps.length || !swaps.every((swap, index) => isOf(swap, asked.swaps[index]))) return undefined
  const inOrder = asked.exact === 'in' ? swaps : swaps.toReversed()
  const [first, last] = [inOrder.at(0), inOrder.at(-1)]
  return first && last && { amountInRaw: first.amountInRaw, amountOutRaw: last.amountOutRaw }
}

type Swapped = SwapMemo['swaps'][number] & { readonly amountInRaw: bigint; readonly amountOutRaw: bigint }

function swapIn({ topics, data }: EvmLog): Swapped | undefined {
  if (!swapEventOfFill || topics[0] !== swapEventOfFill.topicHash || topics.length !== 4 || data.length !== 2 + 2 * 64) return undefined
  const [poolId, tokenIn, tokenOut, amountInRaw, amountOutRaw] = vaultAbi.decodeEventLog(swapEventOfFill, data, topics)
  return { poolId, tokenIn, tokenOut, amountInRaw, amountOutRaw }
}

const isOf = (swap: Swapped, asked: SwapMemo['swaps'][number] | undefined) =>
  asked !== undefined && same(swap.poolId, asked.poolId) && same(swap.tokenIn, asked.tokenIn) && same(swap.tokenOut, asked.tokenOut)

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** What `fill` needs to find a swap in a receipt. */
interface SwapMemo {
  readonly vault: string
  /** In the order in which the Vault swaps them: backward where the amount out is exact. */
  readonly swaps: readonly { readonly poolId: string; readonly tokenIn: string; readonly tokenOut: string }[]
  readonly exact: 'in' | 'out'
}

function memoOf({ swap: { exact }, route, spender }: Quote, idOf: (pool: string) => string): Json {
  const hops = route.map(({ pool, tokenIn, tokenOut }) => ({ poolId: idOf(pool), tokenIn, tokenOut }))
  return { vault: spender, swaps: exact === 'in' ? hops : hops.toReversed(), exact }
}

/** Undefined where it is no memo of such a swap. */
function parseMemo(memo: Json): SwapMemo | undefined {
  if (!isObject(memo)) return undefined
  const { vault, swaps, exact } = memo
  if (typeof vault !== 'string' || !Array.isArray(swaps) || (exact !== 'in' && exact !== 'out')) return undefined
  const parsed = swaps.map(parseSwap)
  return parsed.every((swap) => swap !== undefined) ? { vault, swaps: parsed, exact } : undefined
}

function parseSwap(swap: Json): SwapMemo['swaps'][number] | undefined {
  if (!isObject(swap)) return undefined
  const { poolId, tokenIn, tokenOut } = swap
  return typeof poolId === 'string' && typeof tokenIn === 'string' && typeof tokenOut === 'string'
    ? { poolId, tokenIn, tokenOut }
    : undefined
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Asks the configured Vault which coin it wraps, and whether it has the pools that are listed: the address of another
 * contract in the configuration, or a list of another network, would otherwise only show as pools that are missing.
 */
export function vaultCheck(vault: string, ids: readonly string[], wrapped: string) {
  const questions = [
    {
      what: 'its WETH()',
      data: vaultAbi.encodeFunctionData('WETH'),
      expected: wrapped,
      cure: 'Correct contractAddresses in the connector’s configuration',
    },
    ...ids.map((id) => ({
      what: `its getPool(${id})`,
      data: vaultAbi.encodeFunctionData('getPool', [id]),
      expected: poolAddress(id),
      cure: 'Correct contractAddresses in the connector’s configuration, or the list of pools in the plugin',
    })),
  ]
  const calls: readonly Call[] = questions.map(({ data }) => ({ to: vault, data }))

  const verify = (answers: readonly CallResult[]): void => {
    for (const [index, { what, expected, cure }] of questions.entries()) {
      const found = addressIn(answers[index])
      if (found?.toLowerCase() === expected.toLowerCase()) continue
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The configured ${vault} is not this exchange's Vault on this network: ${what} is ${found ?? 'nothing'}, not ${expected}. ${cure}.`,
      )
    }
  }
  return { calls, verify }
}

/** The first word; undefined where there is none. */
function addressIn(answer: CallResult | undefined): string | undefined {
  return answer?.ok && dataLength(answer.data) >= 32 ? String(AbiCoder.defaultAbiCoder().decode(['address'], answer.data)[0]) : undefined
}
