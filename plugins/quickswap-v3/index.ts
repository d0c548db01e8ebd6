import { algebra, algebraEvents } from 'sluice/algebra'
import { poolConnector } from 'sluice/pools'

// polygon: QuickSwapV3 in AlgebraConfig of npm @paraswap/dex-lib 5.0.6. The hash is that of the pools of npm @cryptoalgebra/v1-core 1.0.0.
export const deployments = {
  'polygon/mainnet': {
    factory: '0x411b0fAcC3489691f28ad58c47006AF5E3Ab3A28',
    poolDeployer: '0x2D98E2FA9da15aa6dC9581AB097Ced7af697CB92',
    initCodeHash: '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4',
  },
  // This folder's devnet.ts: the same pools.
  'ethereum/local': {
    factory: '0x0d0aeCa323509673Ac707f1eDA606979f5e0a3e1',
    poolDeployer: '0x8e21FEFa900da286077a78AcbD1777Dd7a2e26Ac',
    initCodeHash: '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4',
  },
}

export default poolConnector({ name: 'quickswap-v3', apiVersion: '1.0', deployments, events: algebraEvents }, (venue) =>
  algebra(venue, { kind: '1.0', deployments }),
)
