import { expect } from 'chai'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import { devnetNetwork } from '../../core/config/settings.ts'
import { devnetTokenSymbols } from '../../core/contracts/devnet.ts'
import { fromRaw } from '../../core/base/decimal.ts'
import type { Answer } from '../client.ts'
import { expectOk, expectRefusal, waitFor } from './expect.ts'
import {
  approve,
  balancesOf,
  devnetFeeToken,
  mineAfterDeadline,
  minedInOneBlock,
  nodeCall,
  NodeError,
  price,
  highPriorityFields,
  lowPriorityFields,
  toRaw,
  venueFields,
  waitForMined,
  type AddCard,
  type NotTested,
  type PriceRequest,
  type TestVenue,
} from './venue.ts'
import { expectOnly, readWalletChanges, type WalletChanges } from './wallet-changes.ts'

const amounts = ['0.0001', '0.001', '0.01', '0.1', '1', '5', '20']

/** What every exchange of the trading type AMM must do. */
export function ammCards(venue: TestVenue, it: AddCard): void {
  const firstPair = (): readonly [string, string] => venue.pairs[0] ?? expect.fail(nothingQuoted(venue))
  const eachPair = async (check: (base: string, quote: string) => Promise<void>) => {
    firstPair()
    for (const [base, quote] of venue.pairs) await check(base, quote)
  }
  const card = cardsWithCauses(it)
  /** Cards that read the chain by its node are for the devnet. */
  const isDevnet = venue.chain === devnetNetwork.chain && venue.network === devnetNetwork.network
  const gasSamples: GasSample[] = []

  card('AMM-01', 'a larger amount never gets a better price', [], async () => {
    const { defects = [] } = venue
    if (defects.length > 0)
      expect.fail(`Pairs whose quotes fail by a defect of the connector, where it says nothing of its own:\n${defects.join('\n')}`)
    await expectPools(venue, firstPair())
    await eachPair(async (base, quote) => {
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
    })
  })

  // That both sides are quoted at all is what the cards after it rely on.
  card('AMM-02', 'buying costs at least what selling brings', ['AMM-01'], () =>
    eachPair(async (base, quote) => {
      const refused = { BUY: '', SELL: '' }
      let compared = 0
      for (const amount of amounts) {
        const [buy, sell] = [
          await askPrice(venue, { base, quote, amount, side: 'BUY' }),
          await askPrice(venue, { base, quote, amount, side: 'SELL' }),
        ]
        if (!buy.body.price) refused.BUY = buy.body.message
        if (!sell.body.price) refused.SELL = sell.body.message
        if (!buy.body.price || !sell.body.price) continue
        compared += 1
        expect(toRaw(buy.body.expectedAmount) >= toRaw(sell.body.expectedAmount), `${base}-${quote} ${amount}`).to.equal(true)
      }
      if (compared === 0) expect.fail(oneSided(`${base}-${quote}`, refused))
    }),
  )

  // Where it refuses every amount this shows nothing: AMM-02 has seen that it quotes.
  card('AMM-03', 'more than the pools hold is PRICE_FAILED', ['AMM-02'], () =>
    eachPair(async (base, quote) => {
      for (let zeros = 2; zeros <= 12; zeros++) {
        const request = { base, quote, amount: `1${'0'.repeat(zeros)}`, side: 'BUY' } as const
        const answer = await askPrice(venue, request)
        if (answer.status === 200 && zeros < 12) await expectGivable(venue, answer.body, `BUY ${request.amount} ${base}-${quote}`)
        else expectRefusal(answer, '422 PRICE_FAILED', `BUY ${request.amount} ${base}-${quote}`)
        if (answer.status !== 200) return
      }
    }),
  )

  card('AMM-04', 'buying what an exact input bought costs no more than that input, and not a unit less', ['AMM-02'], () =>
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
    }),
  )

  card('AMM-05', "the quote equals the exchange's own quoter to the unit, at that block", ['AMM-01'], async () => {
    if (!venue.quoter)
      throw new Error("The plugin's devnet.ts has no quoter: without one nothing but the plugin itself says what is right.")
    await eachPair(async (base, quote) => {
      for (const amount of amounts) {
        for (const side of ['BUY', 'SELL'] as const) {
          const answer = await quoteOrNothing(venue, { base, quote, amount, side })
          if (answer) await expectOwnQuoter(venue, answer, `${side} ${amount} ${base}-${quote}`, whereQuotesAre)
        }
      }
    })
  })

  card('AMM-06', 'the fill equals the quote when nothing came between', ['AMM-02', 'AMM-05'], () =>
    eachPair(async (base, quote) => {
      const [address] = venue.wallets
      await Promise.all([approve(venue, address, base), approve(venue, address, quote)])
      for (const side of ['BUY', 'SELL'] as const) {
        const request = { base, quote, amount: '0.01', side }
        const what = `${side} 0.01 ${base}-${quote}`
        const quoted = await price(venue, request)
        const trade = await signedTrade(venue, { address, ...request, limitPrice: quoted.slippagePrice }, what)
        const { fill, txReceipt } = await waitForMined(venue, trade.txHash)
        expect(txReceipt.status, `${what} reverted on chain although nothing came between. ${whereQuotesAre}`).to.equal(1)
        const [paid, got] = side === 'BUY' ? [trade.expectedAmount, trade.amount] : [trade.amount, trade.expectedAmount]
        if (isDevnet) {
          const changes = await readWalletChanges(venue, address, trade.txHash)
          gasSamples.push({ what, limit: quoted.gasLimit, used: changes.gasUsed })
          expectTradedOnly(changes, { trade, side, paid, got, what })
          await expectFollowed(venue, request, changes.block)
        }
        if (side === 'BUY' && toRaw(fill.amountOut) > toRaw(got)) {
          // An exchange with exact inputs only may give more than was bought. Then a unit less would have bought too little.
          expect(fill.amountIn).to.equal(paid)
          const less = await venue.quoter?.exactIn(quoted.route, toRaw(paid) - 1n, txReceipt.blockNumber - 1)
          expect(less !== undefined && less < toRaw(got), `${base}-${quote}: a unit less gives ${less}`).to.equal(true)
        } else
          expect(fill, `${what}: what \`fill\` reads from the receipt`).to.deep.equal({
            amountIn: paid,
            amountOut: got,
            price: trade.price,
          })
      }
    }),
  )

  card('AMM-07', 'a price that moved past the limit reverts on chain and costs only gas', ['AMM-06'], async () => {
    const [base, quote] = firstPair()
    const [victim, mover] = venue.wallets
    await Promise.all([victim, mover].map((address) => approve(venue, address, base)))
    let before: unknown
    let hash = ''
    let limit!: AMMPriceResponse
    const { txReceipt, fill } = await minedInOneBlock(venue, async () => {
      before = await balancesOf(venue, victim, [base, quote])
      limit = await price(venue, { base, quote, amount: '0.1', side: 'SELL' })
      const terms = { address: victim, base, quote, amount: '0.1', side: 'SELL', limitPrice: limit.price, ...lowPriorityFields(venue) }
      const { txHash } = expectOk(await sendTrade(venue, terms))
      await sellBefore(venue, mover, base, quote, limit)
      return (hash = txHash)
    })
    if (txReceipt.status === 1 && isDevnet && (await isUnmoved(venue, limit, txReceipt.blockNumber)))
      return expectBoundInCall(venue, victim, hash, limit)
    expect(
      txReceipt.status,
      'The price moved past the limit before the trade, and it was carried out all the same: `swap` has to put terms.boundRaw into the call, where the contract enforces it.',
    ).to.equal(0)
    expect(fill).to.equal(undefined)
    expect(await balancesOf(venue, victim, [base, quote])).to.deep.equal(before)
    if (isDevnet) expectOnly(await readWalletChanges(venue, victim, hash), {}, 'The reverted trade', whereSwapsAre)
  })

  if (venue.noDeadline)
    card('AMM-08', 'a transaction that is mined late gives its bound, or reverts and costs only gas', ['AMM-06'], async () => {
      const [base, quote] = firstPair()
      const [address, mover] = venue.wallets
      await Promise.all([address, mover].map((each) => approve(venue, each, base)))
      let hash = ''
      let promised = ''
      let before: Record<string, string> = {}
      const { txReceipt } = await minedInOneBlock(venue, async () => {
        before = await balancesOf(venue, address, [base, quote])
        const request = { base, quote, amount: '0.1', side: 'SELL' } as const
        const quoted = await price(venue, request)
        const trade = await signedTrade(
          venue,
          { address, ...request, limitPrice: quoted.slippagePrice, ...lowPriorityFields(venue) },
          'SELL 0.1',
        )
        if (trade.deadline !== undefined)
          expect.fail('devnet.ts says noDeadline, and the plan has a deadline: leave one of the two out, by what the contracts take.')
        promised = trade.limitPrice
        await sellBefore(venue, mover, base, quote, quoted)
        await nodeCall(venue, 'evm_increaseTime', lateSeconds)
        return (hash = trade.txHash)
      })
      const after = await balancesOf(venue, address, [base, quote])
      if (txReceipt.status === 0) expect(after).to.deep.equal(before)
      else {
        const given = Number(after[quote]) - Number(before[quote])
        expect(given >= 0.1 * Number(promised) * (1 - 1e-9), `It gave ${given} ${quote}, and its limitPrice was ${promised}.`).to.equal(
          true,
        )
      }
      if (isDevnet) expect((await readWalletChanges(venue, address, hash)).grants, whereSwapsAre).to.deep.equal([])
    })
  else
    card('AMM-08', 'a transaction after its deadline reverts on chain and costs only gas', ['AMM-06'], async () => {
      const [base, quote] = firstPair()
      const [address] = venue.wallets
      await approve(venue, address, base)
      let before: unknown
      let hash = ''
      const { txReceipt } = await minedInOneBlock(venue, async () => {
        before = await balancesOf(venue, address, [base, quote])
        const request = { base, quote, amount: '0.1', side: 'SELL' } as const
        const { slippagePrice } = await price(venue, request)
        const trade = await signedTrade(venue, { address, ...request, limitPrice: slippagePrice }, 'SELL 0.1')
        if (trade.deadline === undefined) expect.fail(deadlineMissing)
        return (hash = await mineAfterDeadline(venue, trade))
      })
      expect(
        txReceipt.status,
        'The trade was mined after its deadline, and carried out: `swap` has to put terms.deadline into the call, in seconds, where the contract enforces it.',
      ).to.equal(0)
      expect(await balancesOf(venue, address, [base, quote])).to.deep.equal(before)
      if (isDevnet) expectOnly(await readWalletChanges(venue, address, hash), {}, 'The reverted trade', whereSwapsAre)
    })

  if (!isDevnet) return

  card('AMM-09', 'a wallet that lacks the approval or the balance is told what it lacks, and nothing is signed', ['AMM-06'], async () => {
    const [base, quote] = firstPair()
    const address = venue.wallets[2]
    for (const side of ['SELL', 'BUY'] as const) {
      const token = side === 'SELL' ? base : quote
      const request = { base, quote, amount: '0.01', side }
      const limitPrice = (await price(venue, request)).slippagePrice
      await approve(venue, address, token, { amount: '0' })
      expectShortage(await sendTrade(venue, { address, ...request, limitPrice }), 'INSUFFICIENT_ALLOWANCE', token, side)
      await approve(venue, address, token)
    }
    for (const { token, ...request } of await beyondBalance(venue, address, base, quote))
      expectShortage(await sendTrade(venue, { address, ...request }), 'INSUFFICIENT_BALANCE', token, request.side)
  })

  card('AMM-10', '`gasUnits` is about the gas that the trade used', ['AMM-06'], async () => {
    for (const { what, limit, used } of gasSamples) {
      // `/amm/price` shows a limit, which has half as much again. No trade may need more than that.
      const units = Math.round(limit / 1.5)
      if (units > 3 * Number(used) || limit < Number(used))
        expect.fail(
          `${what} was quoted with gasUnits ${units}, so a limit of ${limit}, and used ${used}: callers compare routes and pay gas by that figure. Give the gas of the whole transaction in \`quote\`, or that of one pass in \`pass\` of a pool.`,
        )
    }
  })

  card('AMM-11', '`priceImpact` is the loss against the price of the smallest amount', ['AMM-05'], async () => {
    let [compared, enough, most] = [false, false, 0]
    await eachPair(async (base, quote) => {
      const [sell, buy] = [
        await quoteOrNothing(venue, { base, quote, amount: '1', side: 'SELL' }),
        await quoteOrNothing(venue, { base, quote, amount: '1', side: 'BUY' }),
      ]
      if (!sell || !buy) return
      // Both sides tell the same price at the margin.
      const margins = [Number(sell.price) / (1 - Number(sell.priceImpact)), Number(buy.price) * (1 - Number(buy.priceImpact))] as const
      if (!(Math.abs(margins[0] / margins[1] - 1) < 0.1))
        expect.fail(
          `1 ${base} sells for ${sell.price} ${quote} with priceImpact ${sell.priceImpact} and costs ${buy.price} with ${buy.priceImpact}: the marginal prices that this says are ${margins.join(' and ')}. ${whereSpotIs}`,
        )
      for (const amount of ['10', '20', '50', '100', '200', '500', '1000', '10000', '100000', '1000000', '10000000']) {
        const large = enough ? undefined : await quoteOrNothing(venue, { base, quote, amount, side: 'SELL' })
        if (!large) return
        const loss: number = 1 - Number(large.price) / Number(sell.price)
        if (pools(large) !== pools(sell)) continue
        compared = true
        most = Math.max(most, loss)
        enough = loss >= 0.2
        // The loss of the first unit, and fees, are in it too.
        if (Number(large.priceImpact) < loss * 0.75 - 1e-5)
          expect.fail(
            `${amount} ${base} sell for ${(100 * loss).toPrecision(2)} % less each than 1 does, and priceImpact is ${large.priceImpact}. ${whereSpotIs}`,
          )
      }
    })
    // A price that is constant, but for rounding, has no impact, and a `spot` that is too low is shown as none.
    if (compared && (most >= 0.001 || most < 1e-9)) return
    return {
      notTested: compared
        ? `no amount that is quoted sells for 0.1 % less than 1 does (at most ${(100 * most).toPrecision(2)} %): fill a pool in devnet.ts that 1000 of its tokens move by more`
        : 'no amount above 1 is quoted through the same pools as 1: fill a pool in devnet.ts from which larger amounts can be bought',
    }
  })

  card('AMM-12', 'a token that takes a fee on transfer is refused', ['AMM-01', 'AMM-05', 'AMM-06'], async () => {
    await expectLoans(venue)
    let refused = false
    for (const quote of devnetTokenSymbols)
      for (const side of ['SELL', 'BUY'] as const) {
        const request = { base: devnetFeeToken(), quote, amount: '0.1', side }
        const { status, body } = await askPrice(venue, request, true)
        if (status === 200)
          expect.fail(
            `It promises ${body.expectedAmount} ${quote} in a ${side} of 0.1 TAX, whose transfers take 2 %: such a trade gives less, or reverts. Refuse it as TOKEN_NOT_SUPPORTED: give the pools' protocol a \`loan\`, by which the kit tries transfers, or trade in \`quote\` only what is in \`venue.tokens\`.`,
          )
        if (body.name === 'UNKNOWN_ERROR')
          expect.fail(
            `A ${side} of TAX for ${quote} fails by a defect of the connector (${body.message}). TAX is on no list, so that its transfers are tried: look at \`loan\`.`,
          )
        refused ||= body.name === 'TOKEN_NOT_SUPPORTED'
      }
    if (refused) return
    return {
      notTested:
        "the exchange has no pool of TAX, the devnet's token whose transfers take 2 %: give it one in devnet.ts (`site.tokens.TAX`), or refuse what is not in `venue.tokens` as TOKEN_NOT_SUPPORTED",
    }
  })
}

/** Cards of which one that is red keeps those from running that could only fail by the same cause. */
function cardsWithCauses(it: AddCard) {
  const red = new Set<string>()
  return (id: string, title: string, needed: readonly string[], run: () => Promise<void | NotTested>): void =>
    it(`${id} ${title}`, async () => {
      if (needed.some((each) => red.has(each))) {
        red.add(id)
        return 'not run'
      }
      try {
        return await run()
      } catch (error) {
        red.add(id)
        throw error
      }
    })
}

/** Quotes need neither `pools` nor `poolTokens`. An exchange need not have them. */
async function expectPools({ client, ...venue }: TestVenue, [base, quote]: readonly [string, string]): Promise<void> {
  const ask = async (path: string, query: Record<string, string>, member: string): Promise<Answer> => {
    const answer = await client.get(path, { ...venueFields({ client, ...venue }), ...query })
    if (answer.body?.name === 'UNKNOWN_ERROR' || answer.body?.name === 'TIMEOUT')
      expect.fail(`${path} of ${base}-${quote} fails by a defect of the connector (${answer.body.message}): look at \`${member}\`.`)
    return answer
  }
  const { status, body } = await ask('/amm/pools', { base, quote }, 'pools')
  const [first] = status === 200 && Array.isArray(body.pools) ? body.pools : []
  // By its address alone.
  if (typeof first?.pool === 'string') await ask('/amm/pool', { pool: first.pool }, 'poolTokens')
}

/** By each pool, whether or not it has a token whose transfers have to be tried. */
async function expectLoans({ tryLoans }: TestVenue): Promise<void> {
  const remedy =
    'By it the kit tries the transfers of unlisted tokens. It makes what `lender` makes of the function by which pools of this kind lend, or gives undefined where the pool lends none.'
  const trials = await tryLoans?.().catch((error: Error) => expect.fail(`\`loan\` of a pool throws (${error.message}). ${remedy}`))
  const wrong = trials?.find(({ outcome }) => outcome !== 'exact')
  if (!wrong) return
  const { pool, version, token, outcome } = wrong
  expect.fail(
    `\`loan\` of ${version}: the pool ${pool} was to lend ${token}, whose transfers are exact, and ${outcome === 'failed' ? 'the loan failed' : 'not all of it arrived'}. ${remedy}`,
  )
}

interface GasSample {
  readonly what: string
  /** As `/amm/price` shows it. */
  readonly limit: number
  readonly used: bigint
}

const lateSeconds = 600

const whereQuotesAre =
  "Look at what `quote` (or `pass` of a pool) computes: the order and types of the fields in the ABI that it decodes, the tokens' decimals, the fee."
const whereSwapsAre = 'Look at the steps that `swap` (or `plan` of a router) makes: recipient, amount and bound in the call, and `value`.'
const whereSpotIs = 'Look at `spotAmountRaw` of the quote, or `spot` of the pool: output per input in smallest units, without fees.'

const deadlineMissing =
  "The plan has no deadline. Put terms.deadline into the call and into the plan's `deadline`. Where the exchange's contracts take none, say `noDeadline: true` in devnet.ts: then this card tries what is promised instead."

function nothingQuoted({ unquoted }: TestVenue): string {
  const remedy = unquoted.every((line) => line.includes(': PAIR_NOT_FOUND: '))
    ? "\nNo pool was found. Compare the addresses that it computes with the chain: the factory, the init-code hash (keccak256 of the creation code of this network's pools), and the ABI of the views that it decodes. A call to an address without a contract succeeds and returns nothing."
    : ''
  return `It quotes no pair of the devnet's tokens:\n${unquoted.join('\n')}${remedy}`
}

function oneSided(pair: string, refused: { BUY: string; SELL: string }): string {
  const [does, not] =
    refused.BUY === '' ? ['BUY', 'SELL'] : refused.SELL === '' ? ['SELL', 'BUY'] : ['some amounts', 'the same on both sides']
  return `${pair}: it quotes ${does} and never ${not} (${refused[not as 'BUY'] ?? `${refused.BUY} ${refused.SELL}`}), and callers trade both. An exchange that only takes exact inputs quotes exact: 'out' by the smallest input that gives the amount, which smallestInput and readSmallestInput of sluice/pools find, and sells that.`
}

/** The answer must be what the exchange's own quoter says at its block. */
async function expectOwnQuoter({ quoter }: TestVenue, answer: AMMPriceResponse, what: string, where: string): Promise<void> {
  if (!quoter) return
  const { route, rawAmount, expectedAmount, blockNumber } = answer
  const isSell = what.startsWith('SELL')
  const own = await quoter[isSell ? 'exactIn' : 'exactOut'](route, BigInt(rawAmount), blockNumber)
  const quoted = toRaw(expectedAmount)
  if (quoted !== own)
    expect.fail(`${what}: it quotes ${quoted}, and the exchange's own quoter ${own}${times(quoted, own)} (smallest units). ${where}`)
}

/** What is quoted of a large amount must be something that the pools have. */
async function expectGivable(venue: TestVenue, answer: AMMPriceResponse, what: string): Promise<void> {
  await expectOwnQuoter(venue, answer, what, whereQuotesAre).catch((error: Error) => {
    expect.fail(
      `${what} is quoted, and more than the pools hold has to be PRICE_FAILED: ${error.message} Look at \`pass\` of the pool, or \`quote\`: for \`exact: 'out'\` it gives nothing from what the pool holds on.`,
    )
  })
}

/** Whether the exchange's own quoter says the same of an amount before and after a block. */
async function isUnmoved({ quoter }: TestVenue, { route, rawAmount }: AMMPriceResponse, block: number): Promise<boolean> {
  if (!quoter) return false
  const [before, after] = [await quoter.exactIn(route, BigInt(rawAmount), block - 1), await quoter.exactIn(route, BigInt(rawAmount), block)]
  return before === after
}

/** Of an exchange whose price does not move: the contract must refuse the same call with a bound that is out of reach. */
async function expectBoundInCall(venue: TestVenue, wallet: string, txHash: string, limit: AMMPriceResponse): Promise<void> {
  const boundRaw = toRaw(limit.expectedAmount)
  const { to, input, value, blockNumber } = (await nodeCall(venue, 'eth_getTransactionByHash', txHash)) as Record<string, string>
  const before = `0x${(BigInt(blockNumber ?? '0') - 1n).toString(16)}`
  const refuses = async (data: string) => {
    try {
      await nodeCall(venue, 'eth_call', { from: wallet, to, data, value }, before)
      return false
    } catch (error) {
      if (error instanceof NodeError && error.isRevert) return true
      throw error
    }
  }
  const [call = '', words = ''] = [input?.slice(0, 10), input?.slice(10)]
  expect(await refuses(call + words), 'The trade was carried out, and the same call reverts one block earlier.').to.equal(false)
  for (let at = 0; at < words.length; at += 64) {
    const raw = BigInt(`0x${words.slice(at, at + 64).padEnd(64, '0')}`)
    // The server rounds the limit price against the trade.
    if (raw > boundRaw || raw < boundRaw - boundRaw / 1_000_000n - 1n) continue
    const beyond = (2n * boundRaw).toString(16).padStart(64, '0')
    if (await refuses(call + words.slice(0, at) + beyond + words.slice(at + 64))) return
  }
  expect.fail(
    `The price does not move here, so the same call was tried with a bound that is out of reach, and nothing refused it: \`swap\` has to put terms.boundRaw (about ${boundRaw}) into the call, where the contract enforces it.`,
  )
}

/** How far apart, where that says something. */
function times(one: bigint, other: bigint): string {
  const factor = Number(one) / Number(other)
  const larger = factor >= 1 ? factor : 1 / factor
  return Number.isFinite(larger) && larger >= 1.5
    ? `, ${larger >= 100 ? Math.round(larger) : larger.toFixed(1)} times ${factor < 1 ? 'as much' : 'less'}`
    : ''
}

/** A trade that must be signed. */
async function signedTrade(venue: TestVenue, fields: object, what: string) {
  const answer = await sendTrade(venue, fields)
  if (answer.status !== 200)
    expect.fail(`${what} was refused (${answer.status} ${answer.body?.name}): ${answer.body?.message} ${whereSwapsAre} ${whereQuotesAre}`)
  return answer.body
}

interface TradedAmounts {
  readonly trade: { base: string; quote: string }
  readonly side: 'BUY' | 'SELL'
  /** Padded decimal strings, as the answer of the trade states them. */
  readonly paid: string
  readonly got: string
  readonly what: string
}

/** The wallet must have paid and got what the trade's answer states, and nothing else. */
function expectTradedOnly(changes: WalletChanges, { trade, side, paid, got, what }: TradedAmounts): void {
  const [tokenIn, tokenOut] = side === 'BUY' ? [trade.quote, trade.base] : [trade.base, trade.quote]
  const gained = changes.gains.get(tokenOut.toLowerCase()) ?? 0n
  if (gained <= 0n)
    expect.fail(
      `${what}: what was bought did not come to the wallet: it has ${gained} more of ${tokenOut}. The recipient in the call has to be terms.recipient. ${whereSwapsAre}`,
    )
  const [paidRaw, gotRaw] = [-(changes.gains.get(tokenIn.toLowerCase()) ?? 0n), gained]
  const other = side === 'BUY' ? [toRaw(paid), paidRaw] : [toRaw(got), gotRaw]
  if (times(other[0] ?? 0n, other[1] ?? 0n) !== '')
    expect.fail(`${what}: the quote says ${other[0]} and the trade gave ${other[1]} (smallest units). ${whereQuotesAre}`)
  // An exchange with exact inputs only may give more than was bought.
  const statedRaw = side === 'BUY' && gotRaw > toRaw(got) ? gotRaw : toRaw(got)
  expectOnly(changes, { [tokenIn]: -toRaw(paid), [tokenOut]: statedRaw }, what, whereSwapsAre)
}

/** A quote after a trade has to know of it. */
async function expectFollowed(venue: TestVenue, request: PriceRequest, block: number): Promise<void> {
  const answer = await waitFor(
    `there is a quote of block ${block}`,
    () => price(venue, request),
    ({ blockNumber }) => blockNumber >= block,
  )
  await expectOwnQuoter(
    venue,
    answer,
    `${request.side} ${request.amount} ${request.base}-${request.quote} after a trade in block ${block}`,
    'The state in memory did not follow that trade: an event of the contracts is ignored. Look at `follow` (first topics), `keysOf` or `poolsOf` (which states an event is about), and `apply`.',
  )
}

/**
 * Goes before a trade in the same block, and moves the price of a pool that it goes through. The wallet has approved the exchange.
 * @param then the quote of that trade: what is sold of its own amount takes its own route, where more may have a better one
 */
async function sellBefore(venue: TestVenue, address: string, base: string, quote: string, then: AMMPriceResponse): Promise<void> {
  const used = new Set(then.route.map(({ pool }) => pool))
  for (const amount of ['1', then.amount]) {
    const request = { base, quote, amount, side: 'SELL' } as const
    const { slippagePrice: limitPrice, route } = await price(venue, request)
    if (amount === '1' && !route.some(({ pool }) => used.has(pool))) continue
    expectOk(await sendTrade(venue, { address, ...request, limitPrice, ...highPriorityFields(venue) }))
    return
  }
}

function expectShortage({ status, body, text }: Answer, name: string, token: string, side: string): void {
  if (body?.name === name && status < 500) return
  const what = name === 'INSUFFICIENT_ALLOWANCE' ? 'has not approved the exchange for' : 'has too little'
  const need = name === 'INSUFFICIENT_ALLOWANCE' ? "{ is: 'allowance', token, spender, amountRaw }" : "{ is: 'balance', token, amountRaw }"
  expect.fail(
    `A ${side} by a wallet that ${what} ${token} was answered with ${status} ${body?.name ?? text}, and has to be ${name}: the plan's \`needs\` lack ${need}.`,
  )
}

/** Trades of more than the wallet has, as far as the exchange quotes them. */
async function beyondBalance(venue: TestVenue, address: string, base: string, quote: string) {
  const held = await balancesOf(venue, address, [base, quote])
  const twice = (symbol: string) => fromRaw(2n * toRaw(held[symbol] ?? '0'), held[symbol]?.split('.')[1]?.length ?? 0)
  const requests = [
    { base, quote, amount: twice(base), side: 'SELL', token: base },
    { base: quote, quote: base, amount: twice(quote), side: 'SELL', token: quote },
  ] as const
  const found = []
  for (const { token, ...request } of requests) {
    const answer = await quoteOrNothing(venue, request)
    if (answer) found.push({ ...request, token, limitPrice: answer.slippagePrice })
  }
  return found
}

const sendTrade = (venue: TestVenue, fields: object) => venue.client.post('/amm/trade', { ...venueFields(venue), ...fields })

/** The answer, which may be a refusal of the exchange. */
async function askPrice(venue: TestVenue, request: PriceRequest, mayFail = false): Promise<Answer> {
  const answer = await venue.client.get('/amm/price', { ...venueFields(venue), ...request })
  if (!mayFail && answer.body?.name !== 'PRICE_FAILED') expectOk(answer, JSON.stringify(request))
  return answer
}

async function quoteOrNothing(venue: TestVenue, request: PriceRequest): Promise<AMMPriceResponse | undefined> {
  const { status, body } = await askPrice(venue, request)
  return status === 200 ? body : undefined
}

const pools = ({ route }: Pick<AMMPriceResponse, 'route'>) =>
  route
    .map(({ pool, share = '1' }) => `${pool} ${share}`)
    .toSorted()
    .join()
