import type { At, Head, Fill, Json, Plan, Quote, SlippageReasons, SwapTerms, TakesPermit } from '../../core/contracts/index.ts'
import type { Call, CallResult, EvmIntent, EvmReader, FoundLog, Probe, Evm, EvmReceipt } from '../evm/types.ts'
import type { Pair, Pool, PoolMath, RouteTaker } from '../pools/protocol.ts'
import { poolsUnread } from './deployment.ts'

/** The calls that read pools, and how their results are read. Pure. */
export interface PoolReading<State, Found = Pool<State>> {
  readonly calls: readonly (Call | Probe)[]
  /** The pools that exist and hold something, at the block of this head. The results are in the order of the calls. */
  pools(results: readonly CallResult[], head?: Head): readonly Found[]
  /**
   * What a node left out because a call may use too little gas there: it is read at the same block, and gives all pools together. Undefined
   * where nothing is left. Without it, pools may have missing state.
   */
  rest?(results: readonly CallResult[]): PoolReading<State, Found> | undefined
}

/** Where a pool is, or would be. */
export interface Place {
  /** Of the pool, with checksum (EIP-55). */
  readonly address: string
}

/** How pools of a kind are kept in memory, and follow what their contracts log. Pure. */
export interface PoolMemory<State = unknown, At extends Place = Place> {
  /** Of all pools that may exist between these pairs; each once. */
  places(pairs: readonly Pair[]): readonly At[]
  /**
   * Reads those pools, in their order; null for one that does not exist or is empty. `missing`: state that swaps needed, of some of them.
   */
  read(places: readonly At[], missing: readonly unknown[]): PoolReading<State, Pool<State> | null>
  /** The first topics of all logs of changed or new pools. */
  readonly follow: readonly string[]
  /** Contracts besides the pools that log changes of them, in lower case. */
  readonly emitters?: readonly string[]
  /** False where the pools are no contracts, and the `emitters` log everything. */
  readonly poolsAreEmitters?: false
  /**
   * The addresses of the pools that a log is about, in lower case. Called for every such log of every block, including those of other
   * contracts. The result must not depend on earlier calls.
   */
  poolsOf(log: FoundLog): readonly string[]
  /**
   * The pool after a log in the block of this head. It shares the unchanged parts, and is the same object if nothing changed. `reload` if the
   * log does not contain the whole change.
   */
  apply(pool: Pool<State> | null, log: FoundLog, head: Head): Pool<State> | null | 'reload'
  /** Whether two states agree in the parts that both contain, after the block of this head; deep equality if absent. */
  same?(inMemory: Pool<State>, loaded: Pool<State>, head: Head): boolean
  /** What two states of the same block know together, where they agree; else the loaded one. The loaded one if absent. */
  join?(inMemory: Pool<State>, loaded: Pool<State>): Pool<State>
  /**
   * The pool after a block without logs, where it depends on the block or its time; null if it cannot swap. It must be the same object if
   * nothing changed, because results are cached by it.
   */
  asOf?(pool: Pool<State>, head: Head): Pool<State> | null
  /**
   * What swaps need to know of the block of this head besides its logs, and the pool does not have, as `missing` of a read: it is read once, when the
   * block comes of pools that were used a moment ago, else before the first answer of that block.
   */
  ofBlock?(pool: Pool<State>, head: Head): readonly unknown[]
}

/**
 * Creation code for `eth_call` that borrows `sentRaw` of a token from a pool and gives back what arrived. It returns
 * (bool measured, uint256 arrived, bool accepted, uint256 returned): whether the trial worked, what the borrower got,
 * whether the token could be given back, and what the pool got of it.
 */
export interface Loan {
  readonly code: string
  readonly sentRaw: bigint
}

/** One kind of pool: how it is read, and the arithmetic of its contracts. */
export interface PoolProtocol<State = unknown> extends PoolMath<State> {
  /** Reads all pools between these pairs, each once, and the state that earlier swaps found missing. */
  read(pairs: readonly Pair[], missing: readonly unknown[]): PoolReading<State>
  /** The pools between these tokens that stand in a configuration, by what identifies them. Absent where pools are found by their tokens alone. */
  listed?(pairs: readonly Pair[]): readonly string[]
  /** Absent where changes of pools are not logged. Then no pool of the exchange is quoted from memory. */
  readonly memory?: PoolMemory<State>
  /**
   * Lends a little of a token for a moment, to see whether transfers are exact. Absent or undefined where the pool lends none.
   * @param pool as it was read @param token the address of one of its tokens, spelt as in `pool.tokens` @returns what `lender` makes
   */
  loan?(pool: Pool<State>, token: string): Loan | undefined
}

/** A contract that trades along routes. */
export interface Router extends RouteTaker, TakesPermit<EvmIntent>, SlippageReasons {
  /** Its label among the connector's spenders: "v3". */
  readonly name: string
  /** The address of Permit2, where it takes tokens by that. */
  readonly permit2?: string
  plan(quote: Quote, terms: SwapTerms): Plan<Evm>
  /** The amounts that its swap really moved. Undefined if the receipt shows no swap, or if the memo is another router's. */
  fill(receipt: EvmReceipt, memo: Json): Fill | undefined
  /** Made once, with the first quote: checks that the configured contract trades with the pools that are read. */
  readonly check?: {
    readonly calls: readonly Call[]
    /** @throws SluiceError SERVICE_UNINITIALIZED if it does not */
    verify(answers: readonly CallResult[]): void
  }
}

/** What a kit makes of one exchange on one network: pools to quote from, and routers to trade through. */
export interface PoolExchange {
  readonly protocols: readonly PoolProtocol[]
  /** In order of preference, where several take a route. */
  readonly routers: readonly Router[]
}

/** Makes `PoolProtocol.read` of a `PoolMemory`: a single quote reads pools as the memory loads them. */
export const readBy =
  <State, At extends Place>(memory: PoolMemory<State, At>): PoolProtocol<State>['read'] =>
  (pairs, missing) =>
    mapReading(memory.read(memory.places(pairs), missing), (pools) => pools.filter((pool) => pool !== null))

/** The same reading, with something else made of what it finds. */
export const mapReading = <From, To, State>(
  { calls, pools, rest }: PoolReading<unknown, From>,
  convert: (found: readonly From[]) => readonly To[],
): PoolReading<State, To> => ({
  calls,
  pools: (results, head) => convert(pools(results, head)),
  ...(rest && {
    rest(results: readonly CallResult[]) {
      const left = rest(results)
      return left && mapReading<From, To, State>(left, convert)
    },
  }),
})

/** Two readings as one, of the same block. */
export function bothReadings<One, Other, Found>(
  one: PoolReading<unknown, One>,
  other: PoolReading<unknown, Other>,
  join: (one: readonly One[], other: readonly Other[], head: Head | undefined) => readonly Found[],
): PoolReading<unknown, Found> {
  const ofOne = (results: readonly CallResult[]) => results.slice(0, one.calls.length)
  const ofOther = (results: readonly CallResult[]) => results.slice(one.calls.length)
  return {
    calls: [...one.calls, ...other.calls],
    pools: (results, head) => join(one.pools(ofOne(results), head), other.pools(ofOther(results), head), head),
    rest(results) {
      const [leftOfOne, leftOfOther] = [one.rest?.(ofOne(results)), other.rest?.(ofOther(results))]
      if (!leftOfOne && !leftOfOther) return undefined
      return bothReadings(
        leftOfOne ?? { calls: [], pools: (_, head) => one.pools(ofOne(results), head) },
        leftOfOther ?? { calls: [], pools: (_, head) => other.pools(ofOther(results), head) },
        join,
      )
    },
  }
}

/** A node that needs more round trips lets calls use so little gas that a pool is not read in time. */
const maxRounds = 24

/** The pools of a reading, after the results of its calls: reads what is left of them at the same block. @throws SluiceError NETWORK */
export async function completeReading<Found>(
  reading: PoolReading<unknown, Found>,
  first: { readonly head: Head; readonly results: readonly CallResult[] },
  reader: Pick<EvmReader, 'read'>,
  at: At,
): Promise<readonly Found[]> {
  let [current, results] = [reading, first.results]
  for (let rounds = 0; rounds < maxRounds; rounds += 1) {
    const left = current.rest?.(results)
    if (!left) return current.pools(results, first.head)
    results = (await reader.read(left.calls, at, first.head)).results
    current = left
  }
  throw poolsUnread()
}

/** A pool after a block, with the changes that come with time. Null if it does not exist or cannot swap. */
export function poolAsOf({ protocol, pool }: { readonly protocol: PoolProtocol; readonly pool: Pool | null }, head: Head): Pool | null {
  return pool && protocol.memory?.asOf ? protocol.memory.asOf(pool, head) : pool
}
