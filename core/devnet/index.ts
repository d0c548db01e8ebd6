export { DevnetError } from './devnet-error.ts'
export type { Devnet } from './start-devnet.ts'
export { devnetNetwork } from './network.ts'
export { tradingWallets } from './trading-wallets.ts'
