import type { Fill, Json, Plan, Quote, Swap, SwapTerms } from '../../contracts/index.ts'
import type { Call, CallResult, Evm, EvmReceipt } from '../../../kits/evm/types.ts'

/** A contract that takes swaps along routes. */
export interface Router {
  readonly address: string
  /** Its label among the connector's spenders: "v3". */
  readonly name: string
  /** Whether it can carry out a route through pools of these versions, in this order. */
  carries(versions: readonly string[], exact: 'in' | 'out'): boolean
  /**
   * Whether it can carry out several routes of these versions at once, all or nothing: quotes then have `parts`. Of a single one: whether it
   * may be one of several. Absent: never.
   */
  splits?(parts: readonly (readonly string[])[], swap: Pick<Swap, 'tokenIn' | 'tokenOut' | 'exact'>): boolean
  plan(quote: Quote, terms: SwapTerms): Plan<Evm>
  /** What its own swap gave; undefined where the receipt shows none, or the memo is another router's. */
  fill(receipt: EvmReceipt, memo: Json): Fill | undefined
  /** Asked once, with the first quote: whether the configured contract trades with the pools that are read. */
  readonly check?: {
    readonly calls: readonly Call[]
    /** @throws SluiceError SERVICE_UNINITIALIZED where it does not */ verify(answers: readonly CallResult[]): void
  }
}
