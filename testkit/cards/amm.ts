import { expect } from 'chai'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import { fromRaw } from '../../core/decimal.ts'
import { expectOk, expectRefusal } from './expect.ts'
import {
  approve,
  balancesOf,
  mineAfterDeadline,
  minedInOneBlock,
  price,
  priorityFields,
  toRaw,
  venueFields,
  waitForMined,
} from './venue.ts'
import type { AddCard, PriceRequest, TestVenue } from './venue.ts'

const amounts = ['0.0001', '0.001', '0.01', '0.1', '1', '5', '20']

/** What every exchange of the trading type AMM must do. */
export function ammCards(venue: TestVenue, it: AddCard): void {
  const firstPair = (): readonly [string, string] =>
    venue.pairs[0] ?? expect.fail(`It quotes no pair of the devnet's tokens:\n${venue.unquoted.join('\n')}`)
  const eachPair = async (check: (base: string, quote: string) => Promise<void>) => {
    firstPair()
    for (const [base, quote] of venue.pairs) await check(base, quote)
  }

  it('AMM-01 a larger amount never gets a better price', () =>
    eachPair(async (base, quote) => {
      for (const side of ['BUY', 'SELL'] as const) {
        const quotes = []
        for (const amount of amounts) quotes.push(await quoteOrNothing(venue, { base, quote, amount, side }))
        for (const [i, small] of quotes.entries()) {
          const large = quotes[i + 1]
          // Only prices of the same route compare: another route may be worth its gas for the larger amount only.
          if (!small || !large || pools(small) !== pools(large)) continue
          const [smallIn, smallOut] = [BigInt(small.rawAmount), toRaw(small.expectedAmount)]
          const [largeIn, largeOut] = [BigInt(large.rawAmount), toRaw(large.expectedAmount)]
          const [a, b] = [smallOut * largeIn, largeOut * smallIn]
          // Each pool may round two units of input or output: the amount, and the fee on it.
          const units = 2n * BigInt(small.route.length) * (smallIn + smallOut + largeIn + largeOut)
          const holds = side === 'SELL' ? b <= a + units : b >= a - units
          expect(holds, `${side} ${base}-${quote}: ${small.amount} at ${small.price}, ${large.amount} at ${large.price}`).to.equal(true)
        }
      }
    }))

  it('AMM-02 buying costs at least what selling brings', () =>
    eachPair(async (base, quote) => {
      for (const amount of amounts) {
        const buy = await quoteOrNothing(venue, { base, quote, amount, side: 'BUY' })
        const sell = await quoteOrNothing(venue, { base, quote, amount, side: 'SELL' })
        if (buy && sell) expect(toRaw(buy.expectedAmount) >= toRaw(sell.expectedAmount), `${base}-${quote} ${amount}`).to.equal(true)
      }
    }))

  it('AMM-03 more than the pools hold is PRICE_FAILED', () =>
    eachPair(async (base, quote) => {
      const request = { ...venueFields(venue), base, quote, amount: '1000000000000', side: 'BUY' }
      expectRefusal(await venue.client.get('/amm/price', request), '422 PRICE_FAILED', `${base}-${quote}`)
    }))

  it('AMM-04 buying what an exact input bought costs no more than that input, and not a unit less', () =>
    eachPair(async (base, quote) => {
      const sold = await price(venue, { base, quote, amount: '1', side: 'SELL' })
      const bought = await price(venue, { base: quote, quote: base, amount: sold.expectedAmount, side: 'BUY' })
      // A split trade has shares of the input, which are not those of the output.
      if (pools(sold) !== pools(bought) || sold.route.some(({ share }) => share !== undefined)) return
      const cost = toRaw(bought.expectedAmount)
      // An exchange may charge a unit or its error margin of powers more than needed. Then its own quoter does, too.
      const expectOwnQuote = async () =>
        expect(await venue.quoter?.exactOut(bought.route, BigInt(bought.rawAmount), bought.blockNumber)).to.equal(cost)
      if (cost > BigInt(sold.rawAmount)) await expectOwnQuote()
      // The cost is tight: it buys the same amount, and a unit less does not.
      const again = await price(venue, { base, quote, amount: bought.expectedAmount, side: 'SELL' })
      if (pools(again) === pools(bought)) expect(toRaw(again.expectedAmount) >= toRaw(sold.expectedAmount)).to.equal(true)
      const less = await price(venue, {
        base,
        quote,
        amount: fromRaw(cost - 1n, bought.expectedAmount.split('.')[1]?.length ?? 0),
        side: 'SELL',
      })
      if (pools(less) === pools(bought) && toRaw(less.expectedAmount) >= toRaw(sold.expectedAmount)) await expectOwnQuote()
    }))

  it("AMM-05 the quote equals the exchange's own quoter to the unit, at that block", async () => {
    const { quoter } = venue
    if (!quoter) throw new Error("The plugin's devnet.ts has no quoter: without one nothing but the plugin itself says what is right.")
    await eachPair(async (base, quote) => {
      for (const amount of amounts) {
        for (const side of ['BUY', 'SELL'] as const) {
          const answer = await quoteOrNothing(venue, { base, quote, amount, side })
          if (!answer) continue
          const { route, rawAmount, expectedAmount, blockNumber } = answer
          const own =
            side === 'SELL'
              ? await quoter.exactIn(route, BigInt(rawAmount), blockNumber)
              : await quoter.exactOut(route, BigInt(rawAmount), blockNumber)
          expect(toRaw(expectedAmount), `${side} ${amount} ${base}-${quote}`).to.equal(own)
        }
      }
    })
  })

  it('AMM-06 the fill equals the quote when nothing came between', () =>
    eachPair(async (base, quote) => {
      const [address] = venue.wallets
      await approve(venue, address, base)
      await approve(venue, address, quote)
      for (const side of ['BUY', 'SELL'] as const) {
        const { route } = await price(venue, { base, quote, amount: '0.01', side })
        const trade = expectOk(await sendTrade(venue, { address, base, quote, amount: '0.01', side }))
        const { fill, txReceipt } = await waitForMined(venue, trade.txHash)
        expect(txReceipt.status).to.equal(1)
        const [paid, got] = side === 'BUY' ? [trade.expectedAmount, trade.amount] : [trade.amount, trade.expectedAmount]
        if (side === 'BUY' && toRaw(fill.amountOut) > toRaw(got)) {
          // An exchange with exact inputs only may give more than was bought. Then a unit less would have bought too little.
          expect(fill.amountIn).to.equal(paid)
          const less = await venue.quoter?.exactIn(route, toRaw(paid) - 1n, txReceipt.blockNumber - 1)
          expect(less !== undefined && less < toRaw(got), `${base}-${quote}: a unit less gives ${less}`).to.equal(true)
        } else expect(fill).to.deep.equal({ amountIn: paid, amountOut: got, price: trade.price })
      }
    }))

  it('AMM-07 a price that moved past the limit reverts on chain and costs only gas', async () => {
    const [base, quote] = firstPair()
    const [victim, mover] = venue.wallets
    for (const address of [victim, mover]) await approve(venue, address, base)
    let before: unknown
    const { txReceipt, fill } = await minedInOneBlock(venue, async () => {
      before = await balancesOf(venue, victim, [base, quote])
      const { price: limitPrice } = await price(venue, { base, quote, amount: '0.1', side: 'SELL' })
      const { txHash } = expectOk(await sendTrade(venue, { address: victim, base, quote, amount: '0.1', side: 'SELL', limitPrice }))
      expectOk(await sendTrade(venue, { address: mover, base, quote, amount: '1', side: 'SELL', ...priorityFields(venue) }))
      return txHash
    })
    expect(txReceipt.status).to.equal(0)
    expect(fill).to.equal(undefined)
    expect(await balancesOf(venue, victim, [base, quote])).to.deep.equal(before)
  })

  it('AMM-08 a transaction after its deadline reverts on chain and costs only gas', async () => {
    const [base, quote] = firstPair()
    const [address] = venue.wallets
    await approve(venue, address, base)
    let before: unknown
    const { txReceipt } = await minedInOneBlock(venue, async () => {
      before = await balancesOf(venue, address, [base, quote])
      return mineAfterDeadline(venue, expectOk(await sendTrade(venue, { address, base, quote, amount: '0.1', side: 'SELL' })))
    })
    expect(txReceipt.status).to.equal(0)
    expect(await balancesOf(venue, address, [base, quote])).to.deep.equal(before)
  })
}

const sendTrade = (venue: TestVenue, fields: object) => venue.client.post('/amm/trade', { ...venueFields(venue), ...fields })

async function quoteOrNothing(venue: TestVenue, request: PriceRequest): Promise<AMMPriceResponse | undefined> {
  const answer = await venue.client.get('/amm/price', { ...venueFields(venue), ...request })
  return answer.body?.name === 'PRICE_FAILED' ? undefined : expectOk(answer)
}

const pools = ({ route }: Pick<AMMPriceResponse, 'route'>) =>
  route
    .map(({ pool, share = '1' }) => `${pool} ${share}`)
    .toSorted()
    .join()
