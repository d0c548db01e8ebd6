import type { EvmNetworkTable } from 'sluice/evm'

// An Arbitrum Nitro chain on Ethereum: https://docs.robinhood.com/chain/differences-from-ethereum
export const networks = {
  mainnet: {
    chainId: 4663,
    nativeCurrency: 'ETH',
    tokens: ['WETH', 'USDG', 'cbBTC'],
    blockSeconds: 0.1,
    // One sequencer orders all and takes nothing back while it is honest: a minute outlasts a fail-over of its nodes.
    confirmations: 600,
    feeCapGwei: 100,
    // Nitro's: https://docs.arbitrum.io/build-decentralized-apps/reference/chain-params
    maxGas: 32_000_000n,
    gasPaysLayer1: true,
    // NUMBER is layer 1's block there. ArbSys.arbBlockNumber(): npm @arbitrum/nitro-contracts, src/precompiles/ArbSys.sol.
    blockNumberCall: { to: '0x0000000000000000000000000000000000000064', data: '0xa3b1b31d' },
  },
} satisfies Record<string, EvmNetworkTable>
