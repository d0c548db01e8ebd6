// What a kit makes of one kind of pool on Solana: the accounts that a pool is made of, the arithmetic of its program, and the swap.
import type { Pair, Pool, PoolMath } from '../../pools/protocol.ts'
import type { AccountKind, SolanaImageData, SolanaInstruction } from '../types.ts'
import type { ProgramVersions } from './program-versions.ts'
import type { Clock } from './swap-quote.ts'

/** Some accounts as they are after a slot, by address. Null where there is none. */
export type Accounts = ReadonlyMap<string, SolanaImageData | null>

/** The classes of pools that a program has: an account of configuration for each, of this kind, from which the address of the one pool of a pair is derived. */
export interface PoolClasses extends AccountKind {
  /** The account of the class of this number. */
  configOf(index: number): string
  poolOf(config: string, pair: Pair): string
}

/** One kind of pool, of one program: a swap passes one pool, as nothing carries what comes out of one to another exactly. Pure. */
export interface AccountPools<State = unknown> extends PoolMath<State> {
  readonly program: string
  /** The numbers of the errors by which the program says that the price has moved past the bound of a swap. */
  readonly slippageErrors?: readonly number[]
  /** Where quotes depend on which bytes the program has now; `parts` then names their header, too. */
  readonly versions?: ProgramVersions
  /** The accounts of pools that may exist between these pairs; each once. */
  places(pairs: readonly Pair[]): readonly string[]
  /** Where the program may have classes of pools that `places` does not know: what they are is read from the chain. */
  readonly classes?: PoolClasses
  /**
   * The accounts beside its own that a pool is made of, by what its own holds; at most 98. Undefined where that is no pool of this kind: owner,
   * discriminator or length are others.
   */
  parts(address: string, own: SolanaImageData): readonly string[] | undefined
  /** The pool of these accounts, its own and its parts. Null where one is missing or is not what it has to be, and where it is empty. */
  decode(address: string, accounts: Accounts): Pool<State> | null
  /**
   * A pool at a moment, where what it does depends on the cluster's clock: the same object while that changes nothing; null where it does not trade
   * then. Absent where no pool of the kind depends on it.
   */
  asOf?(pool: Pool<State>, clock: Clock): Pool<State> | null
  /** Why a pool is not quoted that is there, as words that follow "is left out: ". Absent where that is never known. */
  leftOut?(address: string, accounts: Accounts, clock: Clock): { readonly tokens: readonly string[]; readonly why: string } | undefined
  /**
   * The program's instruction of a swap through this pool alone, which pays and gives within the bound.
   * @param pool as it was quoted last: by this quote, or by a later one
   */
  instruction(pool: Pool<State>, swap: PoolSwap): SolanaInstruction
}

export interface PoolSwap {
  /** Mints. */
  readonly tokenIn: string
  readonly tokenOut: string
  readonly exact: 'in' | 'out'
  /** The exact side, and the bound of the other one: of 64 bits both. */
  readonly amountRaw: bigint
  readonly boundRaw: bigint
  /** The wallet, which signs, and its accounts of both tokens. */
  readonly owner: string
  readonly from: string
  readonly to: string
}

/** The words of the runtime for a program's own error, by its number. */
const errorOf = (program: string, number: number | string) => `${program}: custom program error: 0x${Number(number).toString(16)}`

/** What a trade that its program refuses means: the `refusals` of a connector. @param meanings by the numbers of the program's errors */
export const programRefusals = (program: string, meanings: Readonly<Record<number, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(meanings).map(([number, meaning]) => [errorOf(program, number), meaning]))

/** `slippageReasons` of the exchange. */
export const slippageReasonsOf = ({ protocols }: AccountExchange): readonly string[] => [
  ...new Set(protocols.flatMap(({ program, slippageErrors = [] }) => slippageErrors.map((number) => errorOf(program, number)))),
]

export interface AccountExchange {
  readonly protocols: readonly AccountPools[]
}
