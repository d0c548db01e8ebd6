// "sluice/plugin": everything that a plugin implements or calls.
export { badFields, SluiceError } from '../base/errors.ts'
// Whose request a signal is of, so that what all share is shared fairly.
export { payerOf } from '../base/fair-turns.ts'
export type { ErrorName } from '../base/errors.ts'
export type {
  AMM,
  Fill,
  FollowedPricing,
  Hop,
  LoanTrial,
  PoolDepth,
  PoolsChoice,
  PoolView,
  Quote,
  QuoteBound,
  QuoteChoice,
  QuotePart,
  SlippageReasons,
  Swap,
  SwapTerms,
} from './amm.ts'
export type {
  AMMRange,
  Deposit,
  PositionAtBlock,
  PositionsQuery,
  RangeAmounts,
  RangeFill,
  PriceRange,
  RangeHistory,
  RangePool,
  RangePosition,
  PositionIds,
  PositionsAtBlock,
  RangePositions,
  RangePrice,
  RangeTerms,
  SlippageFraction,
} from './amm-range.ts'
export type {
  AMMShares,
  SharesAddition,
  SharesDeposit,
  SharesFill,
  SharesPool,
  SharesPosition,
  SharesRemoval,
  SharesTerms,
} from './amm-shares.ts'
export type {
  AltchainVerbs,
  Allowance,
  Chain,
  ChainVenue,
  EvmVerbs,
  Grant,
  HeadChanges,
  Interest,
  NodeState,
  GasPrice,
  GasPrices,
  ExpiringAllowance,
  Permit2Allowance,
  CollectionRight,
  SetAllowance,
  SimulatedOutcome,
  Transaction,
} from './chain.ts'
export type { AccountImage, At, Family, Head, Json, Life, Log, IsolatedReading, RemoteReading, Token, Types } from './family.ts'
export type { Basis, Followed, KnownOf, MissingState } from './followed.ts'
export type { MarginAccount, MarginCLOB, MarginMove, MarginToken } from './order-books.ts'
export { orderStates, orderTypes, timesInForce } from './order-books.ts'
export type {
  ActionOutcome,
  ActionPlan,
  Book,
  BookAction,
  BookBalance,
  BookMarket,
  BookOrder,
  BookPlan,
  BookSide,
  BookStream,
  BookTrade,
  BookUpdate,
  CLOB,
  Decimal,
  FollowedBooks,
  IndexPrice,
  LastTrades,
  Level,
  MakerBook,
  MakerLevel,
  NewOrder,
  OrderName,
  OrderState,
  OrderType,
  PriceGrid,
  TimeInForce,
  UnlistedMarket,
} from './order-books.ts'
export type { FundingPayment, PerpBookAccount, PerpBookPosition, PerpCLOB, PerpMarketPrices } from './order-books.ts'
export type {
  PerpAccount,
  PerpAccountAnswer,
  PerpAMM,
  KnownPerpAccount,
  PerpClosing,
  PerpCollateral,
  PerpFill,
  PerpFunding,
  PerpLiquidation,
  PerpMarket,
  PerpMarketName,
  PerpOrder,
  PerpPosition,
  PerpPrices,
  PerpQuote,
  PerpTerms,
  Ratio,
} from './perp-amm.ts'
export type { BlockRange, CoinMove, PastBlock, PastHoldings, PastTransfer, PastTransfers, WalletHistory } from './wallet-history.ts'
export type { BridgePlan, Need, Plan, VenuePlan } from './rail.ts'
export { canonicalPermit2, permitTypedData, type Permit } from './permit2.ts'
export { apiVersion, approvableOf, defineChain, defineConnector, tradingMethods } from './plugin.ts'
export type {
  Bridge,
  ChainPlugin,
  Connector,
  ConnectorConfig,
  ConnectorPlugin,
  Manifest,
  NetworkNames,
  Plugin,
  SignedActions,
  SignedKind,
  Trading,
  TradingType,
  Venue,
} from './plugin.ts'
export type {
  Checked,
  FeeOverrides,
  GasTerms,
  PaidFees,
  PollResult,
  OpenAttempt,
  Outline,
  Prepared,
  Rail,
  CachedChecks,
  BroadcastResult,
  RefusalMeaning,
  Sealed,
  Sent,
  AttemptStatus,
  Signable,
  SequenceStatus,
  TakesPermit,
} from './rail.ts'
export { shownHost } from './chain.ts'
export { addressesSchema, bridgesSchema, singleRouterSchema, versionedSchema, withOptionalAddresses } from './schemas.ts'
