import { algebra, algebraEvents } from 'sluice/algebra'
import { poolConnector } from 'sluice/pools'

// base: factory of QuickSwapV4 in AlgebraIntegralConfig of npm @paraswap/dex-lib 5.0.6. Pool deployer and hash are the factory's own poolDeployer()
// and POOL_INIT_CODE_HASH(), which the server compares before its first quote.
export const deployments = {
  'base/mainnet': {
    factory: '0xC5396866754799B9720125B104AE01d935Ab9C7b',
    poolDeployer: '0xE08026Fd8537d67C501199610c42D08bB34eAa75',
    initCodeHash: '0xa18736c3ee97fe3c96c9428c0cc2a9116facec18e84f95f9da30543f8238a782',
  },
  // This folder's devnet.ts: the pools of npm @cryptoalgebra/integral-core 1.2.10.
  'ethereum/local': {
    factory: '0xB250AeF3204eB5E8f540AC6327fa69b35DE63167',
    poolDeployer: '0x9aFFf70cd1B3A3d99E67cD7eBeE42f8531A5478e',
    initCodeHash: '0x62441ebe4e4315cf3d49d5957f94d66b253dbabe7006f34ad7f70947e60bf15c',
  },
}

export default poolConnector({ name: 'quickswap-v4', apiVersion: '1.0', deployments, events: algebraEvents }, (venue) =>
  algebra(venue, { deployments }),
)
