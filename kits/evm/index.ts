// "sluice/evm": what chain and connector plugins of EVM chains are made with.
export { evmChain, evmChainPlugin } from './chain.ts'
export type { EvmChainTables, EvmNetworkTable } from './chain.ts'
export { addressWord, canonicalAddress, nativeAddress, quantityOf, word } from './encoding.ts'
export { evmChainSchema, multicall3 } from './network.ts'
export type { EvmChainConfig, EvmFeePolicy, EvmNetwork } from './network.ts'
export { opStackRollup } from './op-stack.ts'
export { evm } from './family.ts'
export type { Call, CallResult, Evm, EvmIntent, EvmLog, EvmReader, EvmReceipt, FoundLog, LogFilter, Probe } from './types.ts'
