import { expect } from 'chai'
import { lending, perpState, perpAccountOf } from '../../../plugins/hyperliquid/accounts.ts'
import { createPost, createRateLimiter } from '../../../plugins/hyperliquid/api.ts'
import { failsWith, losesAnswer, overItsLimit } from '../../../tools/hyperliquid-simulator/exchange/faults.ts'
import { at, startVenue, usdc, type TestVenue } from './venue.ts'

const owner = '0x5B38Da6a701c568545dCfcB03FcB875f56beddC4'
const nameOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'answered',
    (error: unknown) => Object(error).name,
  )

describe("Hyperliquid's rate limit", () => {
  it("counts the exchange's weights, refills within a minute, and reserves a sixth for actions", () => {
    let now = 0
    const budget = createRateLimiter(1200, () => now)
    for (let asked = 0; asked < 50; asked += 1) budget.take(20, 'query')
    expect(() => budget.take(2, 'query')).to.throw('used up')
    for (let sent = 0; sent < 200; sent += 1) budget.take(1, 'action')
    expect(() => budget.take(1, 'action')).to.throw('used up')
    now += 30_000
    for (let asked = 0; asked < 20; asked += 1) budget.take(20, 'query')
    expect(() => budget.take(20, 'query'))
      .to.throw('used up')
      .with.property('retryAfterSeconds', 1)
    now += 3_600_000
    budget.take(1000, 'query')
    budget.markExhausted()
    expect(() => budget.take(1, 'action')).to.throw('used up')
  })

  it('leaves a third to callers where the server itself can wait, also of a small limit', () => {
    let now = 0
    const budget = createRateLimiter(1200, () => now)
    expect(budget.hasRoom(198)).to.equal(true)
    budget.take(620, 'query')
    expect(budget.hasRoom(198)).to.equal(false)
    now += 10_000
    expect(budget.hasRoom(198)).to.equal(true)
    expect(createRateLimiter(200, () => now).hasRoom(198)).to.equal(true)
  })

  it('serves one certificate alone where no other asks, and else keeps a part for each', () => {
    let now = 0
    const budget = createRateLimiter(1200, () => now)
    const [greedy, modest] = [{}, {}]
    for (let asked = 0; asked < 50; asked += 1) budget.take(20, 'query', greedy)
    expect(() => budget.take(2, 'query', modest), 'all is used').to.throw('for this minute')
    now += 3_000
    expect(() => budget.take(2, 'query', greedy)).to.throw('This client certificate has used its part')
    for (let asked = 0; asked < 3; asked += 1) budget.take(20, 'query', modest)
    // What the server asks for itself is nobody's.
    now += 1_000
    budget.take(20, 'query')
    now += 60_000
    budget.take(20, 'query', greedy)
  })
})

describe('a Hyperliquid that is not available', () => {
  let venue: TestVenue
  beforeEach(async () => {
    venue = await startVenue()
  })
  afterEach(() => venue.stop())

  it('answers the next request where the HTTP library could not be loaded before', async () => {
    let loads = 0
    const post = createPost(venue.exchange.apiUrl, async () => {
      loads += 1
      if (loads === 1) throw new Error('EMFILE: too many open files')
      return import('undici')
    })
    const ask = () => post('info', '{"type":"meta"}', AbortSignal.timeout(10_000))
    expect(await ask()).to.have.property('is', 'lost')
    expect(await ask()).to.include({ is: 'answered', status: 200 })
    expect(loads).to.equal(2)
    await post.close()
  })

  for (const [words, fault, name] of [
    ['has no rate limit left', overItsLimit, 'RATE_LIMIT'],
    ['fails', failsWith(502), 'NETWORK'],
    ['cuts connections', losesAnswer, 'NETWORK'],
    ['answers in an unknown format', failsWith(200), 'NETWORK'],
  ] as const) {
    it(`returns ${name} to callers when it ${words}, and works again afterwards`, async () => {
      const end = venue.exchange.faults.add(fault, ({ endpoint }) => endpoint === 'info')
      const thrown: unknown = await venue.CLOB.balances(owner, at).catch((error: unknown) => error)
      expect(thrown).to.include({ name })
      expect(Object(thrown).retryAfterSeconds).to.be.above(0)
      expect(await nameOf(venue.CLOB.markets(at))).to.equal(name)
      end()
      // The limit refills with time.
      if (name !== 'RATE_LIMIT') expect(await nameOf(venue.CLOB.markets(at))).to.equal('answered')
    })
  }

  it('does not keep the connector from starting', async () => {
    const nowhere = { apiUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' }
    const away = await startVenue({ networks: { mainnet: nowhere, testnet: nowhere } })
    expect(await nameOf(away.PERP_CLOB.markets(at))).to.equal('NETWORK')
    await away.stop()
  })
})

describe("Hyperliquid's accounts", () => {
  it('have figures also with negative equity, or where they can be liquidated', () => {
    const summary = { accountValue: '-5.25', totalNtlPos: '100.0', totalRawUsd: '-105.25', totalMarginUsed: '10.0' }
    const position = {
      coin: 'ETH',
      szi: '-0.025',
      leverage: { type: 'isolated', value: 10, rawUsd: '94.75' },
      entryPx: '3790.0',
      positionValue: '100.0',
      unrealizedPnl: '-5.25',
      liquidationPx: null,
      maxLeverage: 25,
    }
    const state = perpState(
      {
        marginSummary: summary,
        crossMaintenanceMarginUsed: '1.0',
        withdrawable: '0.0',
        assetPositions: [{ type: 'oneWay', position }],
        time: 1,
      },
      'clearinghouseState',
    )
    expect(perpAccountOf(state)).to.deep.equal({
      accountValue: '-5.25',
      freeCollateral: '0',
      collateral: '0',
      initialMargin: '10',
      maintenanceMargin: '3',
      notional: '100',
    })
    const borrow = { basis: '1.0', value: '1.5' }
    const owing = { tokenToState: [[0, { borrow, supply: borrow }]], health: 'marketLiquidatable', healthFactor: '0.9' }
    expect(lending(owing, 'borrowLendUserState').tokenToState).to.have.length(1)
  })

  it('give nothing for an unlisted token with the symbol of a listed one', async () => {
    const venue = await startVenue()
    venue.exchange.credit(owner.toLowerCase(), 'USDC', '1000')
    venue.exchange.setMode(owner.toLowerCase(), 'portfolioMargin')
    const strange = { ...usdc, address: '0x00000000000000000000000000000000000000A1' }
    expect(await nameOf(venue.MARGIN_CLOB.transferCollateral(strange, 1_000_000n, 'deposit', owner, at))).to.equal('TOKEN_NOT_SUPPORTED')
    expect(await nameOf(venue.CLOB.transferCollateral?.(strange, 1_000_000n, 'withdraw', owner, at) ?? Promise.resolve())).to.equal(
      'UNSUPPORTED',
    )
    expect(await nameOf(venue.MARGIN_CLOB.transferCollateral(usdc, 1_000_000n, 'deposit', owner, at))).to.equal('answered')
    await venue.stop()
  })
})
