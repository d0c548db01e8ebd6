import type { Interface, ListenerConfig } from 'sluice/interface'
import { allowancePaths } from './allowances.ts'
import { chainPaths } from './chains.ts'
import { configPaths } from './config.ts'
import { onOwnNetwork } from './defaults.ts'
import { showError } from './errors.ts'
import { generationPaths, notServedPaths } from './generations.ts'
import { liquidityChangePaths } from './liquidity.ts'
import { createNetworks, type HummingbotConfig } from './networks.ts'
import { pollPath } from './poll.ts'
import { poolPaths } from './pools.ts'
import { positionPaths } from './position-paths.ts'
import { quotePaths } from './quotes.ts'
import { rangeQuotePaths } from './range-quotes.ts'
import { rangePoolPaths } from './range-pools.ts'
import { sharePaths } from './shares.ts'
import { swapPaths } from './swaps.ts'
import { tokenPaths } from './tokens.ts'
import { walletPaths } from './wallets.ts'
import { wrapPaths } from './wraps.ts'

export function createInterface(config: HummingbotConfig & ListenerConfig): Interface {
  const networks = createNetworks(config)
  return {
    paths: [
      ...configPaths(networks),
      ...walletPaths(networks, config),
      ...chainPaths(networks),
      ...allowancePaths(networks, config),
      ...wrapPaths(networks, config),
      pollPath(networks),
      ...tokenPaths(networks),
      ...poolPaths(networks),
      ...quotePaths(networks),
      ...swapPaths(networks, config),
      ...rangePoolPaths(networks),
      ...rangeQuotePaths(networks),
      ...positionPaths(networks),
      ...liquidityChangePaths(networks, config),
      ...sharePaths(networks, config),
      ...notServedPaths(),
      ...generationPaths(),
    ].map(onOwnNetwork),
    showError,
  }
}
