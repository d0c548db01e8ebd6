/** The chain ids of the networks that connectors name, with or without a chain plugin. */
export const chainIds: Readonly<Record<string, number>> = {
  'ethereum/mainnet': 1,
  'ethereum/sepolia': 11155111,
  'arbitrum/mainnet': 42161,
  'avalanche/mainnet': 43114,
  'avalanche/fuji': 43113,
  'base/mainnet': 8453,
  'binance-smart-chain/mainnet': 56,
  'gnosis/mainnet': 100,
  'hyperliquid/mainnet': 999,
  'linea/mainnet': 59144,
  'monad/mainnet': 143,
  'optimism/mainnet': 10,
  'polygon/mainnet': 137,
  'robinhood/mainnet': 4663,
  'unichain/mainnet': 130,
  'worldchain/mainnet': 480,
}
