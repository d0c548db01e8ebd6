// "sluice/pools": what exchanges made of pools share, and what a kit for another kind of pool implements.
export { listedVersions, networksIn } from './deployment.ts'
export { lender, trialAmount } from './fee-on-transfer.ts'
export { poolAMM } from './pool-amm.ts'
export { readBy } from './protocol.ts'
export type { Loan, Missing, Pair, Passage, Passed, Place, Pool, PoolExchange } from './protocol.ts'
export type { PoolMemory, PoolProtocol, PoolReading, Router } from './protocol.ts'
export { boundsOf, partsOf, swapPlan } from './swap-plan.ts'
export type { RoutePart } from './swap-plan.ts'
