// What a trade of every exchange of the trading type AMM does.
import { expect } from 'chai'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import { fromRaw } from '../../core/base/decimal.ts'
import type { Answer } from '../client.ts'
import { expectOk, waitFor } from './expect.ts'
import {
  approve,
  atNode,
  balancesOf,
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
  type PriceRequest,
  type TestVenue,
  type WalletChanges,
} from './venue.ts'
import { expectOnly } from './wallet-changes.ts'
import type { AmmCard, AmmFixture } from './amm-fixture.ts'
import { expectOwnQuoter, quoteOrNothing, times, whereQuotesAre } from './amm-quotes.ts'
import { addressKey } from '../../core/base/addresses.ts'

export const tradeCards: readonly AmmCard[] = [
  [
    'AMM-06',
    'the fill equals the quote when nothing came between',
    ['AMM-02', 'AMM-05'],
    ({ venue, eachPair, changesOf, gasSamples }) =>
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
          if (changesOf) {
            const changes = await changesOf(address, trade.txHash)
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
  ],

  [
    'AMM-07',
    'a price that moved past the limit reverts on chain and costs only gas',
    ['AMM-06'],
    async ({ venue, firstPair, isDevnet, changesOf }) => {
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
      if (changesOf) expectOnly(await changesOf(victim, hash), {}, 'The reverted trade', whereSwapsAre)
    },
  ],
]

/** Of an exchange whose contracts take no deadline. */
export const lateCard: AmmCard = [
  'AMM-08',
  'a transaction that is mined late gives its bound, or reverts and costs only gas',
  ['AMM-06'],
  ({ venue, ...fixture }) => tradeLate({ venue, ...fixture }),
]

/** Carries out a trade as late as it can be, after the price has moved: what is promised then. */
export async function tradeLate({ venue, firstPair, changesOf }: AmmFixture): Promise<void> {
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
      expect.fail(
        venue.chainControl
          ? 'The plan has a deadline, and no program of Solana is known to keep one: leave it out. What bounds the time of a trade is the last valid height of its blockhash.'
          : 'devnet.ts says noDeadline, and the plan has a deadline: leave one of the two out, by what the contracts take.',
      )
    promised = trade.limitPrice
    await sellBefore(venue, mover, base, quote, quoted)
    await (venue.chainControl ? venue.chainControl.passTime() : nodeCall(venue, 'evm_increaseTime', lateSeconds))
    return (hash = trade.txHash)
  })
  const after = await balancesOf(venue, address, [base, quote])
  if (txReceipt.status === 0) expect(after).to.deep.equal(before)
  else {
    const given = Number(after[quote]) - Number(before[quote])
    expect(given >= 0.1 * Number(promised) * (1 - 1e-9), `It gave ${given} ${quote}, and its limitPrice was ${promised}.`).to.equal(true)
  }
  if (changesOf) expect((await changesOf(address, hash)).grants, whereSwapsAre).to.deep.equal([])
}

export const deadlineCard: AmmCard = [
  'AMM-08',
  'a transaction after its deadline reverts on chain and costs only gas',
  ['AMM-06'],
  async ({ venue, firstPair, changesOf }) => {
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
    if (changesOf) expectOnly(await changesOf(address, hash), {}, 'The reverted trade', whereSwapsAre)
  },
]

/** Where the chain is read by its node. */
export const planCards: readonly AmmCard[] = [
  [
    'AMM-09',
    'a wallet that lacks the approval or the balance is told what it lacks, and nothing is signed',
    ['AMM-06'],
    async ({ venue, firstPair }) => {
      const [base, quote] = firstPair()
      const address = venue.wallets[2]
      for (const side of venue.chainControl ? [] : (['SELL', 'BUY'] as const)) {
        const token = side === 'SELL' ? base : quote
        const request = { base, quote, amount: '0.01', side }
        const limitPrice = (await price(venue, request)).slippagePrice
        await approve(venue, address, token, { amount: '0' })
        expectShortage(await sendTrade(venue, { address, ...request, limitPrice }), 'INSUFFICIENT_ALLOWANCE', token, side)
        await approve(venue, address, token)
      }
      for (const { token, ...request } of await beyondBalance(venue, address, base, quote))
        expectShortage(await sendTrade(venue, { address, ...request }), 'INSUFFICIENT_BALANCE', token, request.side)
    },
  ],

  [
    'AMM-10',
    '`gasUnits` is about the gas that the trade used',
    ['AMM-06'],
    async ({ gasSamples, venue }) => {
      const beside = venue.chainControl ? accountUnits : 0
      for (const { what, limit, used } of gasSamples) {
        // `/amm/price` shows a limit, which has half as much again. No trade may need more than that.
        const units = Math.round(limit / 1.5)
        if (units > 3 * Number(used) + beside || limit < Number(used))
          expect.fail(
            `${what} was quoted with gasUnits ${units}, so a limit of ${limit}, and used ${used}: callers compare routes and pay gas by that figure. Give the gas of the whole transaction in \`quote\`, or that of one pass in \`pass\` of a pool.`,
          )
      }
    },
  ],
]

/** Compute units of the instructions that make and close the wallet's accounts on Solana: a quote counts them, whether or not the trade needs them. */
const accountUnits = 70_000

const lateSeconds = 600

export const whereSwapsAre =
  'Look at the steps that `swap` (or `plan` of a router) makes: recipient, amount and bound in the call, and `value`.'

const deadlineMissing =
  "The plan has no deadline. Put terms.deadline into the call and into the plan's `deadline`. Where the exchange's contracts take none, say `noDeadline: true` in devnet.ts: then this card tries what is promised instead."

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

/** A trade that must be signed. */
export async function signedTrade(venue: TestVenue, fields: object, what: string) {
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
export function expectTradedOnly(changes: WalletChanges, { trade, side, paid, got, what }: TradedAmounts): void {
  const [tokenIn, tokenOut] = side === 'BUY' ? [trade.quote, trade.base] : [trade.base, trade.quote]
  const gained = changes.gains.get(addressKey(tokenOut)) ?? 0n
  if (gained <= 0n)
    expect.fail(
      `${what}: what was bought did not come to the wallet: it has ${gained} more of ${tokenOut}. The recipient in the call has to be terms.recipient. ${whereSwapsAre}`,
    )
  const [paidRaw, gotRaw] = [-(changes.gains.get(addressKey(tokenIn)) ?? 0n), gained]
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
    const { txHash } = expectOk(await sendTrade(venue, { address, ...request, limitPrice, ...highPriorityFields(venue) }))
    return atNode(venue, txHash)
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
  const twice = (symbol: string) => {
    const heldRaw = toRaw(held[symbol] ?? '0')
    return heldRaw === 0n ? '0.01' : fromRaw(2n * heldRaw, held[symbol]?.split('.')[1]?.length ?? 0)
  }
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
