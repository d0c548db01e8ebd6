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
import { approve, waitForMined, venueFields, type TestVenue } from './venue.ts'

/** What a change of a position really did, as `/network/poll` tells it. */
interface PositionFill {
  size: string
  price: string
  fee: string
  realizedProfit: string
  closedRatio?: string
}

/** What was answered to a request, and what the mined transaction did. */
interface MinedChange<A> {
  answer: A
  fill: PositionFill
  blockNumber: number
}

type Fields = Readonly<Record<string, unknown>>
type Side = 'LONG' | 'SHORT'
export type Market = Readonly<Record<'base' | 'quote', string>>

/** What the cards do with positions, as a bot would: by the interface alone. */
export interface PerpFixture {
  readonly bench: TestVenue
  readonly operator: PerpOperator
  /** What the cards trade, and another one. */
  readonly market: Market
  readonly second: Market
  /** The wallet whose positions they are. */
  readonly owner: string
  /** Another one, which moves the price. */
  readonly other: string
  /** Symbol of what accounts are kept in. */
  readonly settlement: string
  ask(verb: string, fields?: Fields): Promise<Answer>
  // eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
  answered(verb: string, fields?: Fields): Promise<any>
  price(side: Side, amount: string, market?: Market): Promise<PerpAMMPriceResponse>
  position(market?: Market): Promise<PerpAMMPositionResponse['position'] & { blockNumber: number }>
  margin(): Promise<PerpAMMMarginResponse['margin'] & { blockNumber: number }>
  /** A request to open a position worth about so much in quote, with all the margin that it could need. */
  order(side: Side, worth: number, fields?: Fields): Promise<Fields & { amount: string }>
  /** Takes it as given that the request is answered, mined, and not reverted. */
  open(fields: Fields): Promise<MinedChange<PerpAMMOpenResponse>>
  close(fields?: Fields): Promise<MinedChange<PerpAMMCloseResponse>>
  /** Deposits or withdraws. */
  move(how: 'deposit' | 'withdraw', amount: string, fields?: Fields): Promise<void>
  /** In the wallet, of what accounts are kept in. */
  inWallet(): Promise<string>
  /** As every card finds it: markets that are open, and nobody with a position. */
  clear(): Promise<void>
  /** Sees to it that a request is refused so, naming the field, and that nothing was made of it. */
  refused(verb: string, fields: Fields, outcome: string, field?: string): Promise<Answer>
}

export const tickerOf = ({ base, quote }: Market) => `${base}${quote}`

export async function createPerpFixture(bench: TestVenue): Promise<PerpFixture> {
  const { client, chain, network, perpOperator: operator } = bench
  if (!operator) throw new Error("The plugin's devnet.ts has no perpOperator: without one nobody but the plugin says what is right.")
  const [other, , owner] = bench.wallets

  const ask: PerpFixture['ask'] = (verb, fields = {}) => client.post(`/perpAMM/${verb}`, { ...venueFields(bench), ...fields })
  const answered: PerpFixture['answered'] = async (verb, fields) => {
    const { status, text, body } = await ask(verb, fields)
    expect(status, `${verb} ${JSON.stringify(fields)}: ${text}`).to.equal(200)
    return body
  }
  const act = async (verb: string, fields: Fields) => {
    const answer = await answered(verb, { address: owner, ...fields })
    const { fill, txReceipt, txBlock, reason } = await waitForMined(bench, answer.txHash)
    expect(txReceipt.status, `${verb} ${JSON.stringify(fields)} reverted: ${reason}`).to.equal(1)
    return { answer, fill, blockNumber: txBlock }
  }
  const { token: settlement } = await answered('balance', { address: owner })
  const [market, second] = await marketsOf(answered)
  const nonce = async () => (await client.get('/evm/nonce', { chain, network, address: owner })).body.nonce
  const price: PerpFixture['price'] = (side, amount, on = market) => answered('price', { ...on, side, amount })
  const inWallet = async (address = owner) =>
    (await client.get('/network/balances', { chain, network, address, tokenSymbols: settlement })).body.balances[settlement]

  for (const address of [owner, other]) {
    await approve(bench, address, settlement)
    await act('deposit', { address, token: settlement, amount: String(Math.min(100_000, Math.floor(Number(await inWallet(address)) / 4))) })
  }

  return {
    bench,
    operator,
    market,
    second,
    owner,
    other,
    settlement,
    ask,
    answered,
    price,
    inWallet: () => inWallet(),
    async position(on = market) {
      const { position, blockNumber } = await answered('position', { ...on, wallet_address: owner })
      return { ...position, blockNumber }
    },
    async margin() {
      const { margin, blockNumber } = await answered('margin', { wallet_address: owner })
      return { ...margin, blockNumber }
    },
    async order(side, worth, fields = {}) {
      const on = { ...market, ...fields }
      const { markPrice } = await answered('market-prices', { base: on.base, quote: on.quote })
      const { maxLeverage } = await answered('market-status', { base: on.base, quote: on.quote })
      const leverage = String(Math.min(5, Number(maxLeverage)))
      const margin = ((worth * 1.2) / Number(leverage)).toFixed(2)
      // Six decimals are what every market has.
      return { address: owner, ...on, side, amount: (worth / Number(markPrice)).toFixed(6), margin, leverage, ...fields }
    },
    open: (fields) => act('open', fields),
    close: (fields = {}) => act('close', { ...market, ...fields }),
    async move(how, amount, fields = {}) {
      await act(how, { token: settlement, amount, ...fields })
    },
    async clear() {
      for (const on of [market, second]) {
        const { status } = await answered('market-status', { ...on })
        if (status === 'closed') continue
        if (status === 'paused') await operator.setStatus(tickerOf(on), 'open')
        for (const address of [owner, other]) {
          const isIn = async () => (await answered('position', { ...on, wallet_address: address })).position.positionAmt !== '0'
          // An exchange may close a part at a time.
          for (let tries = 0; tries < 20 && (await isIn()); tries++) await act('close', { ...on, address })
        }
      }
    },
    async refused(verb, fields, outcome, field) {
      const before = await nonce()
      const answer = await ask(verb, fields)
      const { status, body, text } = answer
      expect(`${status} ${body?.name}`, `${verb} ${JSON.stringify(fields)}: ${text}`).to.equal(outcome)
      if (field !== undefined) expect(body.details[0].field, text).to.equal(field)
      expect(await nonce()).to.equal(before)
      return answer
    },
  }
}

/** Two that are open, by what their tickers can be cut into. */
async function marketsOf(answered: PerpFixture['answered']): Promise<[Market, Market]> {
  const { pairs } = await answered('pairs')
  const found: Market[] = []
  for (const ticker of pairs) {
    const cuts = [3, 4, 2, 5].map((length) => ({ base: ticker.slice(0, length), quote: ticker.slice(length) }))
    const market = await firstAnswered(cuts, answered)
    if (market) found.push(market)
  }
  const [first, second] = found
  if (!first || !second) throw new Error(`The devnet needs two markets that are open: ${pairs.join(', ')}`)
  return [first, second]
}

async function firstAnswered(markets: readonly Market[], answered: PerpFixture['answered']): Promise<Market | undefined> {
  for (const market of markets) {
    try {
      if ((await answered('market-status', { ...market })).isActive === true) return market
    } catch {
      // Not cut so.
    }
  }
  return undefined
}

/** The same number, however many zeros each is padded with. */
export function expectSame(actual: string, expected: string, what: string): void {
  expect(trimmed(actual), what).to.equal(trimmed(expected))
}

const trimmed = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text).replace(/^-0$/, '0')

/** For what comes about by many roundings: equal but for that part of the larger. */
export function expectClose(actual: string | number, expected: string | number, part: number, what: string): void {
  const [a, b] = [Number(actual), Number(expected)]
  expect(Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${actual} and ${expected}`).to.equal(true)
}

/** Equal but for so much: amounts that time and the settlement token's decimals take a little from. */
export function expectNear(actual: number, expected: number, off: number, what: string): void {
  expect(Math.abs(actual - expected) <= off, `${what}: ${actual} and ${expected}`).to.equal(true)
}
