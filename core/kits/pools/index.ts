// "sluice/pools": what exchanges made of pools share, and what a kit for another kind of pool implements.
export type { PoolExchange } from './pool-exchange.ts'
export type { Missing, Pair, Passage, Passed, Pool, PoolProtocol, PoolReading } from './protocol.ts'
export type { Router } from './router.ts'
