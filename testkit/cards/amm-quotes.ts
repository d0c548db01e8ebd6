// What every exchange of the trading type AMM quotes.
import { expect } from 'chai'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import { devnetTokenSymbols } from '../../core/contracts/devnet.ts'
import { fromRaw } from '../../core/base/decimal.ts'
import type { Answer } from '../client.ts'
import { expectOk, expectRefusal } from './expect.ts'
import { devnetFeeToken, price, toRaw, venueFields, type PriceRequest, type TestVenue } from './venue.ts'
import type { AmmCard } from './amm-fixture.ts'

const amounts = ['0.0001', '0.001', '0.01', '0.1', '1', '5', '20']

export const quoteCards: readonly AmmCard[] = [
  [
    'AMM-01',
    'a larger amount never gets a better price',
    [],
    async ({ venue, firstPair, eachPair }) => {
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
    },
  ],

  [
    'AMM-02',
    'buying costs at least what selling brings',
    ['AMM-01'],
    ({ venue, eachPair }) =>
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
  ],

  [
    'AMM-03',
    'more than the pools hold is PRICE_FAILED',
    ['AMM-02'],
    ({ venue, eachPair }) =>
      eachPair(async (base, quote) => {
        for (let zeros = 2; zeros <= 12; zeros++) {
          const request = { base, quote, amount: `1${'0'.repeat(zeros)}`, side: 'BUY' } as const
          const answer = await askPrice(venue, request)
          if (answer.status === 200 && zeros < 12) await expectGivable(venue, answer.body, `BUY ${request.amount} ${base}-${quote}`)
          else expectRefusal(answer, '422 PRICE_FAILED', `BUY ${request.amount} ${base}-${quote}`)
          if (answer.status !== 200) return
        }
      }),
  ],

  [
    'AMM-04',
    'buying what an exact input bought costs no more than that input, and not a unit less',
    ['AMM-02'],
    ({ venue, eachPair }) =>
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
  ],

  [
    'AMM-05',
    "the quote equals the exchange's own quoter to the unit, at that block",
    ['AMM-01'],
    async ({ venue, eachPair }) => {
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
    },
  ],
]

/** Where nobody else trades. */
export const impactCard: AmmCard = [
  'AMM-11',
  '`priceImpact` is the loss against the price of the smallest amount',
  ['AMM-05'],
  async ({ venue, eachPair }) => {
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
  },
]

/** For the devnet. */
export const feeTokenCard: AmmCard = [
  'AMM-12',
  'a token that takes a fee on transfer is refused',
  ['AMM-01', 'AMM-05', 'AMM-06'],
  async ({ venue }) => {
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
  },
]

/** For connectors that say what none of their quotes does better than. */
export const boundCard: AmmCard = [
  'AMM-13',
  'no quote does better than the bound that the connector gives',
  ['AMM-01'],
  async ({ venue, eachPair }) => {
    let compared = 0
    const compare = async (request: PriceRequest, tries = 0): Promise<void> => {
      const before = await venue.boundOf?.(request)
      const answer = await quoteOrNothing(venue, request)
      const bound = await venue.boundOf?.(request)
      if (!answer || !bound) return
      // A block came in between.
      if (before?.head.hash !== bound.head.hash || Number(bound.head.number) !== answer.blockNumber)
        return tries < 20 ? compare(request, tries + 1) : undefined
      compared += 1
      const quoted = toRaw(answer.expectedAmount)
      const isWithin = request.side === 'SELL' ? quoted <= bound.amountRaw : quoted >= bound.amountRaw
      if (!isWithin || BigInt(answer.gasLimit) < bound.gasUnits)
        expect.fail(
          `${request.side} ${request.amount} ${request.base}-${request.quote}: it quotes ${quoted} with a gas limit of ${answer.gasLimit}, and says that no quote does better than ${bound.amountRaw} with ${bound.gasUnits} gas (smallest units). With connector=any it would be passed over. Look at \`bound\`: it is rounded in favour of the quote, and covers every route that may be taken.`,
        )
    }
    await eachPair(async (base, quote) => {
      for (const amount of amounts) for (const side of ['SELL', 'BUY'] as const) await compare({ base, quote, amount, side })
    })
    if (compared === 0) return { notTested: '`bound` gives none for any pair of the devnet that is quoted' }
  },
]

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

const whereSpotIs = 'Look at `spotAmountRaw` of the quote, or `spot` of the pool: output per input in smallest units, without fees.'

export function nothingQuoted({ unquoted }: TestVenue): string {
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

/** What is quoted of a large amount must be something that the pools have. */
async function expectGivable(venue: TestVenue, answer: AMMPriceResponse, what: string): Promise<void> {
  await expectOwnQuoter(venue, answer, what, whereQuotesAre).catch((error: Error) => {
    expect.fail(
      `${what} is quoted, and more than the pools hold has to be PRICE_FAILED: ${error.message} Look at \`pass\` of the pool, or \`quote\`: for \`exact: 'out'\` it gives nothing from what the pool holds on.`,
    )
  })
}

export const whereQuotesAre =
  "Look at what `quote` (or `pass` of a pool) computes: the order and types of the fields in the ABI that it decodes, the tokens' decimals, the fee."

/** The answer must be what the exchange's own quoter says at its block. */
export async function expectOwnQuoter({ quoter }: TestVenue, answer: AMMPriceResponse, what: string, where: string): Promise<void> {
  if (!quoter) return
  const { route, rawAmount, expectedAmount, blockNumber } = answer
  const isSell = what.startsWith('SELL')
  const own = await quoter[isSell ? 'exactIn' : 'exactOut'](route, BigInt(rawAmount), blockNumber)
  const quoted = toRaw(expectedAmount)
  if (quoted !== own)
    expect.fail(`${what}: it quotes ${quoted}, and the exchange's own quoter ${own}${times(quoted, own)} (smallest units). ${where}`)
}

/** How far apart, where that says something. */
export function times(one: bigint, other: bigint): string {
  const factor = Number(one) / Number(other)
  const larger = factor >= 1 ? factor : 1 / factor
  return Number.isFinite(larger) && larger >= 1.5
    ? `, ${larger >= 100 ? Math.round(larger) : larger.toFixed(1)} times ${factor < 1 ? 'as much' : 'less'}`
    : ''
}

/** The answer, which may be a refusal of the exchange. */
export async function askPrice(venue: TestVenue, request: PriceRequest, mayFail = false): Promise<Answer> {
  const answer = await venue.client.get('/amm/price', { ...venueFields(venue), ...request })
  if (!mayFail && answer.body?.name !== 'PRICE_FAILED') expectOk(answer, JSON.stringify(request))
  return answer
}

export async function quoteOrNothing(venue: TestVenue, request: PriceRequest): Promise<AMMPriceResponse | undefined> {
  const { status, body } = await askPrice(venue, request)
  return status === 200 ? body : undefined
}

export const pools = ({ route }: Pick<AMMPriceResponse, 'route'>) =>
  route
    .map(({ pool, share = '1' }) => `${pool} ${share}`)
    .toSorted()
    .join()
