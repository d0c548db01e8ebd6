import type { BaseContract, InterfaceAbi, JsonRpcProvider, Signer, TransactionReceipt } from 'ethers'
import type { Book } from './index.ts'

/** A compiled contract and its source: an npm package, or a file of this project. */
export interface Artifact {
  contractName: string
  abi: InterfaceAbi
  bytecode: string
  license: string
}

export interface DevnetToken {
  address: string
  decimals: number
  /** Mints an amount for `to`. */
  mint(to: string, amountRaw: bigint): Promise<void>
}

/** The tokens of the devnet's list. */
export const devnetTokenSymbols = ['WETH', 'USDC', 'DAI', 'WBTC', 'USDT'] as const
/** With one that is on no list: transfers of TAX take 2 %. An exchange has to refuse it (AMM-12), so give it a pool. */
export type DevnetTokenSymbol = (typeof devnetTokenSymbols)[number] | 'TAX'
export type DevnetTokens = Record<DevnetTokenSymbol, DevnetToken>

/** What a plugin needs to deploy its contracts on the devnet. */
export interface DevnetSite {
  readonly provider: JsonRpcProvider
  /**
   * Has enough ether, and a key that is derived from the plugin's name. The n-th transaction has the nonce n in every build, so that
   * contract addresses are constants as long as the order of transactions stays.
   */
  readonly signer: Signer & { readonly address: string }
  /** The three trading wallets. */
  readonly wallets: readonly string[]
  /** Reads `artifacts/<name>.json` in the folder of the module that asks: `site.artifact('WETH9', import.meta.url)`. */
  artifact(name: string, moduleUrl: string): Promise<Artifact>
  /** Deploys a contract and waits until it is mined. */
  deploy(artifact: Artifact, ...constructorArguments: unknown[]): Promise<BaseContract>
  /** Calls a method in a transaction of the signer and waits until it is mined. Throws when it reverts. */
  send(contract: BaseContract, method: string, ...args: unknown[]): Promise<TransactionReceipt>
}

/** One hop of a route: the pool that turns `tokenIn` into `tokenOut`. All are addresses. */
export interface QuoterHop {
  tokenIn: string
  tokenOut: string
  pool: string
  /** The protocol's version, where the exchange has several. */
  version: string
  /** The share of a split swap. The quoter is asked for each route alone, without it. */
  share?: string
}

/** The exchange's own quoter at a block. Contract tests compare quotes with it. */
export interface Quoter {
  exactIn(route: readonly QuoterHop[], amountInRaw: bigint, blockNumber: number): Promise<bigint>
  exactOut(route: readonly QuoterHop[], amountOutRaw: bigint, blockNumber: number): Promise<bigint>
}

/** For reading only: the node of a simulated cluster of Solana, and an address there that has more of each token than any card asks for. */
export interface ClusterSite {
  readonly rpcUrl: string
  readonly payer: string
}

/** For reading only. `deployer` is the address of the signer in `deploy`, from which contract addresses follow. */
export interface QuoterSite {
  readonly provider: JsonRpcProvider
  readonly deployer: string
}

/** A wallet's position and account by the exchange's own view functions. Exact decimal strings in human units, with signs. */
export interface PerpViews {
  /** In base. Above 0 for a LONG. */
  size: string
  openNotional: string
  unrealizedProfit: string
  /** Above 0 if the wallet receives it. */
  pendingFunding: string
  accountValue: string
  freeCollateral: string
  collateral: string
  initialMargin: string
  maintenanceMargin: string
  /** The value of all positions, without signs. */
  notional: string
  markPrice: string
  indexPrice: string
}

/**
 * The operator of a perpetual exchange. Contract tests move markets with it and compare answers with its views. Markets have the names of
 * `/perpAMM/pairs`. Methods that change something resolve once it is mined.
 */
export interface PerpOperator {
  views(owner: string, ticker: string, blockNumber: number): Promise<PerpViews>
  /** The price outside of the exchange, quote per base, from the next block on. */
  moveIndex(ticker: string, price: string): Promise<void>
  /** `closed` is permanent. */
  setStatus(ticker: string, status: 'open' | 'paused' | 'closed'): Promise<void>
  /**
   * Moves prices until the wallet's position can be liquidated, has another trader liquidate it, and moves prices back. Returns the
   * transaction hash.
   */
  liquidate(owner: string, ticker: string): Promise<string>
}

/**
 * The default export of a plugin's `devnet.ts`. The deployed state is saved from one start to the next until an input changes: the files and
 * folders beside it whose names begin with `devnet`, and the folder `artifacts`.
 */
export interface DevnetPlugin {
  /** The plugin's name. The key of its signer is derived from it. */
  readonly name: string
  /** Only for the devnet's chain: deploys the tokens that all exchanges trade. Runs first. */
  tokens?(site: DevnetSite): Promise<Record<DevnetTokenSymbol, MintableToken>>
  /** For exchanges: deploys the contracts and fills the pools. */
  deploy?(site: DevnetSite & { readonly tokens: DevnetTokens }): Promise<void>
  quoter?(site: QuoterSite): Quoter
  /** For exchanges on Solana: their own program's quotes, on `solana/local`. */
  clusterQuoter?(site: ClusterSite): Quoter
  /** The exchange's contracts take no deadline, so that plans have none: the card AMM-08 tries what is promised instead. */
  readonly noDeadline?: true
  /** For pools with shares: what the cards of AMM_SHARES cannot see. */
  readonly shares?: DevnetShares
  /** For perpetual exchanges: the operator, on a running devnet. The site's signer is the deployer. */
  perpOperator?(site: DevnetSite): PerpOperator | Promise<PerpOperator>
  /** For order books: the other traders, on a running devnet. The site's signer is the deployer. */
  bookOperators?(site: DevnetSite): BookOperators | Promise<BookOperators>
}

export interface DevnetShares {
  /** All tokens of the pool that the cards use, by symbol or address. Absent: those of the first two that have a pool. The trading wallets need some of each. */
  tokens?(site: Pick<QuoterSite, 'deployer'>): readonly string[]
  /** The label of the spender that takes deposits, where the connector's name does not stand for it. */
  readonly spender?: string
  /** The contracts take no deadline where liquidity changes, so that plans have none: the card SHARES-06 tries what is promised instead. */
  readonly noDeadline?: true
  /** The contracts take the shares that are removed without an allowance. */
  readonly noAllowance?: true
}

export interface MintableToken {
  address: string
  decimals: number
  /** Like `DevnetToken.mint`, signed by the given site's signer. */
  mint(site: DevnetSite, to: string, amountRaw: bigint): Promise<void>
}

/** Types the default export of a plugin's `devnet.ts`. */
export function defineDevnet(plugin: DevnetPlugin): DevnetPlugin {
  return plugin
}

/** An order of a trader who has none of the test's wallets. Decimal strings that are valid in the market. */
export interface OthersOrder {
  side: 'BUY' | 'SELL'
  price: string
  amount: string
}

/** An order by the exchange's own figures. */
export interface ExchangeOrder extends OthersOrder {
  orderId: string
  filledAmount: string
}

/**
 * Amounts of one token as decimal strings. `free`: what the owner can use at once, in the wallet and in the exchange. `locked`: by orders.
 */
export interface Funds {
  free: string
  locked: string
}

/**
 * The other traders on an order book. Contract tests trade with them, and compare answers with the exchange's own figures. Markets have the
 * names of `/clob/markets`. Methods that change something resolve once it is mined, or carried out by the exchange.
 *
 * At the start there are orders of other traders on both sides of at least one market, at least one percent apart.
 */
export interface BookOperator {
  /** The exchange's own book with all levels, best first: at that block if the exchange has blocks, otherwise now. */
  book(market: string, blockNumber?: number): Promise<Book>
  /** Removes all orders except those of the given wallets, so that the cards decide what is in the book. */
  clear(market: string, wallets: readonly string[]): Promise<void>
  /** Places another trader's limit order, with the funds for it. `orderId` is absent if it was filled at once. */
  place(market: string, order: OthersOrder): Promise<{ orderId?: string }>
  /** Cancels the rest of such an order. */
  cancel(market: string, orderId: string): Promise<void>
  /** The open orders of a wallet, oldest first. */
  open(market: string, owner: string): Promise<readonly ExchangeOrder[]>
  /** A wallet's amounts of a token. For perpetuals: of the settlement token, without profits and losses of positions. */
  funds(owner: string, symbol: string): Promise<Funds>
  /** Absent if nobody can set it. `closed` is permanent. */
  setStatus?(market: string, status: 'open' | 'paused' | 'closed'): Promise<void>
}

/** A margin account by the exchange's own figures. Decimal strings with signs, in the exchange's unit of account. */
export interface MarginViews {
  equity: string
  collateral: string
  borrowed: string
  freeCollateral: string
  initialMargin: string
  maintenanceMargin: string
  /** Absent for an account without positions and loans. */
  marginRatio?: string
}

/** The wallets' accounts must be in the mode with loans. */
export interface MarginBookOperator extends BookOperator {
  views(owner: string): Promise<MarginViews>
  /** A wallet's debt of a token, interest included. */
  owed(owner: string, symbol: string): Promise<string>
  /** Advances the exchange's clock. */
  pass(seconds: number): Promise<void>
}

/** A wallet's position and account by the exchange's own figures. Decimal strings with signs. */
export interface PerpBookViews {
  /** In base. Above 0 for a LONG. */
  size: string
  entryPrice: string
  markPrice: string
  unrealizedProfit: string
  /** Absent if no price liquidates the position. */
  liquidationPrice?: string
  accountValue: string
  freeCollateral: string
  initialMargin: string
  maintenanceMargin: string
}

export interface PerpBookOperator extends BookOperator {
  views(market: string, owner: string): Promise<PerpBookViews>
  /** Sets the price outside of the exchange. The mark price has followed when it settles. */
  moveIndex(market: string, price: string): Promise<void>
  /** Has the next funding paid at that rate. Returns the price that it was paid on, quote per base. */
  fund(market: string, rate: string): Promise<{ price: string }>
}

/** The other traders, by trading type. */
export interface BookOperators {
  CLOB?: BookOperator
  MARGIN_CLOB?: MarginBookOperator
  PERP_CLOB?: PerpBookOperator
}
