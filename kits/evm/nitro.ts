import type { EvmNetwork } from './network.ts'

/** What all chains of Arbitrum Nitro have in common whose native coin is ether. */
export function nitroChain(blockSeconds: number) {
  return {
    nativeCurrency: 'ETH',
    blockSeconds,
    // One sequencer orders all and takes nothing back while it is honest: a minute outlasts a fail-over of its nodes.
    confirmations: 60 / blockSeconds,
    feeCapGwei: 100,
    // https://docs.arbitrum.io/build-decentralized-apps/reference/chain-params
    maxGas: 32_000_000n,
    // https://docs.arbitrum.io/how-arbitrum-works/gas-fees
    gasPaysLayer1: true,
    // NUMBER is layer 1's block there. ArbSys.arbBlockNumber(): npm @arbitrum/nitro-contracts, src/precompiles/ArbSys.sol.
    blockNumberCall: { to: '0x0000000000000000000000000000000000000064', data: '0xa3b1b31d' },
  } satisfies Partial<EvmNetwork>
}
