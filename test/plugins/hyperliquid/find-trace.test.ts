import { expect } from 'chai'
import { Wallet } from 'ethers'
import type { BookMarket, NewOrder } from '../../../core/contracts/index.ts'
import { createAnsweredMoves } from '../../../plugins/hyperliquid/answered-moves.ts'
import {
  createClock,
  createInfoQuery,
  createPost,
  createRateLimiter,
  type Post,
  type RateLimiter,
} from '../../../plugins/hyperliquid/api.ts'
import { createPoll } from '../../../plugins/hyperliquid/find-trace.ts'
import { createNonceSet, type Sequence } from '../../../plugins/hyperliquid/nonces.ts'
import { failsWith, losesAnswer, losesRequest, type Fault } from '../../../tools/hyperliquid-simulator/exchange/faults.ts'
import { at, only, startVenue, type TestVenue } from './venue.ts'

const perMinute = 1_200
/** Of one order: its status, and all fills of the wallet. */
const lookWeight = 122
const reserved = perMinute / 6

describe("The search for Hyperliquid's lost answers, where the rate limit is short", () => {
  let venue: TestVenue
  let market: BookMarket
  let post: Post
  let now: number
  let limiter: RateLimiter
  let poll: ReturnType<typeof createPoll>
  const caller = {}
  beforeEach(async () => {
    venue = await startVenue()
    const found = (await venue.CLOB.markets(at)).find(({ base }) => base === 'HYPE')
    if (!found) throw new Error('no market')
    market = found
    now = 0
    limiter = createRateLimiter(perMinute, () => now)
    post = createPost(venue.exchange.apiUrl)
    const queryInfo = createInfoQuery(post, limiter)
    const updates = { watch() {}, waitForUpdate: async () => false, clear() {} }
    const [clock, used, moves] = [createClock(queryInfo), createNonceSet(10), createAnsweredMoves()]
    poll = createPoll({ queryInfo, limiter, clock, used, moves, updates, steadyMs: () => now })
  })
  afterEach(async () => {
    await post.close()
    await venue.stop()
  })

  /** An order of a wallet of its own, whose answer is lost. */
  async function lose(fault: Fault, timeInForce: NewOrder['timeInForce'] = 'GTC') {
    const wallet = Wallet.createRandom()
    venue.exchange.credit(wallet.address.toLowerCase(), 'USDC', '1000')
    const order = { clientOrderId: 'lost', side: 'BUY', orderType: 'LIMIT', timeInForce, price: '39', amount: '1' } as const
    const { plan } = only(await venue.CLOB.act(wallet.address, [{ do: 'create', market, order }], at))
    if (!('via' in plan)) throw new Error('it goes by the chain')
    venue.exchange.faults.add(fault, ({ endpoint }) => endpoint === 'exchange', 1)
    const { sealed, sequence, step } = only(await venue.carryOut(plan, wallet))
    return { id: sealed.id, from: wallet.address, sequence: sequence as Sequence, step, fees: null }
  }
  type LostAction = Awaited<ReturnType<typeof lose>>
  /** One that was filled, and whose fills cannot be read. */
  async function loseUnreadable() {
    venue.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '39', size: '0.4' })
    const lost = await lose(losesAnswer, 'IOC')
    venue.exchange.faults.add(failsWith(502), ({ type }) => type === 'userFills')
    return lost
  }
  const look = async (...open: LostAction[]) =>
    (await poll(open, at).catch(() => ({ statuses: [] }))).statuses.map(({ id, is }) => `${id} ${is}`)
  /** Takes all that is there for callers, two by two. */
  function saturate(): number {
    for (let taken = 0; ; taken += 2)
      try {
        limiter.take(2, 'query', caller)
      } catch {
        return taken
      }
  }

  it('looks at another where one takes what is left each time and is not found out', async () => {
    const [odd, sound] = [await loseUnreadable(), await lose(losesAnswer)]
    limiter.take(perMinute - perMinute / 3 - lookWeight, 'query')
    expect(await look(odd)).to.deep.equal([])
    const seen: string[] = []
    for (let polls = 0; polls < 30; polls += 1) {
      now += 1_000
      seen.push(...(await look(odd, sound)))
    }
    expect(seen).to.include(`${sound.id} landed`)
  })

  it('looks in the end where callers take all that they get, and leaves them most of it', async () => {
    const open = [await loseUnreadable(), await lose(losesAnswer), await lose(losesRequest)]
    saturate()
    const seen: string[] = []
    let taken = 0
    for (let seconds = 0; seconds < 180; seconds += 1) {
      now += 1_000
      taken += saturate()
      seen.push(...(await look(...open)))
      expect(limiter.hasRoom(0), 'the part of callers is never there').to.equal(false)
    }
    expect(seen).to.include(`${open[1]?.id} landed`)
    expect(seen).to.include(`${open[2]?.id} unseen`)
    expect(taken).to.be.above((180 * perMinute * 0.6) / 60)
    limiter.take(reserved - 20, 'action')
  })

  it('gives up what asks the exchange nothing, however little is left', async () => {
    const lost = await lose(losesRequest)
    saturate()
    const step = { user: lost.from.toLowerCase(), action: { type: 'noop' }, trace: { of: 'nothing' }, expiresAfter: 1 }
    expect(await look({ ...lost, step })).to.deep.equal([`${lost.id} expired`])
  })
})
