// Swaps. These clients send no key, and send a swap again when no answer came: what is signed for one is answered with its hash, and nothing else.
import { isLess } from 'sluice/decimal'
import { badFields, interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath, type Static } from 'sluice/interface'
import { connectorOf, everyConnector, typeIn, type PoolType } from './connectors.ts'
import { networkFields, type HummingbotConfig, type NamedNetwork, type Networks } from './networks.ts'
import { canonical, canonicalOf } from './numbers.ts'
import { feeOf, type PollAnswer } from './poll.ts'
import { readQuoteId, type QuotedTrade } from './quote-ids.ts'
import { bestPrice, juneFields, pathOfJune, QuoteFields } from './quotes.ts'
import { signedAnswer, signOnce, successOf, windowsOf } from './signed.ts'
import { walletKey, walletOf } from './wallets.ts'

const Swap = Type.Object({
  ...QuoteFields.properties,
  walletAddress: Type.Optional(Type.String({ maxLength: 256 })),
  address: Type.Optional(Type.String({ maxLength: 256, description: 'As walletAddress, in requests of 2.16.' })),
})
type Swap = Static<typeof Swap>

const QuotedSwap = Type.Object({
  ...networkFields,
  dex: Type.Optional(Type.String({ maxLength: 128 })),
  type: Type.Optional(Type.String({ maxLength: 128 })),
  walletAddress: Type.Optional(Type.String({ maxLength: 256 })),
  address: Type.Optional(Type.String({ maxLength: 256 })),
  quoteId: Type.String({ minLength: 1, maxLength: 4096 }),
})

const SwapAnswer = signedAnswer(
  Type.Object({
    tokenIn: Type.String(),
    tokenOut: Type.String(),
    amountIn: Type.String(),
    amountOut: Type.String(),
    fee: Type.String(),
    baseTokenBalanceChange: Type.String(),
    quoteTokenBalanceChange: Type.String(),
    slippagePct: Type.Optional(Type.String()),
    poolAddress: Type.Optional(Type.String()),
  }),
)
type SwapAnswer = Static<typeof SwapAnswer>

/** What is sent to /amm/trade. */
type Trade = QuotedTrade & { readonly address: string }

export function swapPaths(networks: Networks, config: HummingbotConfig): InterfacePath[] {
  const path = (name: string, summary: string, typeOf: (request: Swap) => PoolType) =>
    interfacePath({
      method: 'POST',
      path: name,
      summary,
      permission: 'trade',
      request: Swap,
      response: SwapAnswer,
      answer: async (request, call) => swap(request, { type: typeOf(request), networks, config, call }),
    })
  return [
    ...(['router', 'clmm', 'amm'] as const).map((type) =>
      path(
        `/trading/${type}/execute-swap`,
        type === 'router' ? 'Swaps at the price of one connector or the best of all.' : `Swaps through pools of the type ${type}.`,
        () => type,
      ),
    ),
    ...['/trading/router/execute-quote', '/connectors/:dex/:type/execute-quote'].map((name) =>
      interfacePath({
        method: 'POST',
        path: name,
        summary: 'Swaps as a quote said. A quote is one swap, however often it is sent.',
        permission: 'trade',
        request: QuotedSwap,
        response: SwapAnswer,
        answer: async (request, call) => swapQuote(request, { networks, config, call }),
      }),
    ),
    path('/trading/swap/execute', 'Swaps, as clients of 2.16 ask for it.', ({ connector = '' }) => typeIn(connector) ?? 'router'),
    interfacePath({
      method: 'POST',
      path: pathOfJune('execute-swap'),
      summary: 'Swaps, as hummingbot-api asked for it until July 2026.',
      permission: 'trade',
      request: Type.Object({ ...Swap.properties, ...juneFields }),
      response: SwapAnswer,
      answer: async ({ dex: connector, ...request }, call) => {
        const { chainNetwork } = networks.ofNetworkAlone(request)
        return swap({ ...request, chainNetwork, connector }, { type: 'router', networks, config, call })
      },
    }),
  ]
}

interface SwapParts {
  readonly type: PoolType
  readonly networks: Networks
  readonly config: HummingbotConfig
  readonly call: InterfaceCall
}

async function swap(request: Swap, { type, networks, config, call }: SwapParts): Promise<SwapAnswer> {
  const untilMs = performance.now() + config.receiptSeconds * 1000
  const on = networks.of(request)
  const { connector = everyConnector, baseToken, quoteToken, side, poolAddress, slippagePct } = request
  const address = await walletOf(request.walletAddress ?? request.address, on.chain, networks, call)
  const amount = canonical(request.amount)
  const fields = {
    on: on.chainNetwork,
    type,
    connector: connectorOf(connector),
    address: walletKey(address),
    baseToken,
    quoteToken,
    side,
    amount,
    poolAddress,
    slippagePct: canonicalOf(slippagePct),
  }
  return call.once(
    { fields, ...windowsOf(config, config.receiptSeconds) },
    async (): Promise<Trade> => ({ ...(await bestPrice({ ...request, amount }, type, on, call)).terms.trade, address }),
    async (key, trade) => traded(trade, key, { on, call, untilMs, request }),
  )
}

/** @throws SluiceError INCOMPLETE_PARAMS for a quote that is too old and was not executed */
async function swapQuote(request: Static<typeof QuotedSwap>, { networks, config, call }: Omit<SwapParts, 'type'>): Promise<SwapAnswer> {
  const untilMs = performance.now() + config.receiptSeconds * 1000
  const { trade, quotedAt } = readQuoteId(request.quoteId)
  const on = networks.ofOwn(trade)
  const address = await walletOf(request.walletAddress ?? request.address, on.chain, networks, call)
  return call.once(
    { fields: { quoteId: request.quoteId, address: walletKey(address) }, ...windowsOf(config, config.receiptSeconds), isOneForEver: true },
    async (): Promise<Trade> => {
      if (quotedAt + config.quoteSeconds * 1000 >= Date.now()) return { ...trade, address }
      throw badFields([{ field: 'quoteId', problem: `is older than ${config.quoteSeconds} s: ask for a new quote` }])
    },
    async (key, ordered) => traded(ordered, key, { on, call, untilMs, request: {} }),
  )
}

interface TradedParts {
  readonly on: NamedNetwork
  readonly call: InterfaceCall
  /** By `performance.now()`: the hash alone is answered then. */
  readonly untilMs: number
  readonly request: Pick<Swap, 'slippagePct' | 'poolAddress'>
}

/** @throws SluiceError what /amm/trade refuses with; TRADE_FAILED, only where it can never succeed */
async function traded(trade: Trade, key: string, { request, ...parts }: TradedParts): Promise<SwapAnswer> {
  const { call } = parts
  const { txHash: signature } = await signOnce(
    () => call.call('AMMTrade', trade, { key }).catch((error: unknown) => refused(error, trade)),
    call,
  )
  const found = await successOf(signature, parts)
  return found ? { signature, status: 1, ...dataOf(found, trade, request) } : { signature }
}

/** The connector `sluice` may take any exchange, at the next trade another one: what is missing is the approval of all. */
function refused(error: unknown, { connector }: Trade): never {
  if (!(error instanceof SluiceError) || error.name !== 'INSUFFICIENT_ALLOWANCE' || connector !== connectorOf(everyConnector)) throw error
  throw new SluiceError(error.name, error.message, { details: { ...Object(error.details), spenderName: connector }, cause: error })
}

/** A field that is not known would stop the client after its trade: then it gets none of them. */
function dataOf(
  { fill, txReceipt }: PollAnswer,
  { base, quote, side }: Trade,
  { slippagePct, poolAddress }: Pick<Swap, 'slippagePct' | 'poolAddress'>,
): Pick<SwapAnswer, 'data'> {
  const fee = feeOf(txReceipt)
  if (!fill || !('amountIn' in fill) || fee === undefined || !isLess('0', fill.amountIn) || !isLess('0', fill.amountOut)) return {}
  const { amountIn, amountOut } = fill
  const isSale = side === 'SELL'
  return {
    data: {
      tokenIn: isSale ? base : quote,
      tokenOut: isSale ? quote : base,
      amountIn,
      amountOut,
      fee,
      baseTokenBalanceChange: isSale ? `-${amountIn}` : amountOut,
      quoteTokenBalanceChange: isSale ? amountOut : `-${amountIn}`,
      ...(slippagePct !== undefined && { slippagePct }),
      ...(poolAddress !== undefined && { poolAddress }),
    },
  }
}
