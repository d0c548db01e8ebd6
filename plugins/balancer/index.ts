import { sharesConnector } from 'sluice/pools'
import { weighted, weightedEvents } from 'sluice/weighted'

// By network, the ids of weighted pools in the Vault: out of those that npm @balancer-labs/sdk 1.1.6 names for each network
// (constant POOLS). local: this folder's devnet.ts.
export const pools = {
  'ethereum/mainnet': [
    '0x5c6ee304399dbdb9c8ef030ab642b10820db8f56000200000000000000000014', // 80 BAL, 20 WETH
    '0xa6f548df93de924d73be7d25dc02554c6bd66db500020000000000000000000e', // 50 WBTC, 50 WETH
    '0x96646936b91d6b9d7d0c47c496afbf3d6ec7b6f8000200000000000000000019', // 50 USDC, 50 WETH
    '0x0b09dea16768f0799065c475be02919503cb2a3500020000000000000000001a', // 40 DAI, 60 WETH
    '0xe99481dc77691d8e2456e5f3f61c1810adfc1503000200000000000000000018', // 50 LINK, 50 WETH
    '0x186084ff790c65088ba694df11758fae4943ee9e000200000000000000000013', // 50 YFI, 50 WETH
    '0xefaa1604e82e1b3af8430b90192c1b9e8197e377000200000000000000000021', // 50 COMP, 50 WETH
    '0xf4c0dd9b82da36c07605df83c8a416f11724d88b000200000000000000000026', // 80 GNO, 20 WETH
  ],
  'arbitrum/mainnet': [
    '0x64541216bafffeec8ea535bb71fbc927831d0595000100000000000000000002', // WBTC, WETH, USDC.e
    '0xcc65a812ce382ab909a11e434dbf75b34f1cc59d000200000000000000000001', // BAL, WETH
  ],
  'polygon/mainnet': [
    '0x0297e37f1873d2dab4487aa67cd56b58e2f27875000100000000000000000002', // WPOL, USDC.e, WETH, BAL
    '0x03cd191f589d12b0582a99808cf19851e468e6b500010000000000000000000a', // WBTC, USDC.e, WETH
  ],
  'ethereum/local': [
    '0x0f3c182547c1eed8c1fcd14f3f5d1b5f49418898000100000000000000000000',
    '0xbc75ee184d888ec9b50082c3f14d9532b133fc7a000200000000000000000001',
    '0xb159de2e8f404906c222cc08ba0a4405277707b6000200000000000000000002',
    '0xc61c555120c1fde4ed50b99e8666e21b6e80e9ec000200000000000000000003',
  ],
}

export default sharesConnector({ name: 'balancer', apiVersion: '1.0', deployments: pools, events: weightedEvents }, (venue) =>
  weighted(venue, { pools }),
)
