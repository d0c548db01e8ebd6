// "sluice/solana": what chain and connector plugins of Solana are made with.
export { addressBytes, addressFrom, derivedAddress, tokenAccountOf } from './addresses.ts'
export { canonicalAddress, nativeAddress } from './types.ts'
export { solanaChain } from './chain.ts'
export { solanaChainPlugin } from './chain.ts'
export type { SolanaChainTables } from './chain.ts'
export { solanaChainSchema } from './network.ts'
export type { SolanaChainConfig, SolanaFeePolicy, SolanaTipSetting } from './network.ts'
export { fromKit, toKit } from './types.ts'
export type { SolanaNetwork } from './network.ts'
export { fillOf } from './movements.ts'
export { swapAccounts, swapPlan, wrappedMint } from './swap-accounts.ts'
export type { SwapAccounts } from './swap-accounts.ts'
export { readLookupTable } from './lookup-tables.ts'
export { associatedAddress } from './tokens.ts'
export { heldIn, readMint, tokenProgram } from './tokens.ts'
export type { Mint } from './tokens.ts'
export { solana } from './family.ts'
export type {
  AccountKind,
  Solana,
  SolanaAccount,
  SolanaAccountUse,
  SolanaImage,
  SolanaImageData,
  SolanaInstruction,
  SolanaIntent,
  SolanaLookupTable,
  SolanaReader,
  SolanaReceipt,
} from './types.ts'
