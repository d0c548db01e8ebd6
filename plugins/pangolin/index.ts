import { sharesConnector } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

// CHAINS[…].contracts.factory and INIT_CODE_HASH of npm @pangolindex/sdk 5.8.8.
const initCodeHash = '0x40231f6b438bce0797c9ada29b718a87ea0a5cea3fe9a771abdd76bd41a3e545'

export const deployments = {
  'avalanche/mainnet': { factory: '0xefa94DE7a4656D787667C749f7E1223D71E9FD88', initCodeHash },
  'avalanche/fuji': { factory: '0x2a496ec9e9bE22e66C61d4Eb9d316beaEE31A77b', initCodeHash },
  // This folder's devnet.ts: keccak256 of PangolinPair's creation code in npm @pangolindex/exchange-contracts 2.1.9, which
  // was compiled otherwise than what is on Avalanche.
  'ethereum/local': {
    factory: '0x2707E4Fd9104F8cDb961e94027e34d4D8CB576ff',
    initCodeHash: '0x1169430a09523b1aad7ce680744d548bd63c05ff5ea0d0783160ae7c15bac3f2',
  },
}

export default sharesConnector({ name: 'pangolin', apiVersion: '1.0', deployments }, (venue) =>
  uniswapV2(venue, { fee: [3n, 1000n], coin: 'AVAX', deployments }),
)
