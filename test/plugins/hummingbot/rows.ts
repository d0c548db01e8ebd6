// What clients of Hummingbot 2.16 and 2.17 and of hummingbot-api ask, row by row, and what of each answer they read in which type.
import { traders } from '../../http/shared-server.ts'
import type { ClientName } from './shared-server.ts'
import { chainNetwork, type Bot } from './bot.ts'

/** What a client does with a field: `decimal` is decimal text, `number` is calculated with as it is, `either` goes through text. */
export type Reads = 'text' | 'decimal' | 'number' | 'either' | 'list' | 'object' | 'number or null' | 'null' | 'boolean'

/** What there is on the server. */
export interface World {
  readonly weth: string
  readonly usdc: string
  readonly clmm: string
  readonly amm: string
  /** Of a transaction that is mined. */
  readonly signature: string
  /** A new one each time. */
  quoteId(): Promise<string>
  readonly bot: Bot
}

export interface Row {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** Of the query, or of the body. Numbers are sent as they are and as text. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Beside a body. */
  readonly query?: Readonly<Record<string, string>>
  /** By dotted names; of a list the first entry is looked at. */
  readonly reads: Readonly<Record<string, Reads>>
  /** Absent: `client`. */
  readonly as?: ClientName
  /** Refused with this status, and with these words. */
  readonly refused?: readonly [number, RegExp]
}

const local = { network: 'local', address: traders }
export const within = (name: string, reads: Row['reads']): Row['reads'] =>
  Object.fromEntries(Object.entries(reads).map(([field, kind]) => [`${name}.${field}`, kind]))
export const signed = { signature: 'text', status: 'number' } as const
export const service: readonly Row[] = [
  { method: 'GET', path: '/', reads: { status: 'text' } },
  { method: 'POST', path: '/restart', reads: {} },
  { method: 'GET', path: '/config', reads: { ethereum: 'object', [chainNetwork]: 'object', 'uniswap.slippagePct': 'number' } },
  { method: 'GET', path: '/config', fields: { namespace: 'ethereum' }, reads: { defaultNetwork: 'text', defaultWallet: 'text' } },
  {
    method: 'GET',
    path: '/config',
    fields: { namespace: chainNetwork },
    reads: { nativeCurrencySymbol: 'text', swapProvider: 'text', nodeURL: 'text' },
  },
  { method: 'GET', path: '/config', fields: { namespace: 'uniswap' }, reads: { slippagePct: 'number' } },
  { method: 'GET', path: '/config', fields: { namespace: 'apiKeys' }, reads: {} },
  {
    method: 'POST',
    path: '/config/update',
    as: 'tuner',
    fields: { namespace: 'uniswap', path: 'slippagePct', value: 0.75 },
    reads: { message: 'text' },
  },
  { method: 'GET', path: '/config/chains', reads: { chains: 'list', 'chains.chain': 'text', 'chains.networks': 'list' } },
  {
    method: 'GET',
    path: '/config/connectors',
    reads: { connectors: 'list', ...within('connectors', { name: 'text', chain: 'text', trading_types: 'list', networks: 'list' }) },
  },
  { method: 'GET', path: '/config/namespaces', reads: { namespaces: 'list' } },
]

export const wallets: readonly Row[] = [
  {
    method: 'GET',
    path: '/wallet',
    fields: { showHardware: 'true' },
    reads: { chain: 'text', walletAddresses: 'list', hardwareWalletAddresses: 'object' },
  },
  {
    method: 'POST',
    path: '/wallet/add',
    fields: { chain: 'ethereum', privateKey: `0x${'12'.repeat(32)}`, setDefault: true },
    reads: {},
    refused: [403, /no private keys.*is not stored.*sluice wallet add --chain/],
  },
  {
    method: 'POST',
    path: '/wallet/add-hardware',
    fields: { chain: 'ethereum', address: traders, setDefault: false },
    reads: {},
    refused: [403, /hardware wallet.*wallet\.keySources/],
  },
  {
    method: 'DELETE',
    path: '/wallet/remove',
    fields: { chain: 'ethereum', address: traders },
    reads: {},
    refused: [403, /sluice wallet remove/],
  },
  {
    method: 'POST',
    path: '/wallet/setDefault',
    as: 'tuner',
    fields: { chain: 'ethereum', address: traders },
    reads: { message: 'text', chain: 'text', address: 'text' },
  },
]

export const chains: readonly Row[] = [
  {
    method: 'GET',
    path: '/chains/ethereum/status',
    fields: { network: 'local' },
    reads: {
      chain: 'text',
      network: 'text',
      rpcUrl: 'text',
      rpcProvider: 'text',
      currentBlockNumber: 'number',
      nativeCurrency: 'text',
      swapProvider: 'text',
    },
  },
  {
    method: 'GET',
    path: '/chains/ethereum/estimate-gas',
    fields: { network: 'local' },
    reads: {
      fee: 'number',
      feeAsset: 'text',
      feePerComputeUnit: 'number',
      denomination: 'text',
      computeUnits: 'number',
      timestamp: 'number',
    },
  },
  {
    method: 'POST',
    path: '/chains/ethereum/balances',
    fields: { ...local, tokens: ['WETH', 'ETH'] },
    reads: within('balances', { WETH: 'number', ETH: 'number' }),
  },
  {
    method: 'POST',
    path: '/chains/ethereum/balances',
    fields: { ...local, tokens: [], fetchAll: true },
    reads: within('balances', { ETH: 'number' }),
  },
  {
    method: 'POST',
    path: '/chains/ethereum/allowances',
    fields: { ...local, tokens: ['WETH'], spender: 'uniswap/router' },
    reads: { spender: 'text', 'approvals.WETH': 'either' },
  },
  {
    method: 'POST',
    path: '/chains/ethereum/approve',
    fields: { ...local, token: 'WETH', spender: 'uniswap', amount: 100 },
    reads: { ...signed, ...within('data', { tokenAddress: 'text', spender: 'text', amount: 'decimal', nonce: 'number', fee: 'decimal' }) },
  },
  ...(['wrap', 'unwrap'] as const).map((how): Row => ({
    method: 'POST',
    path: `/chains/ethereum/${how}`,
    fields: { ...local, amount: how === 'wrap' ? 1 : 0.25 },
    reads: {
      ...signed,
      ...within('data', { fee: 'decimal', amount: 'decimal', wrappedAddress: 'text', nativeToken: 'text', wrappedToken: 'text' }),
    },
  })),
]

export const polls = ({ signature }: World): readonly Row[] => [
  {
    method: 'POST',
    path: '/chains/ethereum/poll',
    fields: { network: 'local', signature },
    reads: { signature: 'text', txStatus: 'number', fee: 'number or null', error: 'null', currentBlock: 'number', txBlock: 'number' },
  },
]
