import { algebra, algebraEvents } from 'sluice/algebra'
import { poolConnector } from 'sluice/pools'

// arbitrum: AlgebraFactory of AMMv4 on https://docs.camelot.exchange/contracts/arbitrum/one-mainnet, whose CodePairHash is the hash. Pool deployer and
// hash: POOL_DEPLOYER_ADDRESSES and POOL_INIT_CODE_HASH of npm @cryptoalgebra/camelot-integral-sdk 1.0.0.
export const deployments = {
  'arbitrum/mainnet': {
    factory: '0xBefC4b405041c5833f53412fF997ed2f697a2f37',
    poolDeployer: '0x34F74F5217D57223B51E51245769a89874c69bd2',
    initCodeHash: '0xb3fc09be5eb433d99b1ec89fd8435aaf5ffea75c1879e19028aa2414a14b3c85',
  },
  // This folder's devnet.ts: the pools of npm @cryptoalgebra/integral-core 1.2.10.
  'ethereum/local': {
    factory: '0xE2d3F73Be7B506F62F9121399d181cF707d4354C',
    poolDeployer: '0x527d8C98326B0F376831de5f6DD2e5741d254EeB',
    initCodeHash: '0x62441ebe4e4315cf3d49d5957f94d66b253dbabe7006f34ad7f70947e60bf15c',
  },
}

export default poolConnector({ name: 'camelot-v4', apiVersion: '1.0', deployments, events: algebraEvents }, (venue) =>
  algebra(venue, { deployments }),
)
