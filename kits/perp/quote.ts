import { ZeroAddress, AbiCoder } from 'ethers'
import { SluiceError, type At, type PerpOrder, type PerpQuote } from '../../core/contracts/index.ts'
import { lensProbe, lensQuery, readLens, type TickWindow } from '../amm/v3/lens.ts'
import { divRoundingUp, withoutFee } from '../amm/v3/math.ts'
import { type V3PoolState, swap, type IncompleteSwap, type SwapResult } from '../amm/v3/swap.ts'
import { revertReason } from '../evm/node-errors.ts'
import { meaningOf, curieAbi } from './abi.ts'
import artifact from './artifacts/PerpTrial.json' with { type: 'json' }
import { combine, readNumbers, mapRead, orUndefined, type BatchRead } from './batch-read.ts'
import { readWithTerms, type Curie, type CurieMarket, wholeRatio, type Contracts } from './curie.ts'
import { changeOf, readDebts, missingCollateral, positionAfter } from './margin.ts'
import { closeCall, type CurieClosing } from './plan.ts'
import { readAccount, readMarket, readPosition, toPosition, valueOf } from './state.ts'

/** Liquidity has 128 bits. */
const moreThanAny = 2n ** 128n

/** An order as the exchange would carry it out: one batch, two where it goes further into the pool than was read. */
export async function quoteOrder(
  curie: Curie,
  market: CurieMarket,
  order: PerpOrder,
  owner: string | undefined,
  at: At,
): Promise<PerpQuote> {
  const { contracts, settlement } = curie
  if (order.sizeRaw >= moreThanAny) throw noPrice('UB_UOA')
  for (const reach of reaches) {
    const { head, answer, terms } = await readWithTerms(
      curie,
      (terms) =>
        combine({
          now: readMarket(contracts, terms, market),
          pool: readPool(contracts, market, reach, owner),
          ...(owner !== undefined && {
            account: readAccount(contracts, terms, settlement, owner),
            position: readPosition(contracts, market, owner),
            debts: readDebts(curie, market, owner),
          }),
          // The last: it may leave something behind.
          refused: simulateOrder(contracts, market, { sizeRaw: order.side === 'LONG' ? order.sizeRaw : -order.sizeRaw }),
        }),
      at,
    )
    const { now, pool, account, position, debts, refused } = answer
    const { market: shown, prices } = now
    const found = {
      order,
      market: shown,
      prices,
      head,
      ...(account && position && { account: account.account, position: toPosition(position, now) }),
    }
    // Nothing is traded there, which is for who asked to say.
    if (shown.status !== 'open') return { ...found, ...settlementQuote(order.sizeRaw, now.markRaw) }
    if (refused !== undefined) throw noPrice(refused)
    const exchanged = pool.state && simulateSwap(pool.state, order.side, order.sizeRaw, pool.fees)
    if (!exchanged) throw noPrice('UB_UOA')
    if ('atBestRaw' in exchanged) continue
    const { quoteRaw, feeRaw } = exchanged
    const quoted = { ...found, quoteRaw, feeRaw, gasUnits: gasUnitsOf(exchanged) }
    if (!account || !position || !debts) return quoted
    const change = changeOf(order, quoteRaw)
    const missingRaw = missingCollateral({ account, position, debts, markRaw: now.markRaw }, change, terms)
    return { ...quoted, after: positionAfter(position, change), missingRaw }
  }
  throw noPrice('UB_UOA')
}

/** What a size is paid out at where nothing is traded: at one price, and without a fee. */
function settlementQuote(sizeRaw: bigint, markRaw: bigint) {
  const worthRaw = valueOf(sizeRaw, markRaw)
  return { quoteRaw: worthRaw > 0n ? worthRaw : 1n, feeRaw: 0n, gasUnits: typicalGasUnits }
}

const noPrice = (reason: string) =>
  new SluiceError('PRICE_FAILED', `The exchange would refuse the order: ${meaningOf(reason)}.`, { details: { reason } })

/**
 * A close as the exchange would carry it out: one batch. Where it would close a part only, since the price may move no further within
 * fifteen seconds, how much that is depends on what no view says, so that the exchange is asked to close it, too.
 */
export async function quoteClose(curie: Curie, market: CurieMarket, owner: string, at: At): Promise<CurieClosing | undefined> {
  const { contracts, settlement } = curie
  for (const reach of reaches) {
    const { head, answer, terms } = await readWithTerms(
      curie,
      (terms) =>
        combine({
          now: readMarket(contracts, terms, market),
          account: readAccount(contracts, terms, settlement, owner),
          position: readPosition(contracts, market, owner),
          debts: readDebts(curie, market, owner),
          pool: readPool(contracts, market, reach, owner),
          refused: simulateOrder(contracts, market, { closingOf: owner }),
        }),
      at,
    )
    const { now, account, debts, pool, refused } = answer
    const { market: shown, prices, markRaw } = now
    const position = toPosition(answer.position, now)
    if (position.sizeRaw === 0n) return undefined
    const whole = closes(market, position.sizeRaw)
    const found = { market: shown, prices, head, account: account.account, position }
    if (shown.status !== 'open') return { ...found, order: whole, ...settlementQuote(whole.sizeRaw, markRaw) }
    if (refused !== undefined && refused !== 'EX_OPLAS') throw wouldFail(refused)
    const part = refused === undefined ? undefined : await closedAtOnce(curie, market, owner, at)
    // In between it became another position than the one that was read.
    if (part && part.sizeRaw > whole.sizeRaw) return quoteClose(curie, market, owner, at)
    const order = part ? { ...whole, sizeRaw: part.sizeRaw } : whole
    const exchanged = pool.state && simulateSwap(pool.state, order.side, order.sizeRaw, pool.fees)
    if (!exchanged) throw wouldFail('UB_UOA')
    if ('atBestRaw' in exchanged) continue
    const { quoteRaw, feeRaw } = { ...exchanged, ...part }
    const missingRaw = missingCollateral({ account, position: answer.position, debts, markRaw }, changeOf(order, quoteRaw), terms)
    const { sqrtPriceAfterX96 } = exchanged
    return { ...found, order, quoteRaw, feeRaw, missingRaw, sqrtPriceAfterX96, gasUnits: gasUnitsOf(exchanged) }
  }
  throw wouldFail('UB_UOA')
}

const closes = (market: CurieMarket, sizeRaw: bigint): PerpOrder =>
  sizeRaw > 0n ? { market, side: 'SHORT', sizeRaw } : { market, side: 'LONG', sizeRaw: -sizeRaw }

/** What the exchange says that it would close now, and for how much. */
async function closedAtOnce({ reader, contracts: { house } }: Curie, { id }: CurieMarket, owner: string, at: At) {
  const { ok, data } = await reader.call(
    { from: owner, to: house, data: closeCall({ baseToken: id, oppositeAmountBound: 0n, deadline: forEver, sqrtPriceLimitX96: 0n }) },
    at,
  )
  if (ok) {
    const [sizeRaw, quoteRaw] = curieAbi.decodeFunctionResult('closePosition', data)
    return { sizeRaw: BigInt(sizeRaw), quoteRaw: BigInt(quoteRaw) }
  }
  throw wouldFail(revertReason(data))
}

const wouldFail = (reason: string) =>
  new SluiceError('TRADE_FAILED', `The exchange would refuse to close the position: ${meaningOf(reason)}.`, { details: { reason } })

const forEver = 2n ** 256n - 1n

/** In millionths: of the exchange, as it is for the trader, and of the pool, which the exchange cancels out. */
interface FeeRatios {
  readonly exchange: bigint
  readonly pool: bigint
}

interface SizeSwap extends Omit<SwapResult, 'amountRaw'> {
  /** Paid (LONG) or received (SHORT), with the fee: what bounds are compared with. */
  readonly quoteRaw: bigint
  readonly feeRaw: bigint
  /** Of the pool, where the swap ends. */
  readonly sqrtPriceAfterX96: bigint
}

/**
 * What the exchange makes of a size of base: Exchange._swap and OrderBook.replaySwap of @perp/curie-contract@2.8.4. The pool takes a fee
 * of its own, which is given back by scaling; the exchange's is taken of each of the pool's steps, and rounded up each time.
 */
function simulateSwap(state: V3PoolState, side: 'LONG' | 'SHORT', sizeRaw: bigint, fees: FeeRatios): SizeSwap | IncompleteSwap | undefined {
  const withoutPool = wholeRatio - fees.pool
  let feeRaw = 0n
  let sqrtPriceAfterX96 = state.sqrtPriceX96
  if (side === 'SHORT') {
    // Base is token0, always (MarketRegistry.addPool).
    const swapped = swap(state, true, 'in', divRoundingUp(sizeRaw * wholeRatio, withoutPool), ({ outRaw, sqrtRatioNextX96 }) => {
      feeRaw += divRoundingUp(outRaw * fees.exchange, wholeRatio)
      sqrtPriceAfterX96 = sqrtRatioNextX96
    })
    if (!swapped || 'atBestRaw' in swapped) return swapped
    const { amountRaw, ...way } = swapped
    return { ...way, quoteRaw: amountRaw - feeRaw, feeRaw, sqrtPriceAfterX96 }
  }
  const swapped = swap(state, false, 'out', sizeRaw, ({ paidRaw, sqrtRatioNextX96 }) => {
    feeRaw += divRoundingUp(withoutFee(paidRaw, BigInt(state.fee)) * fees.exchange, wholeRatio - fees.exchange)
    sqrtPriceAfterX96 = sqrtRatioNextX96
  })
  if (!swapped || 'atBestRaw' in swapped) return swapped
  const { amountRaw, ...way } = swapped
  return { ...way, quoteRaw: (amountRaw * withoutPool) / wholeRatio + feeRaw, feeRaw, sqrtPriceAfterX96 }
}

/** How far to read a pool beside its price, in each direction: the next where a swap goes further. */
const reaches: readonly TickWindow[] = [
  { words: 8, ticks: 32 },
  { words: 128, ticks: 512 },
  { words: 7000, ticks: 4096 },
]

/** A market's pool and the fees that a trader pays there; undefined where the pool has no price. */
function readPool(
  { registry }: Contracts,
  { id, pool }: CurieMarket,
  reach: TickWindow,
  trader: string = ZeroAddress,
): BatchRead<{ state: V3PoolState | undefined; fees: FeeRatios }> {
  const look = lensQuery(pool, reach, reach)
  const asked = combine({
    state: {
      calls: [lensProbe([look])],
      answer: ([result = { ok: false, data: '0x' }]) => readLens(result, [look])[0],
    } satisfies BatchRead<V3PoolState | undefined>,
    // Newer deployments give some traders a discount.
    forTrader: orUndefined(readNumbers(registry, 'getMarketInfoByTrader', trader, id)),
    forAll: readNumbers(registry, 'getMarketInfo', id),
  })
  return mapRead(asked, ({ state, forTrader, forAll }) => {
    const [, exchange = 0n, ofPool = 0n] = forTrader ?? forAll
    return { state, fees: { exchange, pool: ofPool } }
  })
}

/** What the exchange looks at after it has traded, and so says nothing of the market. */
const aboutTheAccount = ['CH_NEFCI', 'CH_NEFCM', 'AB_MNE']

/**
 * Why the market would refuse an order, by its own code (contracts/PerpTrial.sol); undefined where it would not. A size below 0
 * sells; `closingOf` in its place stands for what closes that trader's position.
 */
function simulateOrder(
  { house, balances }: Contracts,
  { id }: CurieMarket,
  order: { sizeRaw: bigint } | { closingOf: string },
): BatchRead<string | undefined> {
  const [trader, sizeRaw] = 'closingOf' in order ? [order.closingOf, 0n] : [house, order.sizeRaw]
  const args = AbiCoder.defaultAbiCoder().encode(
    ['address', 'address', 'address', 'address', 'int256'],
    [house, balances, id, trader, sizeRaw],
  )
  return {
    calls: [{ code: artifact.bytecode, args }],
    answer([result]) {
      // Two words: it was not refused, since somebody gave this code's address collateral. Nothing: there was not enough gas to try.
      if (!result?.ok || result.data.length === 2 + 2 * 64) return undefined
      const reason = revertReason(result.data)
      return aboutTheAccount.includes(reason) ? undefined : reason
    },
  }
}

// Measured on anvil: opening in a market that the account was not in takes 700,000 (close: 530,000), a tick that is crossed some
// 60,000 more, for the exchange keeps growth of its own beside the pool's and goes through it twice.
const orderUnits = 650_000
const stepUnits = 30_000
const tickUnits = 60_000

export const typicalGasUnits = 700_000n

/** An estimate for showing costs; what is signed is simulated first. */
const gasUnitsOf = ({ steps, ticksCrossed }: { steps: number; ticksCrossed: number }): bigint =>
  BigInt(orderUnits + stepUnits * steps + tickUnits * ticksCrossed)
