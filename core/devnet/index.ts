export { DevnetError } from './devnet-error.ts'
export { startDevnet, type Devnet, type DevnetOptions } from './start-devnet.ts'
export { devnetNetwork } from './network.ts'
export { tradingWallets } from './trading-wallets.ts'
