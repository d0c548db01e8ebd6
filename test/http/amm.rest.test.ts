import { expect } from 'chai'
import type { Answer, Client } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'
import {
  admins,
  chainSeconds,
  freshAddress,
  local,
  mined,
  outcome,
  sharedServer,
  swap,
  toldSeconds,
  uniswap,
  type SharedServer,
} from './shared-server.ts'

const zero = `0x${'0'.repeat(40)}`
/** A decimal string in 10^-30. */
const exact = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(30, '0').slice(0, 30))
}
const one = exact('1')

describe('/amm', () => {
  let server: SharedServer
  let client: Client
  const price = (fields: object = {}): Promise<Answer> => client.post('/amm/price', { ...swap, ...fields })
  const trade = (fields: object = {}): Promise<Answer> => client.post('/amm/trade', { ...swap, address: admins, ...fields })
  const balances = async (...tokenSymbols: string[]): Promise<Record<string, string>> =>
    (await client.get('/network/balances', { ...local, address: admins, tokenSymbols })).body.balances
  const nonce = async (): Promise<number> => (await client.get('/evm/nonce', { ...local, address: admins })).body.nonce

  before(async () => {
    server = await sharedServer()
    client = server.client
    for (const token of ['WETH', 'USDC', 'WBTC']) {
      const { body } = await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap', token })
      await mined(client, body.txHash)
    }
  })

  it('answers a price with every field and the envelope', async () => {
    const { body } = await price()
    expect(body).to.include.keys(
      'base',
      'quote',
      'amount',
      'rawAmount',
      'expectedAmount',
      'price',
      'network',
      'timestamp',
      'latency',
      'gasPrice',
      'gasPriceToken',
      'gasLimit',
      'gasCost',
      'priceImpact',
      'route',
      'blockNumber',
      'slippagePrice',
    )
    expect(body.network).to.equal('local')
    expect(Math.abs(body.timestamp - Date.now())).to.be.below(60_000)
    expect(body.latency).to.be.within(0, 60)
    expect(body.gasPrice).to.be.a('number')
    expect(body.gasPriceToken).to.equal('ETH')
    expect(body.gasCost).to.match(/^\d+\.\d{18}$/)
  })

  it('answers the same question again with the same fields, but the time and latency of this answer', async () => {
    const question = { ...swap, amount: '1.2345' }
    let answers: Answer['body'][] = []
    // At one block, and from memory: the last transaction of a test before may be mined in between.
    await until('four answers of one block', async () => {
      answers = []
      for (let time = 0; time < 4; time += 1) answers.push((await client.get('/amm/price', question)).body)
      return new Set(answers.map(({ blockNumber, source }) => `${blockNumber} ${source}`)).size === 1
    })
    const [first, ...others] = answers
    for (const other of others) expect({ ...other, timestamp: 0, latency: 0 }).to.deep.equal({ ...first, timestamp: 0, latency: 0 })
    for (const { timestamp } of others) expect(timestamp).to.be.within(first.timestamp, Date.now())
    expect(new Set(answers.map(({ latency }) => latency)).size).to.be.above(1)
  })

  for (const side of ['BUY', 'SELL'] as const) {
    for (const [base, quote, amount] of [
      ['WETH', 'USDC', '0.7'],
      ['USDC', 'WETH', '3333.333333'],
      ['WBTC', 'USDC', '0.01234567'],
    ] as const) {
      it(`keeps price, amount and expectedAmount of a ${side} of ${base} together`, async () => {
        const { body } = await price({ base, quote, amount, side })
        const product = (exact(body.price) * exact(body.amount)) / one
        const expected = exact(body.expectedAmount)
        const tolerance = expected / 10n ** 17n + 1n
        expect(body.price.replace('.', '').replace(/^0+/, '').length).to.be.at.least(18)
        if (side === 'BUY') expect(product >= expected - 1n && product - expected <= tolerance, `${product} ${expected}`).to.equal(true)
        else expect(product <= expected && expected - product <= tolerance, `${product} ${expected}`).to.equal(true)
        const worse = exact(body.slippagePrice) - exact(body.price)
        expect(side === 'BUY' ? worse > 0n : worse < 0n).to.equal(true)
        // One per cent, as configured; the bound is in whole units of the quote.
        expect(Number((worse * 10_000n) / exact(body.price)))
          .to.be.within(-100, 100)
          .and.not.be.within(-98, 98)
      })
    }
  }

  it('says the same price impact for a BUY and a SELL that move the same amounts: 1 − output / (input × marginal price)', async () => {
    const of = { version: 'v2' }
    const { body: sold } = await price({ base: 'WETH', quote: 'USDC', amount: '200', side: 'SELL', ...of })
    const { body: bought } = await price({ base: 'USDC', quote: 'WETH', amount: sold.expectedAmount, side: 'BUY', ...of })
    expect(sold.route.map(({ pool }: { pool: string }) => pool)).to.deep.equal(bought.route.map(({ pool }: { pool: string }) => pool))
    expect(Number(bought.expectedAmount)).to.be.closeTo(200, 1e-5)
    // Enough that 1 − marginal price / price and price / marginal price − 1 differ.
    expect(Number(sold.priceImpact)).to.be.above(0.01)
    expect(Number(bought.priceImpact)).to.be.closeTo(Number(sold.priceImpact), 2e-6)
    // What a little costs has no impact but the fees.
    const { body: little } = await price({ base: 'WETH', quote: 'USDC', amount: '0.0001', side: 'SELL', ...of })
    const marginal = Number(little.price) / (1 - Number(little.priceImpact))
    expect(Number(sold.priceImpact)).to.be.closeTo(1 - Number(sold.expectedAmount) / (200 * marginal), 1e-3)
  })

  it('moves slippagePrice by a tighter allowedSlippage and refuses a looser one', async () => {
    const none = await price({ allowedSlippage: '0/1' })
    expect(exact(none.body.price) - exact(none.body.slippagePrice) < exact('0.00001')).to.equal(true)
    const loose = await price({ allowedSlippage: '2/100' })
    expect([outcome(loose), loose.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'allowedSlippage'])
    for (const allowedSlippage of ['1', '1/0', '-1/100', '1/200/3', '0.5/100'])
      expect(outcome(await price({ allowedSlippage }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('accepts a version of the connector, and lists them for an unknown one', async () => {
    expect(outcome(await price({ version: 'v2' }))).to.equal('200')
    for (const version of ['v9', '__proto__', 'constructor']) {
      const answer = await price({ version })
      expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.message).to.contain('v2')
    }
  })

  it('shows the allowance when an address is given', async () => {
    expect((await price({ address: admins })).body.allowance).to.include({ sufficient: true })
    expect((await price({ address: admins, base: 'DAI' })).body.allowance).to.include({ sufficient: false })
    expect((await price({ address: admins, base: 'ETH' })).body.allowance).to.include({ sufficient: true })
  })

  it('answers 1013 or 1025 if the pools cannot fill the amount', async () => {
    expect(outcome(await price({ side: 'BUY', amount: '1000000' }))).to.equal('422 PRICE_FAILED')
  })

  it('trades at a price that can be sent back as limitPrice, and shows the fill', async () => {
    for (const side of ['BUY', 'SELL']) {
      const { body: quoted } = await price({ side })
      const { body, status, text } = await trade({ side, limitPrice: quoted.price })
      expect(status, text).to.equal(200)
      expect(body).to.include.keys(
        'base',
        'quote',
        'price',
        'gasPrice',
        'gasLimit',
        'gasCost',
        'nonce',
        'txHash',
        'amount',
        'rawAmount',
        'expectedAmount',
        'limitPrice',
        'deadline',
        'network',
        'timestamp',
        'latency',
      )
      const { body: poll } = await mined(client, body.txHash)
      expect(poll.fill.price).to.equal(body.price)
      expect([poll.fill.amountIn, poll.fill.amountOut]).to.deep.equal(
        side === 'SELL' ? [body.amount, body.expectedAmount] : [body.expectedAmount, body.amount],
      )
      expect(poll.txReceipt.status).to.equal(1)
    }
  })

  it('splits a swap if that is better, and shows the share and the fill of each path', async () => {
    // There and back, so that others find the pools about as they were.
    for (const side of ['SELL', 'BUY']) {
      const { body: quoted } = await price({ side, amount: '150' })
      const shares: string[] = quoted.route.map(({ share }: { share?: string }) => share)
      expect(shares.length).to.be.above(1)
      for (const share of shares) expect(share).to.match(/^0\.\d\d?$/)
      const { body, status, text } = await trade({ side, amount: '150', limitPrice: quoted.price })
      expect(status, text).to.equal(200)
      const { body: poll } = await mined(client, body.txHash)
      expect(poll.txReceipt.status).to.equal(1)
      expect([poll.fill.amountIn, poll.fill.amountOut]).to.deep.equal(
        side === 'SELL' ? [body.amount, body.expectedAmount] : [body.expectedAmount, body.amount],
      )
    }
  })

  it('puts the tighter of limitPrice and slippage on chain', async () => {
    const { body: quoted } = await price()
    const loose = await trade({ limitPrice: '1' })
    expect(loose.body.limitPrice).to.equal(quoted.slippagePrice)
    const { body: again } = await price()
    const tight = (exact(again.price) * 999n) / 1000n
    const limitPrice = `${tight / one}.${String(tight % one)
      .padStart(30, '0')
      .slice(0, 4)}`
    const { body } = await trade({ limitPrice })
    expect(exact(body.limitPrice) >= exact(limitPrice) && exact(body.limitPrice) <= exact(body.price)).to.equal(true)
    await mined(client, body.txHash)
  })

  it('refuses a price past the limit before anything is signed', async () => {
    const before = await nonce()
    expect(outcome(await trade({ side: 'SELL', limitPrice: '1000000' }))).to.equal('422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
    expect(outcome(await trade({ side: 'BUY', limitPrice: '0.000001' }))).to.equal('422 SWAP_PRICE_EXCEEDS_LIMIT_PRICE')
    expect(outcome(await trade({ side: 'BUY', limitPrice: '0' }))).to.equal('422 SWAP_PRICE_EXCEEDS_LIMIT_PRICE')
    expect(await nonce()).to.equal(before)
  })

  it('sets the deadline to the latest block plus the ttl of the settings', async () => {
    const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
    const before = await toldSeconds(client, server.rpc)
    const { body } = await trade()
    expect(body.deadline - config.ttl).to.be.within(before, await chainSeconds(server.rpc))
    await mined(client, body.txHash)
  })

  for (const [side, base, quote] of [
    ['SELL', 'ETH', 'USDC'],
    ['BUY', 'ETH', 'USDC'],
    ['SELL', 'USDC', 'ETH'],
    ['BUY', 'USDC', 'ETH'],
  ] as const) {
    it(`makes a ${side} of ${base} for ${quote} with the native coin itself`, async () => {
      const amount = base === 'ETH' ? '0.5' : '1000'
      const before = await balances('ETH', 'WETH', 'USDC')
      const { body, status, text } = await trade({ side, base, quote, amount })
      expect(status, text).to.equal(200)
      expect(base === 'ETH' ? body.base : body.quote).to.equal(zero)
      const { body: poll } = await mined(client, body.txHash)
      const after = await balances('ETH', 'WETH', 'USDC')
      const moved = (token: string) => exact(after[token] ?? '') - exact(before[token] ?? '')
      const gas = BigInt(poll.txReceipt.gasUsed) * BigInt(poll.txReceipt.effectiveGasPrice ?? poll.txReceipt.gasPrice) * 10n ** 12n
      const [ether, dollars] = base === 'ETH' ? [body.amount, body.expectedAmount] : [body.expectedAmount, body.amount]
      const sign = (side === 'SELL') === (base === 'ETH') ? 1n : -1n
      expect(moved('WETH')).to.equal(0n)
      expect(moved('USDC')).to.equal(sign * exact(dollars))
      // What was sent over the price came back in the same transaction.
      expect(moved('ETH')).to.equal(-sign * exact(ether) - gas)
    })
  }

  it('refuses amounts above balance or allowance, with the figures', async () => {
    const before = await nonce()
    const poor = await trade({ amount: '2000' })
    expect(outcome(poor)).to.equal('422 INSUFFICIENT_BALANCE')
    expect(poor.body.details).to.include.keys('token', 'current', 'needed')
    const barred = await trade({ base: 'DAI', quote: 'USDC', amount: '5' })
    expect(outcome(barred)).to.equal('422 INSUFFICIENT_ALLOWANCE')
    expect(barred.body.details).to.include.keys('spender', 'token', 'current', 'needed')
    expect(barred.body.details.needed).to.match(/^5(\.0+)?$/)
    expect(await nonce()).to.equal(before)
  })

  it('answers 1005 for a wallet without a key', async () => {
    expect(outcome(await trade({ address: freshAddress() }))).to.equal('404 LOAD_WALLET')
  })

  for (const [fields, problem] of [
    [{ maxFeePerGas: '20000000000' }, 'gwei'],
    [{ maxFeePerGas: '301' }, 'feeCap of 300 gwei'],
    [{ maxPriorityFeePerGas: 20_000_000_000 }, 'gwei'],
    [{ maxFeePerGas: '1.0000000001' }, 'more than 9 decimals'],
    [{ maxFeePerGas: '2', maxPriorityFeePerGas: '3' }, 'above maxFeePerGas'],
    [{ nonce: -1 }, 'non-negative integer'],
    [{ nonce: 1.5 }, 'non-negative integer'],
    [{ nonce: '1' }, 'non-negative integer'],
    [{ nonce: 9007199254740992 }, 'not exact'],
  ] as const) {
    it(`refuses ${JSON.stringify(fields)} and says why`, async () => {
      const answer = await trade(fields)
      expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.message).to.contain(problem)
    })
  }

  it('answers 1004 to fees that the network refuses', async () => {
    expect(outcome(await trade({ maxFeePerGas: '0.000000001', maxPriorityFeePerGas: '0' }))).to.equal('422 TRANSACTION_GAS_PRICE_TOO_LOW')
  })

  it('uses the nonce of the request, and answers 409 with its transaction if it is used', async () => {
    const next = await nonce()
    const { body } = await trade({ nonce: next })
    expect(body.nonce).to.equal(next)
    await mined(client, body.txHash)
    const used = await trade({ nonce: next })
    expect(outcome(used)).to.equal('409 INVALID_NONCE')
    expect(used.body.message).to.contain(body.txHash)
    expect(outcome(await trade({ nonce: Number.MAX_SAFE_INTEGER }))).to.equal('409 INVALID_NONCE')
  })

  it('estimates gas by POST', async () => {
    const { body } = await client.post('/amm/estimateGas', uniswap)
    expect(body).to.include.keys('gasPrice', 'gasPriceToken', 'gasLimit', 'gasCost', 'network', 'timestamp', 'latency')
  })

  it('tells an unknown connector from one that does not serve the network', async () => {
    const unknown = await price({ connector: 'uniswapp' })
    expect(outcome(unknown)).to.equal('404 UNKNOWN_CONNECTOR')
    expect(unknown.body.message).to.contain('did you mean "uniswap"')
    for (const connector of ['__proto__', 'constructor', 'ethereum'])
      expect(outcome(await price({ connector }))).to.equal('404 UNKNOWN_CONNECTOR')
    for (const network of ['__proto__', 'goerli']) expect(outcome(await price({ network }))).to.equal('404 UNKNOWN_CHAIN_ERROR')
    for (const chain of ['__proto__', 'solana']) expect(outcome(await price({ chain }))).to.equal('404 UNKNOWN_CHAIN_ERROR')
  })

  it('tells a network whose nodes cannot be reached from one that is still starting, and when to ask again', async () => {
    for (const times of [1, 2]) {
      const away = await price({ network: 'sepolia' })
      expect(outcome(away), `request ${times}`).to.equal('503 NETWORK')
      expect(away.body.errorCode).to.equal(1001)
      expect(Number(away.headers['retry-after'])).to.be.greaterThan(0)
      expect(away.body.message)
        .to.match(/ethereum\/sepolia/)
        .and.not.match(/starting/)
    }
  })
})
