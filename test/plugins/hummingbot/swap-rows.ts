// Quotes and swaps as clients of Hummingbot ask for them.
import { traders } from '../../http/shared-server.ts'
import { chainNetwork } from './bot.ts'
import { signed, within, type Row, type World } from './rows.ts'

const newer = { chainNetwork }
const pair = { baseToken: 'WETH', quoteToken: 'USDC', side: 'SELL' }
const swapped = {
  ...signed,
  ...within('data', { amountIn: 'decimal', amountOut: 'decimal', fee: 'decimal', tokenIn: 'text', tokenOut: 'text' }),
}
const quoted = { price: 'decimal', amountIn: 'decimal', amountOut: 'decimal', minAmountOut: 'decimal', maxAmountIn: 'decimal' } as const
const numbersOf = (reads: Row['reads']): Row['reads'] => Object.fromEntries(Object.keys(reads).map((name) => [name, 'number']))

const extras = { slippagePct: 0.5, walletAddress: traders, approximateIfNoExactOut: true, indicativePrice: false }

export const quotes = ({ clmm, amm }: World): readonly Row[] => [
  {
    method: 'GET',
    path: '/trading/router/quote-swap',
    fields: { ...newer, ...pair, ...extras, amount: 0.01 },
    reads: {
      ...quoted,
      quoteId: 'text',
      priceImpactPct: 'decimal',
      slippagePct: 'decimal',
      tokenIn: 'text',
      tokenOut: 'text',
      routePath: 'text',
    },
  },
  {
    method: 'GET',
    path: '/trading/router/quote-swap',
    fields: { ...newer, ...pair, side: 'BUY', amount: '1E-2', connector: 'sluice' },
    reads: quoted,
  },
  ...(
    [
      ['clmm', clmm],
      ['amm', amm],
    ] as const
  ).map(([type, poolAddress]): Row => ({
    method: 'GET',
    path: `/trading/${type}/quote-swap`,
    fields: { ...newer, ...pair, amount: 0.01, connector: 'uniswap', poolAddress },
    reads: { ...quoted, poolAddress: 'text' },
  })),
  {
    method: 'GET',
    path: '/connectors/uniswap/router/quote-swap',
    fields: { network: 'local', ...pair, amount: 0.01, slippagePct: 1 },
    reads: { ...numbersOf(quoted), quoteId: 'text' },
  },
  {
    method: 'GET',
    path: '/trading/swap/quote',
    fields: { ...newer, ...pair, amount: 0.01, connector: 'uniswap/clmm', slippagePct: 1 },
    reads: numbersOf(quoted),
  },
]

export async function swaps({ clmm, amm, quoteId }: World): Promise<readonly Row[]> {
  const swap = { ...newer, ...pair, amount: 0.01, walletAddress: traders, connector: 'uniswap' }
  const execute = async (path: string, fields: object): Promise<Row> => ({
    method: 'POST',
    path,
    fields: { walletAddress: traders, quoteId: await quoteId(), ...fields },
    reads: swapped,
  })
  return [
    {
      method: 'POST',
      path: '/trading/router/execute-swap',
      fields: { ...swap, slippagePct: 0.9, approximateIfNoExactOut: true },
      reads: swapped,
    },
    {
      method: 'POST',
      path: '/trading/clmm/execute-swap',
      fields: { ...swap, poolAddress: clmm },
      reads: { ...swapped, 'data.poolAddress': 'text' },
    },
    { method: 'POST', path: '/trading/amm/execute-swap', fields: { ...swap, poolAddress: amm }, reads: swapped },
    {
      method: 'POST',
      path: '/trading/router/execute-swap',
      fields: { ...swap, side: 'BUY', baseToken: 'USDC', quoteToken: 'WETH', amount: 20 },
      reads: swapped,
    },
    {
      method: 'POST',
      path: '/connectors/uniswap/router/execute-swap',
      fields: { network: 'local', ...pair, amount: 0.01, walletAddress: traders },
      reads: swapped,
    },
    { method: 'POST', path: '/trading/swap/execute', fields: { ...swap, connector: 'uniswap/amm', maxRetries: 10 }, reads: swapped },
    await execute('/trading/router/execute-quote', { ...newer, connector: 'uniswap' }),
    await execute('/connectors/uniswap/router/execute-quote', { network: 'local' }),
  ]
}
