// "sluice/pools": what exchanges made of pools share, and what a kit for another kind of pool implements.
export { listedVersions } from './listed-versions.ts'
export { networksIn } from './networks-in.ts'
export { poolAMM } from './pool-amm.ts'
export { lender } from './exact-transfers/loan.ts'
export { trialAmount } from './exact-transfers/trial.ts'
export type { PoolExchange } from './pool-exchange.ts'
export type { Loan, Missing, Pair, Passage, Passed, Pool, PoolProtocol, PoolReading } from './protocol.ts'
export type { Router } from './router.ts'
