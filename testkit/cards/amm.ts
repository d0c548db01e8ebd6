import { expect } from 'chai'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import {
  approve,
  priorityFields,
  inOneBlock,
  waitForMined,
  nodeCall,
  price,
  toRaw,
  venueFields,
  type AddCard,
  type TestVenue,
  type PriceRequest,
} from './venue.ts'

const amounts = ['0.0001', '0.001', '0.01', '0.1', '1', '5', '20']

/** What every exchange of the trading type AMM must do, whatever is behind it. */
export function ammCards(bench: TestVenue, it: AddCard): void {
  const firstPair = (): readonly [string, string] =>
    bench.pairs[0] ?? expect.fail(`it quotes no pair of the devnet's tokens:\n${bench.unquoted.join('\n')}`)
  const eachPair = async (check: (base: string, quote: string) => Promise<void>) => {
    firstPair()
    for (const [base, quote] of bench.pairs) await check(base, quote)
  }

  it('AMM-01 a larger amount never gets a better price', () =>
    eachPair(async (base, quote) => {
      for (const side of ['BUY', 'SELL'] as const) {
        const quotes = []
        for (const amount of amounts) quotes.push(await quoteOrNothing(bench, { base, quote, amount, side }))
        for (const [i, small] of quotes.entries()) {
          const large = quotes[i + 1]
          // Another route may be worth its gas only for the larger amount: prices compare on one route.
          if (!small || !large || pools(small) !== pools(large)) continue
          const [smallIn, smallOut] = [BigInt(small.rawAmount), toRaw(small.expectedAmount)]
          const [largeIn, largeOut] = [BigInt(large.rawAmount), toRaw(large.expectedAmount)]
          const [a, b] = [smallOut * largeIn, largeOut * smallIn]
          // Two smallest units may be rounding in each pool, of what goes in or of what comes out: of an amount, and of the fee on it.
          const units = 2n * BigInt(small.route.length) * (smallIn + smallOut + largeIn + largeOut)
          const holds = side === 'SELL' ? b <= a + units : b >= a - units
          expect(holds, `${side} ${base}-${quote}: ${small.amount} at ${small.price}, ${large.amount} at ${large.price}`).to.equal(true)
        }
      }
    }))

  it('AMM-02 buying costs at least what selling brings', () =>
    eachPair(async (base, quote) => {
      for (const amount of amounts) {
        const buy = await quoteOrNothing(bench, { base, quote, amount, side: 'BUY' })
        const sell = await quoteOrNothing(bench, { base, quote, amount, side: 'SELL' })
        if (buy && sell) expect(toRaw(buy.expectedAmount) >= toRaw(sell.expectedAmount), `${base}-${quote} ${amount}`).to.equal(true)
      }
    }))

  it('AMM-03 more than the pools hold is PRICE_FAILED', () =>
    eachPair(async (base, quote) => {
      const { status, body, text } = await bench.client.get('/amm/price', {
        ...venueFields(bench),
        base,
        quote,
        amount: '1000000000000',
        side: 'BUY',
      })
      expect(status, text).to.equal(422)
      expect(body.name).to.equal('PRICE_FAILED')
    }))

  it('AMM-04 what an exact input buys costs no more than that input, and no unit less', () =>
    eachPair(async (base, quote) => {
      const sold = await price(bench, { base, quote, amount: '1', side: 'SELL' })
      const bought = await price(bench, { base: quote, quote: base, amount: sold.expectedAmount, side: 'BUY' })
      // Twentieths of what goes in are not those of what comes out.
      if (pools(sold) !== pools(bought) || sold.route.some(({ share }) => share !== undefined)) return
      const cost = toRaw(bought.expectedAmount)
      // An exchange may ask for more than it need, a unit or the margin of error of its powers: then its own quoter says the same.
      const asItsOwn = async () =>
        expect(await bench.quoter?.exactOut(bought.route, BigInt(bought.rawAmount), bought.blockNumber)).to.equal(cost)
      if (cost > BigInt(sold.rawAmount)) await asItsOwn()
      // Tight: what it costs buys as much, and one unit less of input does not.
      const again = await price(bench, { base, quote, amount: bought.expectedAmount, side: 'SELL' })
      if (pools(again) === pools(bought)) expect(toRaw(again.expectedAmount) >= toRaw(sold.expectedAmount)).to.equal(true)
      const less = await price(bench, { base, quote, amount: decimal(cost - 1n, bought.expectedAmount), side: 'SELL' })
      if (pools(less) === pools(bought) && toRaw(less.expectedAmount) >= toRaw(sold.expectedAmount)) await asItsOwn()
    }))

  it("AMM-05 the quote equals the exchange's own quoter to the unit, at that block", async () => {
    const { quoter } = bench
    if (!quoter) throw new Error("The plugin's devnet.ts has no quoter: without one nobody but the plugin says what is right.")
    await eachPair(async (base, quote) => {
      for (const amount of amounts) {
        for (const side of ['BUY', 'SELL'] as const) {
          const answer = await quoteOrNothing(bench, { base, quote, amount, side })
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
      const [address] = bench.wallets
      await approve(bench, address, base)
      await approve(bench, address, quote)
      for (const side of ['BUY', 'SELL'] as const) {
        const { route } = await price(bench, { base, quote, amount: '0.01', side })
        const {
          body: trade,
          status,
          text,
        } = await bench.client.post('/amm/trade', { ...venueFields(bench), address, base, quote, amount: '0.01', side })
        expect(status, text).to.equal(200)
        const { fill, txReceipt } = await waitForMined(bench, trade.txHash)
        expect(txReceipt.status).to.equal(1)
        const [paid, got] = side === 'BUY' ? [trade.expectedAmount, trade.amount] : [trade.amount, trade.expectedAmount]
        if (side === 'BUY' && toRaw(fill.amountOut) > toRaw(got)) {
          // Some exchanges have exact amounts in only, and may give more than was bought: then a unit less would have given too little.
          expect(fill.amountIn).to.equal(paid)
          const less = await bench.quoter?.exactIn(route, toRaw(paid) - 1n, txReceipt.blockNumber - 1)
          expect(less !== undefined && less < toRaw(got), `${base}-${quote} for a unit less gives ${less}`).to.equal(true)
        } else expect(fill).to.deep.equal({ amountIn: paid, amountOut: got, price: trade.price })
      }
    }))

  it('AMM-07 a price that moved past the limit reverts on chain and costs only gas', async () => {
    const [base, quote] = firstPair()
    const [victim, mover] = bench.wallets
    for (const address of [victim, mover]) await approve(bench, address, base)
    let before: unknown
    let txHash = ''
    await inOneBlock(bench, async () => {
      before = await balances(bench, victim, [base, quote])
      const quoted = await price(bench, { base, quote, amount: '0.1', side: 'SELL' })
      const limited = await bench.client.post('/amm/trade', {
        ...venueFields(bench),
        address: victim,
        base,
        quote,
        amount: '0.1',
        side: 'SELL',
        limitPrice: quoted.price,
      })
      expect(limited.status, limited.text).to.equal(200)
      txHash = limited.body.txHash
      const first = await bench.client.post('/amm/trade', {
        ...venueFields(bench),
        address: mover,
        base,
        quote,
        amount: '1',
        side: 'SELL',
        ...priorityFields(bench),
      })
      expect(first.status, first.text).to.equal(200)
    })
    const { txReceipt, fill } = await waitForMined(bench, txHash)
    expect(txReceipt.status).to.equal(0)
    expect(fill).to.equal(undefined)
    expect(await balances(bench, victim, [base, quote])).to.deep.equal(before)
  })

  it('AMM-08 a trade that is mined after its deadline reverts on chain and costs only gas', async () => {
    const [base, quote] = firstPair()
    const [address] = bench.wallets
    await approve(bench, address, base)
    let before: unknown
    let txHash = ''
    await inOneBlock(bench, async () => {
      before = await balances(bench, address, [base, quote])
      const { status, body, text } = await bench.client.post('/amm/trade', {
        ...venueFields(bench),
        address,
        base,
        quote,
        amount: '0.1',
        side: 'SELL',
      })
      expect(status, text).to.equal(200)
      txHash = body.txHash
      await nodeCall(bench, 'evm_setNextBlockTimestamp', body.deadline + 1)
    })
    const { txReceipt } = await waitForMined(bench, txHash)
    expect(txReceipt.status).to.equal(0)
    expect(await balances(bench, address, [base, quote])).to.deep.equal(before)
  })
}

async function quoteOrNothing(bench: TestVenue, question: PriceRequest) {
  const { status, body, text } = await bench.client.get('/amm/price', { ...venueFields(bench), ...question })
  if (body?.name === 'PRICE_FAILED') return undefined
  expect(status, text).to.equal(200)
  return body as Awaited<ReturnType<typeof price>>
}

const pools = ({ route }: Pick<AMMPriceResponse, 'route'>) =>
  route
    .map(({ pool, share = '1' }) => `${pool} ${share}`)
    .toSorted()
    .join()

/** A decimal string with as many decimals as another. */
function decimal(value: bigint, like: string): string {
  const decimals = like.split('.')[1]?.length ?? 0
  const text = value.toString().padStart(decimals + 1, '0')
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}

async function balances({ client, chain, network }: TestVenue, address: string, tokenSymbols: readonly string[]): Promise<unknown> {
  const { body, status, text } = await client.get('/network/balances', { chain, network, address, tokenSymbols })
  expect(status, text).to.equal(200)
  return body.balances
}
