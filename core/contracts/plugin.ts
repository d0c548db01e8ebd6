import type { AMM } from './amm.ts'
import type { AMMRange } from './amm-range.ts'
import type { AMMShares } from './amm-shares.ts'
import type { Chain, ChainVenue } from './chain.ts'
import type { At, Family, Head, Life, Log, Token, Types } from './family.ts'
import type { MarginCLOB, CLOB, PerpCLOB } from './order-books.ts'
import type { PerpAMM } from './perp-amm.ts'
import type { Rail, TakesPermit } from './rail.ts'

/** Version of these contracts, `major.minor`. A plugin's major must be the same and its minor not above. */
export const apiVersion = '1.0'

/** The interface of each trading type. */
export interface Trading<F extends Types = Types> {
  AMM: AMM<F>
  AMM_RANGE: AMMRange<F>
  AMM_SHARES: AMMShares<F>
  PERP_AMM: PerpAMM<F>
  CLOB: CLOB<F>
  MARGIN_CLOB: MarginCLOB<F>
  PERP_CLOB: PerpCLOB<F>
}
export type TradingType = keyof Trading

/** The same interface, where an implementation may answer later: it is in another process. */
export type MaybeAsync<T> = {
  readonly [K in keyof T]: NonNullable<T[K]> extends (...args: infer Args) => infer Answer
    ? ((...args: Args) => Answer | Promise<Awaited<Answer>>) | Extract<T[K], undefined>
    : T[K]
}

/** A kind of typed data. Permits and authorized transfers of token contracts are never signed, however they are declared. */
export interface SignedKind {
  /** `domain.name` */
  readonly domain: string
  readonly primaryType: string
  /** The required `domain.chainId`, where the exchange uses a number of its own; by default the network's. */
  readonly chainId?: number
  /** Fields of the message that must be the signer's own address: where money goes. */
  readonly own?: readonly string[]
}

/** Checked when a plugin is loaded: a missing method refuses the plugin rather than a request. */
export const tradingMethods = {
  AMM: ['quote', 'swap', 'fill'],
  AMM_RANGE: ['rangePools', 'rangeAround', 'deposit', 'add', 'position', 'positions', 'remove', 'collect', 'history', 'rangeFill'],
  AMM_SHARES: ['sharePositions', 'depositFor', 'returnFor', 'addShares', 'removeShares', 'sharesFill'],
  PERP_AMM: [
    'listMarkets',
    'prices',
    'position',
    'account',
    'funding',
    'quote',
    'quoteClose',
    'open',
    'close',
    'collateral',
    'transferCollateral',
    'perpFill',
    'liquidations',
  ],
  CLOB: ['markets', 'orders', 'trades', 'balances', 'act', 'outcome'],
  MARGIN_CLOB: ['markets', 'orders', 'trades', 'balances', 'act', 'outcome', 'account', 'transferCollateral'],
  PERP_CLOB: ['markets', 'orders', 'trades', 'balances', 'act', 'outcome', 'positions', 'account', 'leverage', 'prices', 'fundingPayments'],
} as const satisfies { [K in TradingType]: readonly (keyof Trading[K])[] }

export interface NetworkNames {
  readonly chain: string
  readonly networks: readonly string[]
}

export interface Manifest<K extends readonly TradingType[] = readonly TradingType[]> {
  readonly name: string
  /** The version of the plugin interface that the plugin is written for: 'major.minor'. */
  readonly apiVersion: string
  readonly trading_type: K
  readonly available_networks: readonly NetworkNames[]
  /** JSON Schema of the configuration; a chain's describes one network's settings. */
  readonly schema: object
  /** The plugin's own version, shown in `/plugins`. Required, but of built-in plugins. */
  readonly version?: string
  /**
   * Network → the chain that this name alone means in an operator's file, where several chains have a network of that name: the one that was there
   * before the others.
   */
  readonly shortNames?: Readonly<Record<string, string>>
  /** Typed data (EIP-712) that the connector may ask to have signed. */
  readonly signs?: readonly SignedKind[]
}

/** A connector on one network of one chain. Everything that a plugin gets; frozen. */
export interface Venue<F extends Types = Types, C = unknown> {
  readonly chain: string
  readonly network: string
  /** Checked against the manifest's schema. */
  readonly config: C
  /** This network's entry of `contractAddresses`. */
  readonly contracts: Readonly<Record<string, F['address']>>
  readonly reader: F['reader']
  readonly nativeCurrency: Token
  /** The network's token list. */
  readonly tokens: readonly Token[]
  readonly log: Log
}

export type Connector<F extends Types = Types, K extends TradingType = TradingType> = Pick<Trading<F>, K> &
  Life & {
    /** Version label → the contract that moves tokens, which `/evm/approve` approves for the connector's name. */
    readonly spenders?: Readonly<Record<string, F['address']>>
    /** The Permit2 contract, and those of the spenders that take tokens by it. Built-in and trusted plugins only. */
    readonly permit2?: Permit2Spenders<F>
    /** Signatures of the events that the exchange's contracts emit, as the family writes them: `/network/poll` decodes logs by them. */
    readonly events?: readonly string[]
    /** For exchanges that take signed actions themselves: carries out plans that are `via` the venue. */
    readonly actions?: SignedActions
    /** Error codes of the exchange's contracts → their meaning, as words that continue "it would fail: ". */
    readonly refusals?: Readonly<Record<string, string>>
    /** For `sluice doctor`, of built-in plugins and trusted ones: whether what it needs of the network is there. Asks nodes. */
    examine?(at: At): Promise<readonly ConnectorFinding[]>
  }

/** Sentences that continue "<connector> on <network>: ". */
export interface ConnectorFinding {
  readonly what: string
  /** What to do about it; absent where all is well. */
  readonly remedy?: string
}

/** Every contract that a connector's callers may approve, by label. */
export const approvableOf = ({
  spenders,
  AMM_SHARES,
}: {
  readonly spenders?: Readonly<Record<string, string>> | undefined
  readonly AMM_SHARES?: Pick<AMMShares, 'depositSpenders'> | undefined
}): Readonly<Record<string, string>> => ({ ...AMM_SHARES?.depositSpenders, ...spenders })

/** `withPermit` is that of swaps, and used of built-in plugins only. */
export interface Permit2Spenders<F extends Types = Types> extends TakesPermit<F['intent']> {
  readonly address: F['address']
  readonly spenders: readonly F['address'][]
  /** Those of them whose calls `withPermit` takes: the signer signs permits for no other. */
  readonly permitSpenders?: readonly F['address'][]
}

/** An exchange's own rail for signed actions: like a network beside the chain, with nonce queues of its own. */
export interface SignedActions {
  readonly rail: Rail
  /** When to poll open actions: at blocks of the exchange, at its events, or by the clock. Survives an exchange that fails. */
  heads(signal: AbortSignal): AsyncIterable<Head>
}

export interface ConnectorPlugin<F extends Types = Types, K extends readonly TradingType[] = readonly TradingType[], C = unknown> {
  readonly kind: 'connector'
  readonly family: Family<F>
  readonly manifest: Manifest<K>
  /** Wires parts together, without I/O. A throw refuses the plugin. */
  create(venue: Venue<F, C>): Connector<F, K[number]>
}

export interface ChainPlugin<F extends Types = Types, C = unknown> {
  readonly kind: 'chain'
  readonly family: Family<F>
  readonly manifest: Manifest<readonly []>
  create(venue: ChainVenue<C>): Chain<F>
}

export type Plugin = ChainPlugin | ConnectorPlugin
export type PluginKind = Plugin['kind'] | 'interface'

/** Does not compile where a declared trading type is not implemented. */
export function defineConnector<F extends Types, const K extends readonly TradingType[], C = ConnectorConfig>(
  plugin: Omit<ConnectorPlugin<F, K, C>, 'kind' | 'create'> & { create(venue: Venue<F, C>): Connector<F, NoInfer<K>[number]> },
): ConnectorPlugin<F, K, C> {
  return { kind: 'connector', ...plugin }
}

export function defineChain<F extends Types, C>(plugin: Omit<ChainPlugin<F, C>, 'kind'>): ChainPlugin<F, C> {
  return { kind: 'chain', ...plugin }
}

/**
 * A deposit into an exchange from another chain: a transfer of one token to one address there, which credits the sender. Only this call is
 * signed for it, and the server builds it, not the plugin.
 */
export interface Bridge {
  /** A network of the other chain. */
  readonly network: string
  /** Addresses of the other chain. */
  readonly token: string
  readonly recipient: string
}

/** The keys of every connector's configuration (`conf/connectors/<name>.yml`). */
export interface ConnectorConfig {
  /** `<numerator>/<denominator>`. */
  allowedSlippage: string
  /** Seconds. */
  ttl: number
  contractAddresses: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** By network as in `contractAddresses`, then by the chain that deposits come from. */
  bridges?: Readonly<Record<string, Readonly<Record<string, Bridge>>>>
  versions?: Readonly<Record<string, { allowedSlippage: string; ttl: number }>>
}
