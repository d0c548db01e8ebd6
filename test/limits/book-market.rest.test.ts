// Order books as a source of the market: the devnet's exchange of offers beside one pool, and makers of its own.
import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import { MaxUint256, parseUnits } from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { oasisDevnetMarket } from '../../kits/oasis/devnet.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { callOf, callTogether, sendFrom, takeAccount } from '../devnet/accounts.ts'
import { addresses } from '../devnet/addresses.ts'
import { admins, freshAddress, local, mined, oneChain, outcome, traders } from '../http/shared-server.ts'
import { approveAll } from './direct-approvals.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  bot: { permissions: ['read', 'trade'], wallets: 'all' },
  lossy: { permissions: ['read', 'trade'], wallets: 'all', limits: { maxDailyLoss: '20' } },
}
const oasis = { ...local, connector: 'oasis' } as const
const market = oasisDevnetMarket(deployerAddress('oasis'))
/** All connectors but one with one pool of the pair, and the book. */
const kept = ['ethereum', 'traderjoe', 'oasis']
const disabled = readdirSync(new URL('../../plugins/', import.meta.url)).filter((name) => !kept.includes(name))
const { WETH, USDC, DAI } = addresses.tokens
type Quote = 'USDC' | 'DAI'

/** Somebody who is not of the server, with as much as needed. */
interface Maker {
  offer(side: 'BUY' | 'SELL', price: number, ether: number, quote?: Quote): Promise<void>
  cancelAll(): Promise<void>
}

describe('the market by an order book', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  let bot: Client
  let lossy: Client
  let makers: readonly Maker[]
  let nowMs = 0
  /** Nothing that the server reads of the market is recent: a minute ends each time that it looks at the clock. */
  let isOutdated = false
  const steadyMs = () => (isOutdated ? (nowMs += 61_000) : nowMs)

  before(async () => {
    server = await startServer(
      {
        settings: {
          'plugins.disabled': disabled,
          'limits.onLocalNetworks': true,
          'limits.marketMinutes': 20,
          'limits.marketDepth': 4_000,
        },
        conf: { ...oneChain.conf, 'clients.yml': { clients } },
      },
      undefined,
      { market: { open: (parts) => openMarket(parts, steadyMs), stop: (opened) => opened.stop() } },
    )
    await newClients(server.certsDir, ['bot', 'lossy'])
    bot = createClient(server.url, server.certsDir, 'bot')
    lossy = createClient(server.url, server.certsDir, 'lossy')
    rpc = rpcTo(server.rpcUrl)
    await approveAll(server, [traders, admins], ['oasis'])
    makers = [await newMaker(), await newMaker()]
  })
  after(async () => {
    bot?.close()
    lossy?.close()
    await server?.stop()
  })

  async function newMaker(): Promise<Maker> {
    const own = freshAddress()
    await takeAccount(rpc, own, parseUnits('100000', 18))
    await callTogether(
      rpc,
      own,
      [own],
      [
        callOf(WETH.address, 'deposit()', [], parseUnits('10000', 18)),
        ...[USDC, DAI].map(({ address, decimals }) => callOf(address, 'mint(address,uint256)', [own, parseUnits('100000000', decimals)])),
        ...[WETH, USDC, DAI].map(({ address }) => callOf(address, 'approve(address,uint256)', [market, MaxUint256])),
      ],
    )
    const made: bigint[] = []
    return {
      async offer(side, price, ether, quote = 'USDC') {
        const { address, decimals } = addresses.tokens[quote]
        const [base, quoted] = [
          [parseUnits(String(ether), 18), WETH.address],
          [parseUnits((price * ether).toFixed(6), decimals), address],
        ] as const
        const [pays, wants] = side === 'SELL' ? [base, quoted] : [quoted, base]
        const call = callOf(market, 'offer(uint256,address,uint256,address,uint256,bool)', [...pays, ...wants, 0n, false])
        const { logs } = await sendFrom(rpc, own, call)
        made.push(BigInt(logs.find(({ topics }) => topics.length === 4)?.topics[1] ?? 0))
      },
      async cancelAll() {
        for (const id of made.splice(0)) await sendFrom(rpc, own, callOf(market, 'cancel(uint256)', [id]))
      },
    }
  }

  /** The market is read once in a minute of this time: so much between two readings counts as a whole. */
  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 60) {
      nowMs += Math.min(left, 60) * 1000
      await server.kernel.services.market.read()
    }
  }
  const order = (fields: object = {}, client = bot, address: string = traders) =>
    client.post('/clob/orders', {
      ...oasis,
      address,
      market: 'WETH-USDC',
      orderType: 'LIMIT',
      side: 'SELL',
      amount: '0.1',
      price: '3020',
      ...fields,
    })
  const reasonOf = async (fields?: object) => {
    const { status, body, text } = await order(fields)
    expect(status, text).to.equal(403)
    return body.details.reason
  }

  it('has no opinion where one maker is on both sides, with one pool beside it', async () => {
    expect(await reasonOf()).to.equal('market too short')
    await pass(360)
    expect(await reasonOf()).to.equal('no market')
  })

  it('does not count orders of wallets of the server', async () => {
    for (const fields of [
      { side: 'SELL', price: '3018', amount: '3' },
      { side: 'BUY', price: '2982', amount: '3' },
    ]) {
      const placed = await order(fields, server.client, admins)
      expect(outcome(placed), placed.text).to.equal('200')
      await mined(server.client, placed.body.txHash)
    }
    await pass(10)
    expect(await reasonOf()).to.equal('no market')
  })

  it('counts with another maker on both sides, once it has been there for long enough', async () => {
    await makers[0]?.offer('SELL', 3019, 3)
    await pass(10)
    expect(await reasonOf()).to.equal('no market')
    await makers[0]?.offer('BUY', 2981, 3)
    await pass(10)
    expect(await reasonOf()).to.equal('market too short')
    await pass(360)
    const placed = await order()
    expect(outcome(placed), placed.text).to.equal('200')
    for (const far of [
      { side: 'SELL', price: '2000' },
      { side: 'BUY', price: '4000' },
    ]) {
      const refused = await order(far)
      expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
      expect(refused.body.details.limit).to.equal('maxPriceImpact')
    }
  })

  it('counts no more once a maker has left, and again when it is back', async () => {
    await makers[0]?.cancelAll()
    await pass(10)
    expect(await reasonOf()).to.equal('no market')
    await makers[0]?.offer('SELL', 3019, 3)
    await makers[0]?.offer('BUY', 2981, 3)
    await pass(10)
    expect(outcome(await order({ price: '3021' }))).to.equal('200')
  })

  it('counts what is taken of an order once the market has moved, and then places nothing more', async () => {
    const lost = async () => {
      const { body } = await lossy.get('/limits')
      return Number(body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss').used)
    }
    const placed = await order({ price: '3015', amount: '1' }, lossy)
    expect(outcome(placed), placed.text).to.equal('200')
    await mined(server.client, placed.body.txHash)
    expect(await lost()).to.equal(0)
    for (const maker of makers) await maker.cancelAll()
    for (const maker of makers) await maker.offer('SELL', 3051, 3)
    // The bids take all that is below them: that order, too, which is 35 dollars below the market by then. What it lost is asked for once that market was read, and not by a reading of before, which the server may do at any time.
    isOutdated = true
    await Promise.all(makers.map((maker) => maker.offer('BUY', 3050, 500)))
    await server.kernel.services.market.read()
    isOutdated = false
    await pass(360)
    for (const until = Date.now() + 180_000; (await lost()) === 0 && Date.now() < until;) {
      await lossy.get('/clob/orders', { ...oasis, address: traders, market: 'WETH-USDC' })
      await new Promise((done) => setTimeout(done, 200))
    }
    expect(await lost()).to.be.within(33, 37)
    const refused = await order({ price: '3100' }, lossy)
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxDailyLoss')
  })

  it('alone is no market, whatever its makers are', async () => {
    const dai = { market: 'WETH-DAI' }
    for (const maker of makers) {
      await maker.offer('SELL', 3010, 3, 'DAI')
      await maker.offer('BUY', 2990, 3, 'DAI')
    }
    await order(dai)
    await pass(360)
    expect(await reasonOf(dai)).to.equal('no market')
  })
})
