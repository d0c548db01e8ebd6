// "sluice/solana-pools": what exchanges made of pools on Solana are made with.
export { dataOf, vaultHolds } from './account-data.ts'
export type { AccountLayout } from './account-data.ts'
export { accountsAMM } from './pool-amm.ts'
export type { AccountExchange, AccountPools, Accounts, PoolProgram } from './protocol.ts'
export type { Estimate, Missing, Pair, Passage, Passed, Pool, PoolMath, RateBound, RouteTaker } from '../../pools/protocol.ts'
