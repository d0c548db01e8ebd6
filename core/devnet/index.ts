export { DevnetError } from './devnet-error.ts'
export { startDevnet, type Devnet, type DevnetOptions } from './start-devnet.ts'
/** The network that the devnet is, of the chain whose plugin brings its tokens. */
export const devnetNetwork = { chain: 'ethereum', network: 'local' } as const

export { tradingWallets } from './trading-wallets.ts'
