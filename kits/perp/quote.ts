import { ZeroAddress, AbiCoder } from 'ethers'
import { SluiceError, type At, type PerpOrder, type PerpQuote } from '../../core/contracts/index.ts'
import { lensProbe, readLens, type TickWindow } from '../amm/v3/lens.ts'
import { divRoundingUp, withoutFee } from '../amm/v3/math.ts'
import { type V3PoolState, swap, type IncompleteSwap, type SwapResult } from '../amm/v3/swap.ts'
import { wordsIn } from '../evm/encoding.ts'
import { revertReason } from '../evm/reverts.ts'
import { meaningOf } from './abi.ts'
import artifact from './artifacts/PerpTrial.json' with { type: 'json' }
import { combine, readNumbers, mapRead, orUndefined, unanswered, type BatchRead } from './batch-read.ts'
import { readWithTerms, type Curie, type CurieMarket, wholeRatio, type Contracts } from './curie.ts'
import { changeOf, readDebts, missingCollateral, positionAfter } from './margin.ts'
import { closeCall, type CurieClosing } from './plan.ts'
import { readAccount, readMarket, readPosition, toPosition, valueOf } from './state.ts'

/** Liquidity has 128 bits. */
const sizeLimit = 2n ** 128n

/** An order as the exchange would carry it out. One batch, or a second one where the swap goes further than the ticks that were read. */
export async function quoteOrder(
  curie: Curie,
  market: CurieMarket,
  order: PerpOrder,
  owner: string | undefined,
  at: At,
): Promise<PerpQuote> {
  const { contracts, settlement } = curie
  if (order.sizeRaw >= sizeLimit) throw orderRefused('UB_UOA')
  for (const window of windows) {
    const { head, answer, terms } = await readWithTerms(
      curie,
      (terms) =>
        combine({
          state: readMarket(contracts, terms, market),
          pool: readPool(contracts, market, window, owner),
          ...(owner !== undefined && {
            account: readAccount(contracts, terms, settlement, owner),
            position: readPosition(contracts, market, owner),
            debts: readDebts(curie, market, owner),
          }),
          // Last in the batch, since it changes the state that later calls would see.
          refused: simulateOrder(contracts, market, { sizeRaw: order.side === 'LONG' ? order.sizeRaw : -order.sizeRaw }),
        }),
      at,
    )
    const { state, pool, account, position, debts, refused } = answer
    const base = {
      order,
      market: state.market,
      prices: state.prices,
      head,
      ...(account && position && { account: account.account, position: toPosition(position, state) }),
    }
    // The caller refuses orders in markets that are not open.
    if (state.market.status !== 'open') return { ...base, ...settlementQuote(order.sizeRaw, state.markRaw) }
    if (refused !== undefined) throw orderRefused(refused)
    const swapped = pool.state && simulateSwap(pool.state, order.side, order.sizeRaw, pool.fees)
    if (!swapped) throw orderRefused('UB_UOA')
    if ('atBestRaw' in swapped) continue
    const { quoteRaw, feeRaw } = swapped
    const quote = { ...base, quoteRaw, feeRaw, gasUnits: gasUnitsOf(swapped) }
    if (!account || !position || !debts) return quote
    const change = changeOf(order, quoteRaw)
    const missingRaw = missingCollateral({ account, position, debts, markRaw: state.markRaw }, change, terms)
    return { ...quote, after: positionAfter(position, change), missingRaw }
  }
  throw orderRefused('UB_UOA')
}

/** The settlement of a size in a market that is not open: at one price and without a fee. */
function settlementQuote(sizeRaw: bigint, markRaw: bigint) {
  const valueRaw = valueOf(sizeRaw, markRaw)
  return { quoteRaw: valueRaw > 0n ? valueRaw : 1n, feeRaw: 0n, gasUnits: typicalGasUnits }
}

const orderRefused = (reason: string) =>
  new SluiceError('PRICE_FAILED', `The exchange would refuse the order: ${meaningOf(reason)}.`, { details: { reason } })

/**
 * A close as the exchange would carry it out, in one batch. The exchange closes only a part where the price would move too far within fifteen
 * seconds. No view says how large the part is, so that the close itself is then simulated, too.
 */
export async function quoteClose(curie: Curie, market: CurieMarket, owner: string, at: At): Promise<CurieClosing | undefined> {
  const { contracts, settlement } = curie
  for (const window of windows) {
    const { head, answer, terms } = await readWithTerms(
      curie,
      (terms) =>
        combine({
          state: readMarket(contracts, terms, market),
          account: readAccount(contracts, terms, settlement, owner),
          position: readPosition(contracts, market, owner),
          debts: readDebts(curie, market, owner),
          pool: readPool(contracts, market, window, owner),
          refused: simulateOrder(contracts, market, { closingOf: owner }),
        }),
      at,
    )
    const { state, account, debts, pool, refused } = answer
    const { market: shown, prices, markRaw } = state
    const position = toPosition(answer.position, state)
    if (position.sizeRaw === 0n) return undefined
    const whole = closeOrder(market, position.sizeRaw)
    const base = { market: shown, prices, head, account: account.account, position }
    if (shown.status !== 'open') return { ...base, order: whole, ...settlementQuote(whole.sizeRaw, markRaw) }
    if (refused !== undefined && refused !== 'EX_OPLAS') throw closeRefused(refused)
    const part = refused === undefined ? undefined : await simulateClose(curie, market, owner, at)
    // The position has grown since it was read.
    if (part && part.sizeRaw > whole.sizeRaw) return quoteClose(curie, market, owner, at)
    const order = part ? { ...whole, sizeRaw: part.sizeRaw } : whole
    const swapped = pool.state && simulateSwap(pool.state, order.side, order.sizeRaw, pool.fees)
    if (!swapped) throw closeRefused('UB_UOA')
    if ('atBestRaw' in swapped) continue
    const { quoteRaw, feeRaw } = { ...swapped, ...part }
    const missingRaw = missingCollateral({ account, position: answer.position, debts, markRaw }, changeOf(order, quoteRaw), terms)
    const { sqrtPriceAfterX96 } = swapped
    return { ...base, order, quoteRaw, feeRaw, missingRaw, sqrtPriceAfterX96, gasUnits: gasUnitsOf(swapped) }
  }
  throw closeRefused('UB_UOA')
}

const closeOrder = (market: CurieMarket, sizeRaw: bigint): PerpOrder =>
  sizeRaw > 0n ? { market, side: 'SHORT', sizeRaw } : { market, side: 'LONG', sizeRaw: -sizeRaw }

/** The size that the exchange would close now, and its quote amount. */
async function simulateClose({ reader, contracts: { house } }: Curie, { id }: CurieMarket, owner: string, at: At) {
  const data = closeCall({ baseToken: id, oppositeAmountBound: 0n, deadline: noDeadline, sqrtPriceLimitX96: 0n })
  const result = await reader.call({ from: owner, to: house, data }, at)
  if (!result.ok) throw closeRefused(revertReason(result.data))
  const [sizeRaw, quoteRaw] = wordsIn(result.data)
  if (sizeRaw && quoteRaw !== undefined) return { sizeRaw, quoteRaw }
  throw unanswered(house, 'closePosition', result)
}

const closeRefused = (reason: string) =>
  new SluiceError('TRADE_FAILED', `The exchange would refuse to close the position: ${meaningOf(reason)}.`, { details: { reason } })

const noDeadline = 2n ** 256n - 1n

/** In millionths: the exchange's fee for the trader, and the pool's fee, which the exchange refunds. */
interface FeeRatios {
  readonly exchange: bigint
  readonly pool: bigint
}

interface SizeSwap extends Omit<SwapResult, 'amountRaw'> {
  /** Paid for a LONG or received for a SHORT, the fee included: the exchange compares it with the order's limit. */
  readonly quoteRaw: bigint
  readonly feeRaw: bigint
  /** The pool's price at the end of the swap. */
  readonly sqrtPriceAfterX96: bigint
}

/**
 * Simulates the exchange's swap of a size of base: Exchange._swap and OrderBook.replaySwap of @perp/curie-contract@2.8.4. The pool's own fee is
 * refunded by scaling the amounts. The exchange takes its fee of each step of the pool and rounds it up each time.
 */
function simulateSwap(state: V3PoolState, side: 'LONG' | 'SHORT', sizeRaw: bigint, fees: FeeRatios): SizeSwap | IncompleteSwap | undefined {
  const afterPoolFee = wholeRatio - fees.pool
  let feeRaw = 0n
  let sqrtPriceAfterX96 = state.sqrtPriceX96
  if (side === 'SHORT') {
    // Base is always token0 (MarketRegistry.addPool).
    const swapped = swap(state, true, 'in', divRoundingUp(sizeRaw * wholeRatio, afterPoolFee), ({ outRaw, sqrtRatioNextX96 }) => {
      feeRaw += divRoundingUp(outRaw * fees.exchange, wholeRatio)
      sqrtPriceAfterX96 = sqrtRatioNextX96
    })
    if (!swapped || 'atBestRaw' in swapped) return swapped
    const { amountRaw, ...rest } = swapped
    return { ...rest, quoteRaw: amountRaw - feeRaw, feeRaw, sqrtPriceAfterX96 }
  }
  const swapped = swap(state, false, 'out', sizeRaw, ({ paidRaw, sqrtRatioNextX96 }) => {
    feeRaw += divRoundingUp(withoutFee(paidRaw, BigInt(state.fee)) * fees.exchange, wholeRatio - fees.exchange)
    sqrtPriceAfterX96 = sqrtRatioNextX96
  })
  if (!swapped || 'atBestRaw' in swapped) return swapped
  const { amountRaw, ...rest } = swapped
  return { ...rest, quoteRaw: (amountRaw * afterPoolFee) / wholeRatio + feeRaw, feeRaw, sqrtPriceAfterX96 }
}

/** How many ticks to read on both sides of the price. The next window is read where a swap goes further. */
const windows: readonly TickWindow[] = [
  { words: 8, ticks: 32 },
  { words: 128, ticks: 512 },
  { words: 7000, ticks: 4096 },
]

/** A market's pool and the trader's fees. `state` is undefined where the pool has no price. */
function readPool(
  { registry }: Contracts,
  { id, pool }: CurieMarket,
  window: TickWindow,
  trader: string = ZeroAddress,
): BatchRead<{ state: V3PoolState | undefined; fees: FeeRatios }> {
  const query = { pool, below: window, above: window }
  const reads = combine({
    state: {
      calls: [lensProbe([query])],
      answer: ([result = { ok: false, data: '0x' }]) => readLens(result, [query])[0],
    } satisfies BatchRead<V3PoolState | undefined>,
    // Newer deployments give some traders a discount.
    forTrader: orUndefined(readNumbers(registry, 'getMarketInfoByTrader', trader, id)),
    forAll: readNumbers(registry, 'getMarketInfo', id),
  })
  return mapRead(reads, ({ state, forTrader, forAll }) => {
    const [, exchange = 0n, ofPool = 0n] = forTrader ?? forAll
    return { state, fees: { exchange, pool: ofPool } }
  })
}

/** Checks of the account after the trade, which say nothing of the market. */
const accountChecks = ['CH_NEFCI', 'CH_NEFCM', 'AB_MNE']

/**
 * Why the exchange's code would refuse an order (contracts/PerpTrial.sol). Undefined where it would not. A size below 0 sells. `closingOf`
 * closes that trader's position instead.
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
      // Two words: the order was accepted, since this code's address has collateral. No data: there was too little gas.
      if (!result?.ok || result.data.length === 2 + 2 * 64) return undefined
      const reason = revertReason(result.data)
      return accountChecks.includes(reason) ? undefined : reason
    },
  }
}

// Measured on anvil: opening in a market that is new to the account takes 700,000 gas, a close 530,000, and each crossed tick some 60,000 more,
// since the exchange keeps its own fee growth beside the pool's and walks the ticks twice.
const orderUnits = 650_000
const stepUnits = 30_000
const tickUnits = 60_000

export const typicalGasUnits = 700_000n

/** An estimate for showing costs. What is signed is simulated first. */
const gasUnitsOf = ({ steps, ticksCrossed }: { steps: number; ticksCrossed: number }): bigint =>
  BigInt(orderUnits + stepUnits * steps + tickUnits * ticksCrossed)
