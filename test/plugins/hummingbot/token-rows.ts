// What clients of Hummingbot ask about tokens and pools, in 2.17 by one word for a network, in 2.16 by two.
import { chainNetwork } from './bot.ts'
import { within, type Row, type World } from './rows.ts'

const older = { chain: 'ethereum', network: 'local' }
const newer = { chainNetwork }
const token = { symbol: 'text', address: 'text', decimals: 'number', name: 'text' } as const
const pool = {
  connector: 'text',
  type: 'text',
  network: 'text',
  baseSymbol: 'text',
  quoteSymbol: 'text',
  baseTokenAddress: 'text',
  quoteTokenAddress: 'text',
  feePct: 'decimal',
  address: 'text',
} as const

export const tokens = ({ weth, usdc }: World): readonly Row[] =>
  [newer, older].flatMap((on): Row[] => [
    { method: 'GET', path: '/tokens', fields: on, reads: { tokens: 'list', ...within('tokens', token) } },
    { method: 'GET', path: '/tokens', fields: { ...on, search: 'weth' }, reads: within('tokens', token) },
    { method: 'GET', path: '/tokens/WETH', fields: on, reads: { ...within('token', token), chainNetwork: 'text' } },
    { method: 'GET', path: `/tokens/${weth}`, fields: on, reads: within('token', token) },
    { method: 'GET', path: `/tokens/find/${weth}`, fields: on, reads: token },
    {
      method: 'POST',
      path: '/tokens',
      as: 'lister',
      fields: { ...on, token: { address: weth, symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 } },
      reads: { message: 'text', ...within('token', token) },
    },
    {
      method: 'POST',
      path: `/tokens/save/${weth}`,
      as: 'lister',
      query: newer,
      fields: {},
      reads: { message: 'text', ...within('token', token) },
    },
    {
      method: 'POST',
      path: '/tokens',
      as: 'lister',
      fields: { ...on, token: { address: usdc, symbol: 'WETH', decimals: 6 } },
      reads: {},
      refused: [400, /is on the list as USDC/],
    },
    {
      method: 'POST',
      path: '/tokens',
      as: 'lister',
      fields: { ...on, token: { address: weth, symbol: 'WETH', decimals: 6 } },
      reads: {},
      refused: [400, /decimals/],
    },
    { method: 'POST', path: '/tokens', fields: { ...on, token: { address: weth } }, reads: {}, refused: [403, /admin/] },
    // What is taken out and added again could get another meaning.
    {
      method: 'DELETE',
      path: `/tokens/${weth}`,
      fields: on,
      query: newer,
      reads: {},
      refused: [403, /the operator of this server takes tokens out/],
    },
  ])

export const pools = ({ weth, usdc, clmm }: World): readonly Row[] =>
  [newer, older].flatMap((on): Row[] => [
    { method: 'GET', path: '/pools', fields: on, reads: pool },
    { method: 'GET', path: '/pools', fields: { ...on, connector: 'uniswap', type: 'clmm' }, reads: pool },
    { method: 'GET', path: '/pools', fields: { ...on, search: 'WETH-USDC', connector: 'uniswap', type: 'clmm' }, reads: pool },
    { method: 'GET', path: '/pools/WETH-USDC', fields: { ...on, connector: 'uniswap', type: 'amm' }, reads: pool },
    {
      method: 'GET',
      path: '/pools/find',
      fields: { ...on, tokenA: 'WETH', tokenB: 'USDC', connector: 'uniswap', type: 'clmm', pages: '1' },
      reads: pool,
    },
    { method: 'GET', path: `/pools/find/${clmm}`, fields: on, reads: pool },
    {
      method: 'POST',
      path: '/pools',
      fields: {
        ...on,
        connector: 'uniswap',
        type: 'clmm',
        address: clmm,
        baseTokenAddress: weth,
        quoteTokenAddress: usdc,
        baseSymbol: 'WETH',
        quoteSymbol: 'USDC',
        feePct: 0.05,
      },
      reads: { message: 'text' },
    },
    ...[{ baseTokenAddress: clmm }, { type: 'amm' }].map((told): Row => ({
      method: 'POST',
      path: '/pools',
      fields: { ...on, connector: 'uniswap', address: clmm, ...told },
      reads: {},
      refused: [400, /the pool 0x/],
    })),
    { method: 'POST', path: `/pools/save/${clmm}`, query: newer, fields: {}, reads: { message: 'text', ...within('pool', pool) } },
    ...['/trading/clmm/create-pool', '/trading/amm/create-pool', '/connectors/uniswap/clmm/create-pool'].map((path): Row => ({
      method: 'POST',
      path,
      fields: { ...on, connector: 'uniswap', walletAddress: clmm, baseToken: 'WETH', quoteToken: 'USDC', initialPrice: 3000 },
      reads: {},
      refused: [501, /^create-pool is not served.*Nothing was signed/],
    })),
    ...['/trading/clmm/fetch-pools', '/connectors/uniswap/clmm/fetch-pools'].map((path): Row => ({
      method: 'GET',
      path,
      fields: { ...on, connector: 'meteora', limit: 10 },
      reads: {},
      refused: [501, /^fetch-pools is not served.*\/pools\?search/],
    })),
    { method: 'DELETE', path: `/pools/${clmm}`, fields: { ...on, type: 'clmm' }, query: newer, reads: { message: 'text' } },
  ])
