import type { EvmNetwork } from '../../../kits/evm/network.ts'

/** What is true of every network of a rollup of the OP stack whose coin is ether. */
export function opStackRollup(blockSeconds: number) {
  return {
    nativeCurrency: 'ETH',
    blockSeconds,
    // A minute. What a sequencer that fails over loses has not reached layer 1, where its batches go every few minutes at most: seen are seconds.
    confirmations: 60 / blockSeconds,
    feeCapGwei: 100,
    rollup: 'op-stack',
  } satisfies Partial<EvmNetwork>
}
