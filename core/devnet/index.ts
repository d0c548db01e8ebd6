export { DevnetError } from './devnetError.ts'
export { startDevnet, type Devnet, type DevnetOptions } from './startDevnet.ts'
export { tradingWallets } from './tradingWallets.ts'
