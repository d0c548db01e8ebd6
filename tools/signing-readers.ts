// By connector of the release and contract, how the signer reads calls of it: the name of a reader of core/wallet/calls, or why it has none.
// `npm run signing` writes it into signing.json. test/wallet/calls/released.test.ts holds it against all contracts and methods of the release.
import type { ReleasePolicy } from '../core/wallet/release-policy.ts'

export interface NoReader {
  readonly unread: string
}

const v2 = { v2RouterAddress: 'v2-router' }
const solanaProgram = { programAddress: { unread: 'what a program of Solana moves is not in the bytes of its instruction' } }
const v3 = { positionManagerAddress: 'v3-positions' }

export const signingReaders: Readonly<Record<string, Readonly<Record<string, string | NoReader>>>> = {
  balancer: { routerAddress: 'balancer-vault' },
  'camelot-v4': { routerAddress: 'algebra-router' },
  curve: {
    routerAddress: 'stable-router',
    exchangeRouterAddress: 'curve-router',
    '3poolAddress': 'stable-pool',
    susdAddress: 'stable-pool',
    eursAddress: 'stable-pool',
    linkAddress: 'stable-pool',
  },
  hyperliquid: { coreDepositWallet: { unread: 'a deposit does not name the token that it takes' } },
  meteora: solanaProgram,
  oasis: { routerAddress: 'matching-market' },
  pancakeswap: { ...v2, ...v3, v3RouterAddress: 'v3-router-02' },
  pangolin: { routerAddress: 'v2-router' },
  perp: { routerAddress: 'perp-house', vaultAddress: 'perp-vault' },
  poolswap: solanaProgram,
  quickswap: { routerAddress: 'v2-router' },
  'quickswap-v3': { routerAddress: 'algebra-v1-router' },
  'quickswap-v4': { routerAddress: 'algebra-router' },
  raydium: solanaProgram,
  sushiswap: { ...v2, ...v3, v3RouterAddress: 'v3-router' },
  traderjoe: { routerAddress: 'v2-router' },
  uniswap: {
    ...v2,
    ...v3,
    v3RouterAddress: 'v3-router-02',
    permit2Address: 'permit2',
    v4RouterAddress: 'universal-router',
    v4PositionManagerAddress: 'v4-positions',
  },
}

/** By connector, the typed data whose amounts the signer reads. */
export const signedActions: Readonly<Record<string, NonNullable<ReleasePolicy['connectors'][string]['signedActions']>>> = {
  hyperliquid: ['Withdraw', 'UsdClassTransfer'].map((name) => ({
    domain: 'HyperliquidSignTransaction',
    primaryType: `HyperliquidTransaction:${name}`,
    ...(name === 'Withdraw' && { amountField: 'amount' }),
    // `HyperliquidChainSchema` of @nktkas/hyperliquid@0.31.0.
    networkField: 'hyperliquidChain',
    networks: { 'hyperliquid/mainnet': 'Mainnet', 'hyperliquid/testnet': 'Testnet', 'hyperliquid/local': 'Testnet' },
  })),
}

/** Methods and ways of calling them that the connectors use, and the signer does not read. */
export const unreadMethods: Readonly<Record<string, string>> = {
  increaseLiquidity: 'it names a position and not its tokens; a new position is read',
  add_liquidity: 'it does not name the tokens of the pool',
}

/** The readers of a connector's contracts, as signing.json has them. */
export const readersOf = (connector: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(signingReaders[connector] ?? {}).flatMap(([contract, reader]) =>
      typeof reader === 'string' ? [[contract, reader]] : [],
    ),
  )
