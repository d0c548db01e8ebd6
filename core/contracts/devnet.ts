import type { BaseContract, InterfaceAbi, JsonRpcProvider, Signer, TransactionReceipt } from 'ethers'
import type { Book } from './index.ts'

/** A compiled contract with where it is from: a package of npm, or a source of our own. */
export interface Artifact {
  contractName: string
  abi: InterfaceAbi
  bytecode: string
  license: string
}

export interface DevnetToken {
  address: string
  decimals: number
  /** Gives `to` that much out of nothing. */
  mint(to: string, amountRaw: bigint): Promise<void>
}

export const devnetTokenSymbols = ['WETH', 'USDC', 'DAI', 'WBTC', 'USDT'] as const
export type DevnetTokenSymbol = (typeof devnetTokenSymbols)[number]
export type DevnetTokens = Record<DevnetTokenSymbol, DevnetToken>

/** What a plugin gets to put its contracts on the devnet. */
export interface DevnetSite {
  readonly provider: JsonRpcProvider
  /**
   * Has all the ether it needs, and a key made from the plugin's name: the n-th transaction has the nonce n in every
   * build, so addresses of contracts are constants as long as the order of transactions stays.
   */
  readonly signer: Signer & { readonly address: string }
  /** The three trading wallets. */
  readonly wallets: readonly string[]
  /** Reads `artifacts/<name>.json` in the folder of the module that asks: `site.artifact('WETH9', import.meta.url)`. */
  artifact(name: string, moduleUrl: string): Promise<Artifact>
  /** Deploys and waits. */
  deploy(artifact: Artifact, ...constructorArguments: unknown[]): Promise<BaseContract>
  /** Calls a method by a transaction of the signer and waits; throws when it reverts. */
  send(contract: BaseContract, method: string, ...args: unknown[]): Promise<TransactionReceipt>
}

/** One hop of a route: which pool turns `tokenIn` into `tokenOut`. All are addresses. */
export interface QuoterHop {
  tokenIn: string
  tokenOut: string
  pool: string
  /** Of the protocol, where the exchange has several. */
  version: string
  /** Of the swap, where it goes several ways at once: those are asked about one by one, each without. */
  share?: string
}

/** The exchange's own quoter, as it answered at that block: what contract tests hold quotes against. */
export interface Quoter {
  exactIn(route: readonly QuoterHop[], amountInRaw: bigint, blockNumber: number): Promise<bigint>
  exactOut(route: readonly QuoterHop[], amountOutRaw: bigint, blockNumber: number): Promise<bigint>
}

/** Reading only: `deployer` is the address of the signer that `deploy` had, for finding its contracts. */
export interface QuoterSite {
  readonly provider: JsonRpcProvider
  readonly deployer: string
}

/** What a wallet's position and account are by the exchange's own view functions. Exact decimal strings in human units, with signs. */
export interface PerpViews {
  /** Of base; above 0 is LONG. */
  size: string
  openNotional: string
  unrealizedProfit: string
  /** Above 0 where the wallet will receive it. */
  pendingFunding: string
  accountValue: string
  freeCollateral: string
  collateral: string
  initialMargin: string
  maintenanceMargin: string
  /** What all its positions are worth, without signs. */
  notional: string
  markPrice: string
  indexPrice: string
}

/**
 * What only who runs the exchange can do or knows: contract tests move markets by it, and hold answers against its views. Markets
 * are named as `/perpAMM/pairs` does. What acts is mined when it is done.
 */
export interface PerpOperator {
  views(owner: string, ticker: string, blockNumber: number): Promise<PerpViews>
  /** What the world outside pays, quote per one base, from the next block on. */
  moveIndex(ticker: string, price: string): Promise<void>
  /** `closed` is for good. */
  setStatus(ticker: string, status: 'open' | 'paused' | 'closed'): Promise<void>
  /** Moves prices until the wallet's position can be liquidated, has somebody liquidate what can be at once, and moves them back: the hash. */
  liquidate(owner: string, ticker: string): Promise<string>
}

/**
 * The default export of a plugin's `devnet.ts`. What it deploys is kept from one start to the next until an input
 * changes: the files and folders beside it whose names begin with `devnet`, and the folder `artifacts`.
 */
export interface DevnetPlugin {
  /** The plugin's name; also where its signer's key comes from. */
  readonly name: string
  /** For the devnet's chain, and for it alone: puts the tokens there that all others trade. Runs before everything. */
  tokens?(site: DevnetSite): Promise<Record<DevnetTokenSymbol, MintableToken>>
  /** For exchanges: deploys the contracts and fills the pools. */
  deploy?(site: DevnetSite & { readonly tokens: DevnetTokens }): Promise<void>
  quoter?(site: QuoterSite): Quoter
  /** For perpetual exchanges: who runs it, on a devnet that runs. The site's signer is who deployed it. */
  perpOperator?(site: DevnetSite): PerpOperator | Promise<PerpOperator>
  /** For order books: who else trades, on a devnet that runs. The site's signer is who deployed it. */
  bookOperators?(site: DevnetSite): BookOperators | Promise<BookOperators>
}

export interface MintableToken {
  address: string
  decimals: number
  /** As `DevnetToken.mint`, by the signer of the site given. */
  mint(site: DevnetSite, to: string, amountRaw: bigint): Promise<void>
}

/** Types the default export of a plugin's `devnet.ts`. */
export function defineDevnet(plugin: DevnetPlugin): DevnetPlugin {
  return plugin
}

/** An order of a trader who is none of the bench's wallets. Decimal strings that fit the market. */
export interface OthersOrder {
  side: 'BUY' | 'SELL'
  price: string
  amount: string
}

/** An order as the exchange itself has it. */
export interface ExchangeOrder extends OthersOrder {
  orderId: string
  filledAmount: string
}

/** Of one token, decimal strings: `free` is all that the owner can use at once, in the wallet and in the exchange; `locked` is by orders. */
export interface Funds {
  free: string
  locked: string
}

/**
 * What only others than the wallets of the server can do or know of an order book: contract tests trade against other traders by it, and
 * hold answers against what the exchange itself says. Markets are named as `/clob/markets` does. What acts is done when it settles: mined,
 * or carried out by the exchange.
 *
 * The exchange comes up with orders of others on both sides of at least one market, at least one percent apart.
 */
export interface BookOperator {
  /** The exchange's own book, all levels, best first: at that block where the exchange has blocks, else now. */
  book(market: string, blockNumber?: number): Promise<Book>
  /** Takes away all orders of others than these wallets, so that the book is what the cards make it. */
  clear(market: string, wallets: readonly string[]): Promise<void>
  /** Another trader's limit order, who has what it takes. Absent `orderId`: it was filled at once. */
  place(market: string, order: OthersOrder): Promise<{ orderId?: string }>
  /** Takes away what is left of such an order. */
  cancel(market: string, orderId: string): Promise<void>
  /** What a wallet has open, oldest first. */
  open(market: string, owner: string): Promise<readonly ExchangeOrder[]>
  /** What a wallet has of a token. Of perpetuals: of what they are settled in, without what positions won or lost. */
  funds(owner: string, symbol: string): Promise<Funds>
  /** Absent where nobody can; `closed` is for good. */
  setStatus?(market: string, status: 'open' | 'paused' | 'closed'): Promise<void>
}

/** A margin account as the exchange itself says. Decimal strings, with signs, in the exchange's unit of account. */
export interface MarginViews {
  equity: string
  collateral: string
  borrowed: string
  freeCollateral: string
  initialMargin: string
  maintenanceMargin: string
  /** Absent where nothing is at stake. */
  marginRatio?: string
}

/** The wallets' accounts are in the mode that borrows. */
export interface MarginBookOperator extends BookOperator {
  views(owner: string): Promise<MarginViews>
  /** What a wallet owes of a token, with all interest until now. */
  owed(owner: string, symbol: string): Promise<string>
  /** Lets so much time pass by the exchange's clock. */
  pass(seconds: number): Promise<void>
}

/** A wallet's position and account as the exchange itself says. Decimal strings, with signs. */
export interface PerpBookViews {
  /** Of base; above 0 is LONG. */
  size: string
  entryPrice: string
  markPrice: string
  unrealizedProfit: string
  /** Absent where no price liquidates it. */
  liquidationPrice?: string
  accountValue: string
  freeCollateral: string
  initialMargin: string
  maintenanceMargin: string
}

export interface PerpBookOperator extends BookOperator {
  views(market: string, owner: string): Promise<PerpBookViews>
  /** What the world outside pays; the mark price is the same when it settles. */
  moveIndex(market: string, price: string): Promise<void>
  /** Lets the next funding come about, at that rate: the price that it was paid on, quote per one base. */
  fund(market: string, rate: string): Promise<{ price: string }>
}

/** Who else trades, by trading type. */
export interface BookOperators {
  CLOB?: BookOperator
  MARGIN_CLOB?: MarginBookOperator
  PERP_CLOB?: PerpBookOperator
}
