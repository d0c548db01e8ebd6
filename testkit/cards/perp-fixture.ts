import { expect } from 'chai'
import type {
  PerpAMMCloseResponse,
  PerpAMMMarginResponse,
  PerpAMMOpenResponse,
  PerpAMMPositionResponse,
  PerpAMMPriceResponse,
} from '../../core/api/index.ts'
import type { PerpOperator } from '../../core/contracts/devnet.ts'
import type { Answer } from '../client.ts'
import { expectOk } from './expect.ts'
import { approve, balancesOf, expectRefused, venueFields, waitForMined, type TestVenue } from './venue.ts'
import { addressesOf, expectNothingElseLeft, readWalletChanges } from './wallet-changes.ts'

/** The effect of a change of a position, from `/network/poll`. */
interface PositionFill {
  size: string
  price: string
  fee: string
  realizedProfit: string
  closedRatio?: string
}

/** The answer to a request, and the effect of the mined transaction. */
interface MinedChange<A> {
  answer: A
  fill: PositionFill
  blockNumber: number
}

type Fields = Readonly<Record<string, unknown>>
type Side = 'LONG' | 'SHORT'
export type Market = Readonly<Record<'base' | 'quote', string>>

/** The cards' access to perpetual positions, by the HTTP interface only, as a bot's. */
export interface PerpFixture {
  readonly venue: TestVenue
  readonly operator: PerpOperator
  /** The market that the cards trade, and another one. */
  readonly market: Market
  readonly second: Market
  /** The wallet with the positions. */
  readonly owner: string
  /** Another wallet, which moves the price. */
  readonly other: string
  /** Symbol of the settlement token. */
  readonly settlement: string
  send(endpoint: string, fields?: Fields): Promise<Answer>
  /** The body of an answer that must succeed. */
  // eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
  call(endpoint: string, fields?: Fields): Promise<any>
  price(side: Side, amount: string, market?: Market): Promise<PerpAMMPriceResponse>
  position(market?: Market): Promise<Required<PerpAMMPositionResponse['position']> & { blockNumber: number }>
  margin(): Promise<Required<PerpAMMMarginResponse['margin']> & { blockNumber: number }>
  /** A request to open a position of about this value in quote, with ample margin. */
  order(side: Side, value: number, fields?: Fields): Promise<Fields & { amount: string }>
  /** The request must succeed and its transaction be mined without a revert. */
  open(fields: Fields): Promise<MinedChange<PerpAMMOpenResponse>>
  close(fields?: Fields): Promise<MinedChange<PerpAMMCloseResponse>>
  move(how: 'deposit' | 'withdraw', amount: string, fields?: Fields): Promise<void>
  /** The wallet's balance of the settlement token. */
  walletBalance(): Promise<string>
  /** The state that every card starts from: open markets, and no positions. */
  clear(): Promise<void>
  /** The request must be refused, naming the field, and send no transaction. */
  refused(endpoint: string, fields: Fields, outcome: string, field?: string): Promise<Answer>
}

export const tickerOf = ({ base, quote }: Market) => `${base}${quote}`

export async function createPerpFixture(venue: TestVenue): Promise<PerpFixture> {
  const { client, perpOperator: operator } = venue
  if (!operator)
    throw new Error("The plugin's devnet.ts has no perpOperator: without one nothing but the plugin itself says what is right.")
  const [other, , owner] = venue.wallets

  const send: PerpFixture['send'] = (endpoint, fields = {}) => client.post(`/perpAMM/${endpoint}`, { ...venueFields(venue), ...fields })
  const call: PerpFixture['call'] = async (endpoint, fields) =>
    expectOk(await send(endpoint, fields), `${endpoint} ${JSON.stringify(fields)}`)
  const change = async (endpoint: string, fields: Fields) => {
    const answer = await call(endpoint, { address: owner, ...fields })
    const { fill, txReceipt, txBlock, reason } = await waitForMined(venue, answer.txHash)
    const what = `${endpoint} ${JSON.stringify(fields)}`
    expect(txReceipt.status, `${what} reverted: ${reason}`).to.equal(1)
    const trader = typeof fields['address'] === 'string' ? fields['address'] : owner
    // Collateral leaves the wallet when it is deposited, and nothing else ever.
    const named = endpoint === 'deposit' ? await addressesOf(venue, [String(fields['token'])]) : []
    expectNothingElseLeft(await readWalletChanges(venue, trader, answer.txHash), named, what)
    return { answer, fill, blockNumber: txBlock }
  }
  const { token: settlement } = await call('balance', { address: owner })
  const [market, second] = await marketsOf(call)
  const price: PerpFixture['price'] = (side, amount, on = market) => call('price', { ...on, side, amount })
  const walletBalance = async (address = owner) => (await balancesOf(venue, address, [settlement]))[settlement] ?? ''

  for (const address of [owner, other]) {
    await approve(venue, address, settlement)
    await change('deposit', {
      address,
      token: settlement,
      amount: String(Math.min(100_000, Math.floor(Number(await walletBalance(address)) / 4))),
    })
  }

  return {
    venue,
    operator,
    market,
    second,
    owner,
    other,
    settlement,
    send,
    call,
    price,
    walletBalance: () => walletBalance(),
    async position(on = market) {
      const { position, unavailable, blockNumber } = await call('position', { ...on, wallet_address: owner })
      expect(unavailable, 'unavailable').to.equal(undefined)
      return { ...position, blockNumber }
    },
    async margin() {
      const { margin, unavailable, blockNumber } = await call('margin', { wallet_address: owner })
      expect(unavailable, 'unavailable').to.equal(undefined)
      return { ...margin, blockNumber }
    },
    async order(side, value, fields = {}) {
      const on = { ...market, ...fields }
      const { markPrice } = await call('market-prices', { base: on.base, quote: on.quote })
      const { maxLeverage } = await call('market-status', { base: on.base, quote: on.quote })
      const leverage = String(Math.min(5, Number(maxLeverage)))
      const margin = ((value * 1.2) / Number(leverage)).toFixed(2)
      // All markets accept six decimals.
      return { address: owner, ...on, side, amount: (value / Number(markPrice)).toFixed(6), margin, leverage, ...fields }
    },
    open: (fields) => change('open', fields),
    close: (fields = {}) => change('close', { ...market, ...fields }),
    async move(how, amount, fields = {}) {
      await change(how, { token: settlement, amount, ...fields })
    },
    async clear() {
      for (const on of [market, second]) {
        const { status } = await call('market-status', { ...on })
        if (status === 'closed') continue
        if (status === 'paused') await operator.setStatus(tickerOf(on), 'open')
        for (const address of [owner, other]) {
          const hasPosition = async () => (await call('position', { ...on, wallet_address: address })).position.positionAmt !== '0'
          // The exchange may close only a part at a time.
          for (let tries = 0; tries < 20 && (await hasPosition()); tries++) await change('close', { ...on, address })
        }
      }
    },
    refused: (endpoint, fields, outcome, field) =>
      expectRefused(venue, owner, () => send(endpoint, fields), outcome, `${endpoint} ${JSON.stringify(fields)}`, field),
  }
}

/** Two open markets. A ticker is split where a market answers to the parts. */
async function marketsOf(call: PerpFixture['call']): Promise<[Market, Market]> {
  const { pairs } = await call('pairs')
  const found: Market[] = []
  for (const ticker of pairs) {
    const splits = [3, 4, 2, 5].map((length) => ({ base: ticker.slice(0, length), quote: ticker.slice(length) }))
    const market = await firstOpen(splits, call)
    if (market) found.push(market)
  }
  const [first, second] = found
  if (!first || !second) throw new Error(`The devnet needs two open markets: ${pairs.join(', ')}`)
  return [first, second]
}

async function firstOpen(markets: readonly Market[], call: PerpFixture['call']): Promise<Market | undefined> {
  for (const market of markets) {
    try {
      if ((await call('market-status', { ...market })).isActive === true) return market
    } catch {
      // The ticker is split elsewhere.
    }
  }
  return undefined
}
