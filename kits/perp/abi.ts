import { abiOf } from '../evm/encoding.ts'

// @perp/curie-contract@2.8.4, contracts/interface.
const openParams =
  '(address baseToken, bool isBaseToQuote, bool isExactInput, uint256 amount, uint256 oppositeAmountBound, uint256 deadline, uint160 sqrtPriceLimitX96, bytes32 referralCode)'
const closeParams = '(address baseToken, uint160 sqrtPriceLimitX96, uint256 oppositeAmountBound, uint256 deadline, bytes32 referralCode)'

/** Events of the exchange's contracts about positions and collateral. */
export const perpEvents = [
  'event PositionChanged(address indexed trader, address indexed baseToken, int256 exchangedPositionSize, int256 exchangedPositionNotional, uint256 fee, int256 openNotional, int256 realizedPnl, uint256 sqrtPriceAfterX96)',
  'event PositionClosed(address indexed trader, address indexed baseToken, int256 closedPositionSize, int256 closedPositionNotional, int256 openNotional, int256 realizedPnl, uint256 closedPrice)',
  'event PositionLiquidated(address indexed trader, address indexed baseToken, uint256 positionNotional, uint256 positionSize, uint256 liquidationFee, address liquidator)',
  'event FundingPaymentSettled(address indexed trader, address indexed baseToken, int256 fundingPayment)',
  'event PnlRealized(address indexed trader, int256 amount)',
  'event Deposited(address indexed collateralToken, address indexed trader, uint256 amount)',
  'event Withdrawn(address indexed collateralToken, address indexed trader, uint256 amount)',
] as const

/** The functions that are called at the exchange's contracts and tokens. */
export const curieAbi = abiOf([
  // ClearingHouse
  `function openPosition(${openParams} params) returns (uint256 base, uint256 quote)`,
  `function closePosition(${closeParams} params) returns (uint256 base, uint256 quote)`,
  'function quitMarket(address trader, address baseToken) returns (uint256 base, uint256 quote)',
  'function paused() view returns (bool)',
  'function getVault() view returns (address)',
  'function getExchange() view returns (address)',
  'function getAccountBalance() view returns (address)',
  'function getClearingHouseConfig() view returns (address)',
  'function getQuoteToken() view returns (address)',
  // Vault
  'function deposit(address token, uint256 amount)',
  'function withdraw(address token, uint256 amount)',
  'function getClearingHouse() view returns (address)',
  'function getSettlementToken() view returns (address)',
  'function getCollateralManager() view returns (address)',
  'function getAccountValue(address trader) view returns (int256)',
  'function getSettlementTokenValue(address trader) view returns (int256)',
  'function getFreeCollateralByRatio(address trader, uint24 ratio) view returns (int256)',
  'function getFreeCollateralByToken(address trader, address token) view returns (uint256)',
  'function getBalance(address trader) view returns (int256)',
  'function getBalanceByToken(address trader, address token) view returns (int256)',
  // CollateralManager
  'function isCollateral(address token) view returns (bool)',
  // AccountBalance
  'function getTakerPositionSize(address trader, address baseToken) view returns (int256)',
  'function getTakerOpenNotional(address trader, address baseToken) view returns (int256)',
  'function getBase(address trader, address baseToken) view returns (int256)',
  'function getQuote(address trader, address baseToken) view returns (int256)',
  'function getBaseTokens(address trader) view returns (address[])',
  'function getPnlAndPendingFee(address trader) view returns (int256 owedRealizedPnl, int256 unrealizedPnl, uint256 pendingFee)',
  'function getTotalDebtValue(address trader) view returns (uint256)',
  'function getTotalAbsPositionValue(address trader) view returns (uint256)',
  'function getMarginRequirementForLiquidation(address trader) view returns (int256)',
  'function getMarkPrice(address baseToken) view returns (uint256)',
  // Exchange
  'function getMarketRegistry() view returns (address)',
  'function getPendingFundingPayment(address trader, address baseToken) view returns (int256)',
  'function getAllPendingFundingPayment(address trader) view returns (int256)',
  'function getMaxTickCrossedWithinBlock(address baseToken) view returns (uint24)',
  'function getSqrtMarketTwapX96(address baseToken, uint32 twapInterval) view returns (uint160)',
  // MarketRegistry
  'function hasPool(address baseToken) view returns (bool)',
  'function getPool(address baseToken) view returns (address)',
  'function getMarketInfo(address baseToken) view returns (address pool, uint24 exchangeFeeRatio, uint24 uniswapFeeRatio)',
  'function getMarketInfoByTrader(address trader, address baseToken) view returns (address pool, uint24 exchangeFeeRatio, uint24 uniswapFeeRatio)',
  // ClearingHouseConfig
  'function getImRatio() view returns (uint24)',
  'function getMmRatio() view returns (uint24)',
  'function getTwapInterval() view returns (uint32)',
  'function getMaxFundingRate() view returns (uint24)',
  // BaseToken, QuoteToken, and the tokens that are collateral
  'function isPaused() view returns (bool)',
  'function isClosed() view returns (bool)',
  'function getPausedIndexPrice() view returns (uint256)',
  'function getClosedPrice() view returns (uint256)',
  'function getIndexPrice(uint256 interval) view returns (uint256)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  ...perpEvents,
])

const notOpen = 'the market accepts no orders: it is paused or closed'
const tooLarge = 'the market has too little liquidity for the size: trade less'
const capped = 'the exchange accepts no more of the token: its cap is reached'

/**
 * What the error codes of the contracts mean, to follow "it would fail: ". The codes are explained in comments of
 * @perp/curie-contract@2.8.4, contracts/*.sol. OLD is from @uniswap/v3-core@1.0.1, contracts/libraries/Oracle.sol.
 */
export const perpRefusals: Readonly<Record<string, string>> = {
  // ClearingHouse.sol
  CH_TE: 'the deadline has passed: send the request again',
  CH_MNO: notOpen,
  CH_MP: notOpen,
  CH_MNC: 'the market is not closed for good, so its positions are not settled yet',
  CH_TLRS: 'the sale brings less than its limit by now: send the request again, or allow more slippage',
  CH_TMRL: 'the purchase costs more than its limit by now: send the request again, or allow more slippage',
  CH_NEFCI: 'too little collateral would be left free for the initial margin: deposit more, or open less',
  CH_NEFCM:
    'too little collateral would be left free for the maintenance margin, so that only liquidators may reduce the position: deposit more first',
  CH_PSZ: 'there is no position to close',
  CH_F0S: tooLarge,
  // Exchange.sol, lib/UniswapV3Broker.sol
  EX_BTNE: 'the exchange has no such market',
  EX_MIP: notOpen,
  EX_OPLAS: 'the price would move further than the exchange allows within fifteen seconds: trade less at once, or wait',
  // UniswapV3Pool.sol of @uniswap/v3-core@1.0.1: the price is already at its limit, set by the exchange or by the close.
  SPL: 'the price has passed its limit, or moved as far as the exchange allows within fifteen seconds: send the request again, or wait',
  EX_OPB: 'the price would be further from the index price than the exchange allows: trade less, or wait until they are closer',
  UB_UOA: tooLarge,
  // AccountBalance.sol
  AB_MNE: 'the account is in the maximum number of markets: close a position in another one',
  // Vault.sol
  V_NEFC: 'less than that can be withdrawn now: close positions or withdraw less',
  V_GTSTBC: capped,
  V_GTDC: capped,
  V_CTNE: 'the account has the maximum number of collateral tokens',
  V_OSCT: 'the exchange does not accept the token as collateral',
  V_IBA: 'the exchange accepts no tokens that charge a fee on transfer',
  // The oracles of the prices
  OLD: "the market's oracle does not reach back far enough for the exchange: wait some minutes",
  // base/OwnerPausable.sol
  'Pausable: paused': 'the exchange is paused',
}

/** What a refusal means, with its code. */
export function meaningOf(reason: string): string {
  return Object.hasOwn(perpRefusals, reason) ? `${perpRefusals[reason]} (${reason})` : reason
}
