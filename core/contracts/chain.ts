import type { At, Head, Json, Life, Log, Token, Types } from './family.ts'
import type { Plan, GasTerms, Rail } from './rail.ts'
import type { WalletHistory } from './wallet-history.ts'

export interface Transaction<F extends Types = Types> {
  tx: Json
  receipt: F['receipt'] | null
  /** Absent until mined. */
  blockNumber?: number
  /** Pays enough for the next block; only said of pending ones. */
  pays?: boolean
}

/** The events that are read of blocks. */
export interface Interest {
  /** As `Followed.follow` and `followOf` have it. */
  readonly follow: readonly string[]
  /**
   * All contracts that can emit events about what is followed, for nodes that return events of named contracts only; undefined where
   * unknown.
   */
  from?(): readonly string[] | undefined
}

/** A block, and its events that are followed, in their order. */
export interface HeadChanges<F extends Types = Types> {
  readonly head: Head
  readonly changes: readonly F['change'][]
  /** The contracts whose events are included, as `Interest.from` named them; absent where those of all contracts are. */
  readonly from?: readonly string[]
}

/** The state of one node of a network, for metrics and people. */
export interface NodeState {
  /** Without its secrets. */
  url: string
  /** "good", or why another one is preferred or needed: "slow", "shaky", "lagging", "forked", "unchecked", "unreachable", … */
  state: string
  /** Whether it is the node that is asked now. */
  inUse: boolean
  /** False for a node that only takes transactions. */
  reads: boolean
  /** 0 to 1, over the most recent requests. */
  errorRate: number
  latencyMs?: number
  headNumber?: number
  /** Behind the best of the others. */
  lagBlocks?: number
  /** Why the node is not used; absent once it is used again. */
  trouble?: string
  /** What it was found to take at most: calls of a batch (`batch`), and by method blocks of a range of logs or characters of calldata. */
  limits?: Readonly<Record<string, number>>
}

/** One network of a chain. */
export interface Chain<F extends Types = Types> extends Life {
  /** The number by which wallets and token lists know the network. */
  readonly chainId: number
  readonly nativeCurrency: Token
  /** Addresses that are no contracts of tokens and by which lists and callers name the native coin. Absent: there are none. */
  readonly coinAddresses?: readonly F['address'][]
  readonly reader: F['reader']
  readonly rail: Rail<F['intent'], F['address']>
  /** A local network may use well-known keys. */
  readonly local: boolean
  /** The maximum that a caller may offer per gas, in smallest units. */
  readonly feeCapRaw: bigint
  readonly confirmations: number
  /** How long an underpriced transaction waits before its fees are raised. */
  readonly bumpAfterSeconds: number
  /** The settings of the network as they are in force, with defaults, for people. Without URLs and secrets. Absent: as they were given. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** The URL in use, without its secrets. */
  rpcUrl(): string
  /** The state of every node, without asking them. */
  nodes?(): readonly NodeState[]
  /** The canonical spelling, or undefined where the text is no address. */
  address(text: string): F['address'] | undefined
  /** Asks the network now. */
  head(at: At): Promise<Head>
  /** Where heads have no hash: the newest block whose hash is known, which `isUndone` is asked for later. Absent: heads have one, or nothing tells it. */
  hashedHead?(at: At): Promise<Head>
  /** Every new head until the signal aborts; survives nodes that fail. */
  heads(signal: AbortSignal): AsyncIterable<Head>
  /**
   * Every block after one up to another, oldest first, with its events that are followed; `forked` where the first is not an ancestor of the
   * last. One round trip for a block that follows the one before. Absent where the family does not have this.
   *
   * With `images`: one head, of the second block or a newer one, with the images of the followed accounts that may have changed since the first;
   * `forked` where they can only be told by loading all states again.
   */
  changes?(after: Head, to: Head, interest: Interest, at: At): Promise<readonly HeadChanges<F>[] | 'forked'>
  /**
   * Nodes answer by the newest block that they have, and by no other: changes are images of accounts (`AccountImage`), and a state in memory may
   * be newer than the head that it is shown with, never older.
   */
  readonly images?: boolean
  /** One round trip for any number of tokens, all at one block. Undefined for one whose contract does not answer as a token. */
  balances(owner: F['address'], tokens: readonly Token[], at: At): Promise<readonly (bigint | undefined)[]>
  /** A token that is on no list, read from the chain; undefined where the address is not a token. */
  token(address: F['address'], at: At): Promise<Token | undefined>
  /** The same for several, in one round trip. Absent: they are asked for one after the other. */
  tokens?(addresses: readonly F['address'][], at: At): Promise<readonly (Token | undefined)[]>
  /**
   * The gas terms of a step that uses about this much gas, at the price of the given block. Returns at once where nothing has to be asked.
   */
  gas(units: bigint, head: Head | undefined, at: At): GasTerms | Promise<GasTerms>
  find(id: string, at: At): Promise<Transaction<F> | undefined>
  /**
   * Whether the chain has another block in the place of this one: a reorganisation undid it. False where the node has none there yet. Absent: not known,
   * and the receipt of a block counts until the rail says that it is gone.
   */
  isUndone?(block: { readonly number: bigint; readonly hash: string }, at: At): Promise<boolean>
  isTransactionId(text: string): boolean
  /** The receipt with its logs explained by the family's common events and by these: each gets `name` and `events: [{ name, value }]`. */
  decode(receipt: F['receipt'], events: readonly string[]): Json
  /**
   * What a mined transaction moved into (above 0) and out of the wallet that sent it, by its receipt, smallest units by token address; the native coin by the
   * address of `nativeCurrency`, without the fee. Undefined where the receipt does not tell. Absent: not known, or, of EVM chains, read by `gains`.
   */
  movements?(receipt: F['receipt'], wallet: F['address']): ReadonlyMap<string, bigint> | undefined
  evm?: EvmVerbs<F>
  altchain?: AltchainVerbs<F>
  /** Absent: it cannot be read, as on EVM chains, where each token is a program of its own. */
  warnings?: TokenWarnings<F['address']>
}

/** What others may do to a token, or to a wallet's account of it. */
export interface TokenRisk<A = string> {
  /** Stable, in lower case with hyphens: `permanent-delegate`. */
  readonly code: string
  readonly token: A
  /** For people, with the token's address. */
  readonly text: string
}

export interface TokenWarnings<A = string> {
  /** Codes for which the operator has trades refused that buy the token. */
  readonly refused: readonly string[]
  /** One round trip; at once where all is known from a while ago. */
  of(question: WarningsQuestion<A>, at: At): readonly TokenRisk<A>[] | Promise<readonly TokenRisk<A>[]>
}

export interface WarningsQuestion<A = string> {
  /** Each once. The native coin stands for the accounts that it is wrapped into. */
  readonly tokens: readonly Token[]
  /** Also of its accounts of the tokens, as they are now. */
  readonly wallet?: A
  /** What is known from a while ago is read again. */
  readonly isNow?: true
}

/** For chains that keep each token of a wallet in an account of its own. */
export interface AltchainVerbs<F extends Types = Types> {
  /** A plan that creates the wallet's associated account for a token, or the existing account. */
  createToken(owner: F['address'], token: Token, at: At): Promise<{ plan: Plan<F>; account: F['address'] } | { exists: F['address'] }>
  /**
   * A plan of a contained plugin as it is signed, where programs get the signature of whoever calls them: that of `delegate`, a new account, in the place
   * of the wallet's. It may take what the plan needs, to the unit, and only within the same transaction. Absent: no plugin of the family is contained.
   */
  contain?(plan: Plan<F>, parties: ContainedParties<F['address']>, at: At): Promise<Plan<F>>
  /** As `EvmVerbs.simulate`: what leaves the wallet and its token accounts, with the lamports of all of them as the native coin. */
  simulate?(
    steps: readonly F['intent'][],
    wallet: F['address'],
    what: SimulatedTokens<F['address']>,
    at: At,
  ): Promise<SimulatedOutcome<F['address']> | 'unavailable'>
  /**
   * What a mined transaction moved into (above 0) and out of the wallet and its token accounts, smallest units by token address, by its receipt: the native
   * coin as the lamports of all of them, without the fee. Undefined where nothing was moved because the transaction failed, or the receipt does not tell.
   * Absent: fills are taken from connectors.
   */
  moved?(receipt: F['receipt'], wallet: F['address'], what: SimulatedTokens<F['address']>): ReadonlyMap<string, bigint> | undefined
}

/** The wallet, and the new account that signs in its place. */
export interface ContainedParties<A = string> {
  readonly wallet: A
  readonly delegate: A
}

/** Those that are told apart from the native coin, though they are it in another form. */
export interface SimulatedTokens<A = string> {
  readonly tokens: readonly A[]
}

/** What stands at a block. */
export interface StandingRights<A = string> {
  readonly head: Head
  readonly grants: readonly Grant<A>[]
}

/** Without the block where a chain answers in the form of 0.2.0. */
export const standingRightsIn = <A>(
  answer: StandingRights<A> | readonly Grant<A>[],
): Pick<StandingRights<A>, 'grants'> & { readonly head?: Head } => ('grants' in answer ? answer : { grants: answer })

/** For EVM chains. */
export interface EvmVerbs<F extends Types = Types> {
  /** One round trip. Outer array by spender, inner by token; undefined for a token whose contract does not answer as one. */
  allowances(
    owner: F['address'],
    spenders: readonly F['address'][],
    tokens: readonly Token[],
    at: At,
  ): Promise<readonly (readonly (bigint | undefined)[])[]>
  /** `amountRaw` undefined approves the largest amount. Two steps where the token refuses to change a non-zero allowance. */
  approve(
    owner: F['address'],
    token: Token,
    spender: F['address'],
    amountRaw: bigint | undefined,
    at: At,
  ): Promise<{ plan: Plan<F>; amountRaw: bigint }>
  /** For spenders that take tokens by Permit2 (https://github.com/Uniswap/permit2). Absent: the family has none. */
  permit2?: {
    /** One round trip. Outer array by spender, inner by token; undefined for a token whose contract does not answer as one. */
    allowances(
      owner: F['address'],
      permit2: F['address'],
      spenders: readonly F['address'][],
      tokens: readonly Token[],
      at: At,
    ): Promise<readonly (readonly (Permit2Allowance | undefined)[])[]>
    /**
     * Approves the spender at the contract, and first the contract at the token where that allows less. `amountRaw` undefined is the largest
     * amount, `expires` undefined never. 0 takes the spender's allowance away, and leaves the token's.
     */
    approve(
      what: {
        readonly owner: F['address']
        readonly permit2: F['address']
        readonly token: Token
        readonly spender: F['address']
        readonly amountRaw: bigint | undefined
        /** Seconds since the Unix epoch. */
        readonly expires: number | undefined
      },
      at: At,
    ): Promise<{ plan: Plan<F>; amountRaw: bigint; expires: number }>
  }
  /** The token that wraps the native coin, one for one. Absent: the coin is a token itself, or nothing wraps it. */
  wrapped?: {
    readonly token: Token
    /** Turns the native coin of the wallet that carries out the plan into the token. */
    wrap(amountRaw: bigint): Plan<F>
    unwrap(amountRaw: bigint): Plan<F>
  }
  /** What the transactions of the last blocks paid, in one round trip. Absent: not known. */
  gasPrices?(at: At): Promise<GasPrices>
  /** Transfers a token, or the native coin, of the wallet that carries out the plan. */
  transfer(token: Token, recipient: F['address'], amountRaw: bigint): Plan<F>
  /**
   * What steps would do to a wallet, one after the other, as the next block would run them. Absent, or `unavailable`, where no node can tell.
   * @param allowances those whose change is compared with what they were; a change of any other counts as a grant
   * @param fees of the steps, as the rail's check priced them; absent: usual ones
   */
  simulate?(
    steps: readonly F['intent'][],
    wallet: F['address'],
    what: { tokens: readonly F['address'][]; allowances: readonly Allowance<F['address']>[]; fees?: readonly Json[] },
    at: At,
  ): Promise<SimulatedOutcome<F['address']> | 'unavailable'>
  /**
   * The rights that spenders have over tokens of a wallet at a block, the newest one of a node, but for those of 0. One round trip, and two more where the wallet has tokens of
   * these collections. Absent: not known. A list alone, as in 0.2.0, is deprecated: approvals that are not final yet count as in no block then.
   * @param collections contracts whose tokens are not counted in units (EIP-721)
   * @param positions tokens of theirs that the wallet may have, beside those that a contract lists
   * @param withDormant also those of which nothing can be taken now: `Grant.dormantRaw`
   */
  standing?(
    owner: F['address'],
    spenders: readonly F['address'][],
    what: {
      readonly tokens: readonly F['address'][]
      readonly permit2s: readonly F['address'][]
      readonly collections: readonly F['address'][]
      readonly positions?: readonly { readonly collection: F['address']; readonly tokenId: bigint }[]
      readonly withDormant?: true
    },
    at: At,
  ): Promise<StandingRights<F['address']> | readonly Grant<F['address']>[]>
  /**
   * Takes back what a spender may take of a collection, or of one token of it, from the wallet that carries out the plan. Absent: only allowances are
   * taken back.
   */
  revoke?(right: CollectionRight<F['address']>): Plan<F>
  /**
   * What the events of a mined transaction say that it moved into (above 0) and out of the wallet that sent it, smallest units by token address.
   * The native coin is there only where its amount is certain, by the address of `nativeCurrency`, without gas. Undefined where nothing was
   * moved because the transaction failed, or the events cannot be read. Absent: fills are taken from connectors.
   * @param sentRaw of the native coin with the transaction
   */
  moved?(receipt: F['receipt'], sentRaw: bigint, wallet: F['address']): ReadonlyMap<string, bigint> | undefined
  /**
   * What a mined transaction moved into (above 0) and out of a wallet by the events of tokens, in the form of `simulate`: it is held against what the
   * transaction was to do. Not the native coin. Events that cannot be read are passed over. Absent: nothing is compared.
   */
  gains?(receipt: F['receipt'], wallet: F['address']): ReadonlyMap<string, bigint>
  /**
   * The native coin that a mined transaction brought its sender, without gas. Undefined where it cannot be told apart from what else the block did
   * to the wallet.
   */
  coinGain?(receipt: F['receipt'], wallet: F['address'], at: At): Promise<bigint | undefined>
  /**
   * The same of many transactions at once, in the order asked for, without looking for what others sent the wallets in their blocks: that is in it.
   * Undefined where the wallet sent another transaction in that block. Absent: `coinGain` is asked for each.
   */
  coinChanges?(asked: readonly (readonly [receipt: F['receipt'], wallet: F['address']])[], at: At): Promise<readonly (bigint | undefined)[]>
  /**
   * What a contract turned into the native coin in a mined transaction, by the only event of the wrapped coin that says so. Undefined where there is
   * none, or several. Absent: not known.
   */
  unwrappedBy?(receipt: F['receipt'], contract: F['address']): bigint | undefined
  /** The allowances that a mined transaction of a wallet set, by the events of tokens and of contracts like Permit2. Absent: not known. */
  approvals?(receipt: F['receipt'], wallet: F['address']): readonly SetAllowance<F['address']>[]
  /**
   * What an allowance that a mined transaction set held just before it, after what was taken in its block: at most that. It is read at the block
   * before. Absent: not known.
   */
  allowanceBefore?(receipt: F['receipt'], wallet: F['address'], allowance: Allowance<F['address']>, at: At): Promise<bigint>
  /** What wallets held at past blocks and what moved in between: the books are held against it. Absent: they are not. */
  history?: WalletHistory<F['address']>
  /**
   * What allowances by Permit2 still held when they expired, by one final block, in the order asked for. Undefined where it is before the end of one,
   * where one ends at another time by now, or is not readable. Absent: not known.
   */
  expiredAllowances?(asked: readonly ExpiringAllowance<F['address']>[], at: At): Promise<readonly (bigint | undefined)[]>
}

/** What to pay for gas, smallest units of the native coin per gas. */
export interface GasPrices {
  /** The newest block that it is of. */
  readonly blockNumber: bigint
  /** Of the next block; absent where blocks have none: then a price is all tip. */
  readonly baseFeeRaw?: bigint
  readonly slow: GasPrice
  readonly normal: GasPrice
  readonly fast: GasPrice
}

export interface GasPrice {
  readonly maxFeeRaw: bigint
  readonly tipRaw: bigint
}

/** What a spender may take by Permit2. */
export interface Permit2Allowance {
  /** The smaller of the contract's allowance and the spender's; 0 once it has expired. */
  readonly amountRaw: bigint
  /** The spender's within the contract, also where the contract's is less: it may take that once the contract may; 0 once it has expired. */
  readonly givenRaw?: bigint
  /** Seconds since the Unix epoch; the spender may take tokens in that second, and not after it. */
  readonly expires: number
}

/** Whose right to move a wallet's tokens. */
export interface Allowance<A = string> {
  readonly token: A
  readonly spender: A
  /** The contract of Permit2, where the spender takes it by that. */
  readonly permit2?: A
}

/** An allowance of a wallet that ends by itself. */
export interface ExpiringAllowance<A = string> {
  readonly wallet: A
  readonly allowance: Allowance<A>
  /** Seconds since the Unix epoch. */
  readonly expires: number
}

/** A right over all tokens of a collection, or over one, that is not counted in units. */
export interface CollectionRight<A = string> {
  readonly collection: A
  readonly spender: A
  readonly tokenId?: bigint
}

/** From then on the spender may take so much of it, smallest units. */
export interface SetAllowance<A = string> extends Allowance<A> {
  readonly amountRaw: bigint
  /** By Permit2: seconds since the Unix epoch, until which, that second included. */
  readonly expires?: number
}

/** A right over tokens of the wallet that steps give, or make larger. */
export interface Grant<A = string> extends Allowance<A> {
  /** Smallest units; absent: all of them, or a token that is not counted in units. */
  readonly amountRaw?: bigint
  /** The one token that is not counted in units. */
  readonly tokenId?: bigint
  /** The contract of Permit2, where the right, or a part of it, is by that. */
  readonly byPermit2?: A
  /**
   * One half of a right by Permit2, smallest units: it is not in `amountRaw`, and could be taken once the wallet gives the other half. Of a spender:
   * while the contract may not take as much of the token. Of the contract itself: it takes nothing but for spenders.
   */
  readonly dormantRaw?: bigint
}

/** Evidence, not proof: a contract may do something else when it is mined. */
export type SimulatedOutcome<A = string> =
  /** The reason for which a step fails. */
  | { readonly is: 'failed'; readonly reason: string }
  | {
      readonly is: 'done'
      /**
       * What the wallet gains, smallest units; negative: what it loses. Of the tokens that were asked for by their balances, of all others by
       * their events; of the native coin, by the address of `nativeCurrency`, without gas. A token that is not counted in units is `address/id`.
       */
      readonly gains: ReadonlyMap<A, bigint>
      readonly grants: readonly Grant<A>[]
      /** What leaves the wallet by the events of transfers, whatever comes back, smallest units by token. Absent: the node shows no events. */
      readonly sent?: ReadonlyMap<A, bigint>
      /**
       * The same of each of several steps, in their order: each is a transaction of its own, which may be mined where others are not, or where they do something
       * else. Absent: there is one step, or nobody tells.
       */
      readonly steps?: readonly StepOutcome<A>[]
    }

/** What a step of several does by itself. */
export interface StepOutcome<A = string> {
  readonly gains: ReadonlyMap<A, bigint>
  readonly sent?: ReadonlyMap<A, bigint>
}

/** What a chain plugin's `create` gets for one network. */
export interface ChainVenue<C = Json> {
  readonly chain: string
  readonly network: string
  readonly config: C
  readonly log: Log
  /** Counts a call to a node. */
  readonly meter: { rpc(method: string, outcome: 'ok' | 'error'): void }
}

/** Letters and digits together, longer than words are. */
const keyLike = /^(?=.*\d)(?=.*[a-z]).{24,}$|^[^.]{40,}$/i

/** A URL's host without the labels that are keys: some providers put the key into the host's name. */
export const shownHost = (host: string): string =>
  host
    .split('.')
    .map((label) => (keyLike.test(label) ? '***' : label))
    .join('.')
