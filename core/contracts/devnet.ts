import type { BaseContract, InterfaceAbi, JsonRpcProvider, Signer, TransactionReceipt } from 'ethers'
import type { BookOperators } from '../testing/book-operators.ts'

export type * from '../testing/book-operators.ts'

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
