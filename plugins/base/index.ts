import { evmChainPlugin, opStackRollup, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  ...opStackRollup(2),
  // EIP-7825, since Azul: https://docs.base.org/upgrades/azul/exec-engine
  maxGas: 16_777_216n,
}

export const networks = {
  mainnet: { ...shared, chainId: 8453, tokens: ['WETH', 'USDC', 'cbBTC', 'USDbC', 'AERO', 'VIRTUAL', 'DAI'] },
  sepolia: { ...shared, chainId: 84532, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'base', apiVersion: '1.0', networks, list })
