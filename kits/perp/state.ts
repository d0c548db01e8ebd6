import { ZeroAddress } from 'ethers'
import {
  type PerpMarket,
  type PerpPrices,
  type Ratio,
  type PerpPosition,
  type PerpAccount,
  type Token,
  type PerpFunding,
  SluiceError,
  type At,
  type PerpCollateral,
  type PerpAccountAnswer,
  type PerpLiquidation,
} from '../../core/contracts/index.ts'
import { firstBlockOfLogs } from '../evm/log-ranges.ts'
import type { EvmReader, FoundLog } from '../evm/types.ts'
import { curieAbi } from './abi.ts'
import {
  readFlag,
  readNumber,
  deferred,
  mapRead,
  orUndefined,
  combine,
  combineAll,
  readTexts,
  type BatchRead,
  readNumbers,
  runRead,
} from './batch-read.ts'
import { wad, wholeRatio, type Contracts, type CurieMarket, type Terms, curieDecimals, readWithTerms, type Curie } from './curie.ts'

interface MarketState {
  readonly market: PerpMarket
  readonly prices: PerpPrices
  /** The price that positions are valued at, with 18 decimals. */
  readonly markRaw: bigint
}

/**
 * A market and its prices. Positions are valued at the mark price of an open market, the index price at which a market was paused, or the price
 * at which it was closed: AccountBalance._getReferencePrice.
 */
export function readMarket({ balances, exchange }: Contracts, terms: Terms, market: CurieMarket): BatchRead<MarketState> {
  const { id, base, quote, baseDecimals, quoteDecimals } = market
  const reads = combine({
    isPaused: readFlag(id, 'isPaused'),
    isClosed: readFlag(id, 'isClosed'),
    maxTickCrossed: readNumber(exchange, 'getMaxTickCrossedWithinBlock', id),
    mark: deferred(readNumber(balances, 'getMarkPrice', id)),
    pausedIndex: readNumber(id, 'getPausedIndexPrice'),
    closedAt: orUndefined(readNumber(id, 'getClosedPrice')),
    index: readNumber(id, 'getIndexPrice', 0),
    indexTwap: readNumber(id, 'getIndexPrice', terms.twapSeconds),
  })
  return mapRead(reads, ({ isPaused, isClosed, maxTickCrossed, mark, pausedIndex, closedAt, index, indexTwap }) => {
    const markRaw = isClosed ? (closedAt ?? 0n) : isPaused ? pausedIndex : mark()
    // The exchange refuses all trades where no tick may be crossed: EX_MIP.
    const status = isClosed ? 'closed' : isPaused || terms.paused || maxTickCrossed === 0n ? 'paused' : 'open'
    const state: PerpMarket = {
      id,
      base,
      quote,
      baseDecimals,
      quoteDecimals,
      status,
      maxLeverage: { numerator: wholeRatio, denominator: terms.imRatio },
      maintenanceRatio: { numerator: terms.mmRatio, denominator: wholeRatio },
    }
    return { market: state, markRaw, prices: { mark: priceOf(markRaw), index: priceOf(index), indexTwap: priceOf(indexTwap) } }
  })
}

const priceOf = (raw: bigint): Ratio => ({ numerator: raw, denominator: wad })

export interface PositionState {
  readonly size: bigint
  readonly openNotional: bigint
  /** Pending funding. Above 0 where the wallet owes it. */
  readonly funding: bigint
}

/** A wallet's position as taker. Liquidity that it provides to the pool is not part of its position, and a close does not close it. */
export const readPosition = ({ balances, exchange }: Contracts, { id }: CurieMarket, owner: string): BatchRead<PositionState> =>
  combine({
    size: readNumber(balances, 'getTakerPositionSize', owner, id),
    openNotional: readNumber(balances, 'getTakerOpenNotional', owner, id),
    funding: readNumber(exchange, 'getPendingFundingPayment', owner, id),
  })

export const toPosition = ({ size, openNotional, funding }: PositionState, { market, prices, markRaw }: MarketState): PerpPosition => ({
  market,
  sizeRaw: size,
  openNotionalRaw: openNotional,
  unrealizedProfitRaw: valueOf(size, markRaw) + openNotional,
  pendingFundingRaw: -funding,
  mark: prices.mark,
})

/** Rounded towards zero: AccountBalance._getPositionValue. */
export const valueOf = (sizeRaw: bigint, markRaw: bigint): bigint => (sizeRaw * markRaw) / wad

/** An account, and the figures that its margin is computed from. All with 18 decimals. */
export interface AccountState {
  readonly account: PerpAccount
  /** Collateral with fees and funding, before rounding to the settlement token's decimals. */
  readonly collateralRaw: bigint
  readonly unrealizedRaw: bigint
  readonly debtRaw: bigint
}

/** By the formulas of Vault and AccountBalance of @perp/curie-contract@2.8.4. */
export function readAccount(
  { vault, balances, exchange }: Contracts,
  terms: Terms,
  { decimals }: Token,
  owner: string,
): BatchRead<AccountState> {
  const reads = combine({
    value: readNumber(vault, 'getAccountValue', owner),
    settlementValue: readNumber(vault, 'getSettlementTokenValue', owner),
    free: readNumber(vault, 'getFreeCollateralByRatio', owner, terms.imRatio),
    balance: readNumber(vault, 'getBalance', owner),
    pnl: readNumbers(balances, 'getPnlAndPendingFee', owner),
    funding: readNumber(exchange, 'getAllPendingFundingPayment', owner),
    debt: readNumber(balances, 'getTotalDebtValue', owner),
    maintenance: readNumber(balances, 'getMarginRequirementForLiquidation', owner),
    notional: readNumber(balances, 'getTotalAbsPositionValue', owner),
  })
  const scale = 10n ** BigInt(curieDecimals - decimals)
  return mapRead(reads, ({ value, settlementValue, free, balance, pnl, funding, debt, maintenance, notional }) => {
    const [realizedRaw = 0n, unrealizedRaw = 0n, pendingFeeRaw = 0n] = pnl
    // No view returns the value of the other collateral tokens by itself.
    const otherTokensRaw = (value - settlementValue) * scale
    const heldRaw = balance * scale + realizedRaw + otherTokensRaw
    return {
      account: {
        decimals: curieDecimals,
        valueRaw: value * scale,
        freeCollateralRaw: free * scale,
        collateralRaw: heldRaw,
        initialMarginRaw: initialMargin(debt, terms),
        maintenanceMarginRaw: maintenance,
        notionalRaw: notional,
      },
      collateralRaw: heldRaw + pendingFeeRaw - funding,
      unrealizedRaw,
      debtRaw: debt,
    }
  })
}

/**
 * What is known of an account whose figures cannot be read, and the markets that are the cause. The contracts sum up all markets of a wallet, and
 * one that does not answer may have a wrong price as well as none: only the initial margin is known, where nothing is owed in such a market.
 * @throws SluiceError the failure, where no market is the cause
 */
export async function accountWithoutFigures(curie: Curie, owner: string, failure: unknown, at: At): Promise<PerpAccountAnswer> {
  if (!(failure instanceof SluiceError)) throw failure
  const { contracts } = curie
  const { balances } = contracts
  const { answer: bases } = await runRead(curie.reader, readTexts(balances, 'getBaseTokens', owner), at)
  const { head, answer, terms } = await readWithTerms(
    curie,
    (terms) =>
      combine({
        debt: orUndefined(readNumber(balances, 'getTotalDebtValue', owner)),
        markets: combineAll(
          bases.map((id) =>
            combine({
              // Of a market that the plugin does not list, too.
              funding: deferred(readFunding(contracts, terms, { ...unnamed, id }, owner)),
              base: orUndefined(readNumber(balances, 'getBase', owner, id)),
            }),
          ),
        ),
      }),
    at,
  )
  const broken = answer.markets.flatMap(({ funding, base }, index) => {
    const id = bases[index] ?? ''
    const named = curie.markets.find((each) => each.id === id)
    try {
      funding()
      return []
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      return [{ market: named ? `${named.base}${named.quote}` : id, reason: error.message, owes: base === undefined || base < 0n }]
    }
  })
  if (broken.length === 0) throw failure
  const isDebtKnown = answer.debt !== undefined && !broken.some(({ owes }) => owes)
  return {
    head,
    account: { decimals: curieDecimals, ...(isDebtKnown && { initialMarginRaw: initialMargin(answer.debt ?? 0n, terms) }) },
    unread: broken.map(({ market, reason }) => ({ market, reason })),
  }
}

/** A market of which nothing but its contract's figures is asked. */
const unnamed = { base: '', quote: '', baseDecimals: curieDecimals, quoteDecimals: curieDecimals, pool: '' }

/** Vault._getTotalMarginRequirement */
const initialMargin = (debtRaw: bigint, { imRatio }: Terms) => (debtRaw * imRatio) / wholeRatio

/** The funding rate is a premium per day, which accrues every second: Funding.sol. */
const daySeconds = 86_400
const q96 = 2n ** 96n

/** The funding rate of a market, and what is pending for a wallet's position. */
export function readFunding(contracts: Contracts, terms: Terms, market: CurieMarket, owner: string): BatchRead<PerpFunding> {
  const { id } = market
  const reads = combine({
    state: readMarket(contracts, terms, market),
    sqrtTwapX96: readNumber(contracts.exchange, 'getSqrtMarketTwapX96', id, terms.twapSeconds),
    indexTwap: readNumber(id, 'getIndexPrice', terms.twapSeconds),
    pending: readNumber(contracts.exchange, 'getPendingFundingPayment', owner, id),
  })
  return mapRead(reads, ({ state: { market: named, prices }, sqrtTwapX96, indexTwap, pending }) => ({
    market: named,
    // Funding stops with the market.
    rate: named.status === 'open' ? fundingRate(sqrtTwapX96, indexTwap, terms.maxFundingRate) : { numerator: 0n, denominator: 1n },
    periodSeconds: daySeconds,
    index: prices.index,
    mark: prices.mark,
    pendingRaw: -pending,
  }))
}

/** The difference of the market's mean price to the index price's, limited, as a fraction of the index price: Exchange._getDeltaTwapX96. */
export function fundingRate(sqrtMarketTwapX96: bigint, indexTwapRaw: bigint, maxFundingRate: bigint): Ratio {
  const marketX96 = (sqrtMarketTwapX96 * sqrtMarketTwapX96) / q96
  const indexX96 = (indexTwapRaw * q96) / wad
  const maxX96 = (indexX96 * maxFundingRate) / wholeRatio
  const deltaX96 = marketX96 - indexX96
  const limited = deltaX96 > maxX96 ? maxX96 : deltaX96 < -maxX96 ? -maxX96 : deltaX96
  return { numerator: limited, denominator: indexX96 }
}

/** What a wallet has deposited of a token. Accounts are settled in one token; others may be collateral beside it. */
export async function collateralOf({ reader, contracts, settlement }: Curie, owner: string, token: Token, at: At): Promise<PerpCollateral> {
  const { vault, collateralManager } = contracts
  const isSettlement = token.address === settlement.address
  if (!isSettlement && (token.native || collateralManager === ZeroAddress)) throw notAccepted(token, settlement)
  const { head, answer } = await runRead(
    reader,
    combine({
      deposited: readNumber(vault, 'getBalanceByToken', owner, token.address),
      // It reverts with any market of the wallet.
      free: orUndefined(readNumber(vault, 'getFreeCollateralByToken', owner, token.address)),
      ...(!isSettlement && { isAccepted: readFlag(collateralManager, 'isCollateral', token.address) }),
    }),
    at,
  )
  const { deposited, free, isAccepted } = answer
  if (isAccepted === false) throw notAccepted(token, settlement)
  // The balance of the settlement token can be below 0 after a loss.
  return { head, token, depositedRaw: deposited > 0n ? deposited : 0n, ...(free !== undefined && { withdrawableRaw: free }) }
}

const notAccepted = ({ symbol, native }: Token, settlement: Token) =>
  new SluiceError(
    'TOKEN_NOT_SUPPORTED',
    `The exchange does not accept ${symbol} as collateral${native ? ': wrap it first, if it accepts the wrapped token' : ''}. Its settlement token is ${settlement.symbol}.`,
  )

/** The first block whose events are found. */
export const liquidationsFrom = async (reader: EvmReader, at: At): Promise<number> =>
  firstBlockOfLogs((await reader.read([], at)).head.number)

/** The liquidations of a wallet's position, from the exchange's events. */
export async function liquidationsOf(
  { reader, contracts: { house } }: Curie,
  { id }: CurieMarket,
  owner: string,
  sinceBlock: number,
  at: At,
): Promise<readonly PerpLiquidation[]> {
  const logsSince = (fromBlock: number, ...names: readonly string[]) => {
    const [[, ...about] = [], ...others] = names.map((name) => curieAbi.encodeFilterTopics(name, [owner, id]).map(String))
    const first = names.flatMap((name) => curieAbi.getEvent(name)?.topicHash ?? [])
    return reader.logs({ address: house, topics: [others.length === 0 ? (first[0] ?? null) : first, ...about], fromBlock }, at)
  }
  const [first] = await logsSince(sinceBlock + 1, 'PositionLiquidated')
  if (!first) return []
  return readLiquidations(await logsSince(first.blockNumber, 'PositionLiquidated', 'PositionChanged', 'FundingPaymentSettled'))
}

/**
 * Of the events of a trader in a market, in their order. A liquidation settles the funding, trades the position as any close (`PositionChanged`, with the exchange's
 * fee), and takes its penalty then: ClearingHouse._liquidate of @perp/curie-contract@2.8.4.
 */
function readLiquidations(logs: readonly FoundLog[]): readonly PerpLiquidation[] {
  const found: PerpLiquidation[] = []
  let [hash, fundingRaw]: [string, bigint] = ['', 0n]
  let changed: readonly bigint[] | undefined
  for (const { topics, data, transactionHash, blockNumber } of logs) {
    // One transaction may have several of them.
    if (transactionHash !== hash) [hash, fundingRaw, changed] = [transactionHash, 0n, undefined]
    const event = curieAbi.parseLog({ topics: [...topics], data })
    const values = (event?.args.toArray() ?? []).slice(2).filter((value): value is bigint => typeof value === 'bigint')
    if (event?.name === 'FundingPaymentSettled') fundingRaw -= values[0] ?? 0n
    else if (event?.name === 'PositionChanged') changed = values
    else if (event?.name === 'PositionLiquidated') {
      const [, sizeRaw = 0n, penaltyRaw = 0n] = values
      const [exchangedRaw, , feeRaw = 0n, , profitRaw] = changed ?? []
      const isWhole = exchangedRaw !== undefined && profitRaw !== undefined && size(exchangedRaw) === sizeRaw
      const side: 'LONG' | 'SHORT' = isWhole && exchangedRaw > 0n ? 'LONG' : 'SHORT'
      const effect = isWhole && { side, feeRaw: feeRaw + penaltyRaw, realizedProfitRaw: profitRaw - penaltyRaw, fundingRaw }
      found.push({ txHash: transactionHash, blockNumber, sizeRaw, ...(effect && { effect }) })
      ;[fundingRaw, changed] = [0n, undefined]
    }
  }
  return found
}

const size = (raw: bigint) => (raw < 0n ? -raw : raw)
