import { expect } from 'chai'
import { Wallet } from 'ethers'
import { signL1Action } from '@nktkas/hyperliquid/signing'
import { newTrader } from './client.ts'
import { startExchange, type HyperliquidExchange } from './exchange/start-exchange.ts'

type Trader = ReturnType<typeof newTrader>

const [minute, day] = [60_000, 86_400_000]

describe('signed actions on the simulator of Hyperliquid', () => {
  let exchange: HyperliquidExchange
  let trader: Trader

  beforeEach(async () => {
    exchange = await startExchange()
    trader = newTrader(exchange)
    exchange.credit(trader.address, 'USDC', '1000')
  })
  afterEach(() => exchange.stop())

  const post = async (body: unknown, path = 'exchange'): Promise<{ status: number; body: unknown }> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await fetch(`${exchange.apiUrl}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    })
    const told = await answer.text()
    return { status: answer.status, body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(told) : told }
  }
  const signed = async (
    action: Record<string, unknown>,
    nonce: number,
    more: { wallet?: Trader['wallet']; expiresAfter?: number } = {},
  ) => {
    const { wallet = trader.wallet, ...rest } = more
    return { action, nonce, signature: await signL1Action({ wallet, action, nonce, ...rest }), ...rest }
  }
  const noop = async (nonce: number, more?: Parameters<typeof signed>[2]) => (await post(await signed({ type: 'noop' }, nonce, more))).body
  const done = { status: 'ok', response: { type: 'default' } }
  const refused = (response: string) => ({ status: 'err', response })

  it('take each nonce once, whatever came of it', async () => {
    const nonce = exchange.clock.now()
    expect(await noop(nonce)).to.deep.equal(done)
    expect(await noop(nonce)).to.deep.equal(refused(`Invalid nonce: duplicate nonce ${nonce}`))
    const failing = await signed({ type: 'borrowLend', operation: 'borrow', token: 0, amount: '1' }, nonce + 1)
    expect((await post(failing)).body).to.deep.equal(refused('Portfolio margin is not enabled.'))
    expect((await post(failing)).body).to.deep.equal(refused(`Invalid nonce: duplicate nonce ${nonce + 1}`))
  })

  it('take nonces of two days ago to one day ahead', async () => {
    const now = exchange.clock.now()
    expect(await noop(now - 2 * day + minute)).to.deep.equal(done)
    expect(await noop(now + day - minute)).to.deep.equal(done)
    expect(await noop(now - 2 * day - minute))
      .to.have.property('response')
      .that.matches(/^Invalid nonce: nonce too low \d+ < \d+$/)
    expect(await noop(now + day + minute))
      .to.have.property('response')
      .that.matches(/^Invalid nonce: nonce too high \d+ > \d+$/)
  })

  it('take no nonce below the hundred highest', async () => {
    const now = exchange.clock.now()
    for (let n = 1; n <= 100; n++) expect(await noop(now + 10 * n)).to.deep.equal(done)
    expect(await noop(now)).to.deep.equal(refused(`Invalid nonce: nonce too low ${now} < ${now + 10}`))
    expect(await noop(now + 15), 'between two of them').to.deep.equal(done)
    expect(await noop(now + 12), 'which puts the lowest out').to.deep.equal(
      refused(`Invalid nonce: nonce too low ${now + 12} < ${now + 15}`),
    )
  })

  it('are carried out until they expire, and take their nonce afterwards too', async () => {
    const now = exchange.clock.now()
    expect(await noop(now, { expiresAfter: now + minute })).to.deep.equal(done)
    expect(await noop(now + 1, { expiresAfter: now - 1 })).to.deep.equal(refused('Action already expired'))
    expect(await noop(now + 1)).to.deep.equal(refused(`Invalid nonce: duplicate nonce ${now + 1}`))
    expect((await trader.info.userRateLimit({ user: trader.address })).nRequestsUsed, 'five times as many requests').to.equal(7)
  })

  it('are those of whoever signed them, in whatever form the numbers are written', async () => {
    const orders = [{ a: 10_000, b: true, p: '0.19', s: '100', r: false, t: { limit: { tif: 'Gtc' } } }]
    const { action, ...rest } = await signed({ type: 'order', orders, grouping: 'na' }, exchange.clock.now())
    const shuffled = [{ t: { limit: { tif: 'Gtc' } }, r: false, s: '100.0', p: '0.1900', b: true, a: 10_000 }]
    expect((await post({ action: { grouping: 'na', orders: shuffled, type: 'order' }, ...rest })).body).to.have.nested.property(
      'response.data.statuses[0].resting',
    )
    const other = { action: { ...action, orders: [{ ...orders[0], s: '101' }] }, ...rest }
    expect((await post(other)).body)
      .to.have.property('response')
      .that.matches(/^User or API Wallet 0x[0-9a-f]{40} does not exist\.$/)
    const nobody = { action, nonce: 1, signature: { r: `0x${'0'.repeat(64)}`, s: `0x${'0'.repeat(64)}`, v: 27 } }
    expect((await post(nobody)).body).to.deep.equal(refused('Unable to recover signer.'))
  })

  it('may be signed by an agent, with nonces of its own, and not those that move money away', async () => {
    const agent = Wallet.createRandom()
    const nonce = exchange.clock.now() + minute
    expect(await noop(nonce, { wallet: agent }))
      .to.have.property('response')
      .that.contains('does not exist')
    await trader.exchange.approveAgent({ agentAddress: agent.address, agentName: 'bot' })
    expect(await noop(nonce)).to.deep.equal(done)
    expect(await noop(nonce, { wallet: agent })).to.deep.equal(done)
    expect(await trader.info.userRole({ user: agent.address })).to.deep.equal({
      role: 'agent',
      data: { user: trader.address },
    })
    expect((await trader.info.extraAgents({ user: trader.address })).map(({ name }) => name)).to.deep.equal(['bot'])

    const asAgent = newTrader(exchange, agent)
    const order = { a: 10_000, b: true, p: '0.19', s: '100', r: false, t: { limit: { tif: 'Gtc' as const } } }
    await asAgent.exchange.order({ orders: [order] })
    expect(await trader.info.openOrders({ user: trader.address })).to.have.length(1)
    const away = await asAgent.exchange.withdraw3({ destination: asAgent.address, amount: '5' }).catch(String)
    expect(away).to.contain(`Must deposit before performing actions. User: ${asAgent.address}`)

    await trader.exchange.approveAgent({ agentAddress: Wallet.createRandom().address, agentName: 'bot' })
    expect(await asAgent.exchange.order({ orders: [order] }).catch(String), 'another took its name').to.contain('does not exist')
  })

  it('of agents end with the time that was said', async () => {
    const agent = Wallet.createRandom()
    await trader.exchange.approveAgent({
      agentAddress: agent.address,
      agentName: `short valid_until ${exchange.clock.now() + minute}`,
    })
    expect(await noop(exchange.clock.now(), { wallet: agent })).to.deep.equal(done)
    exchange.clock.advance(minute)
    expect(await noop(exchange.clock.now(), { wallet: agent }))
      .to.have.property('response')
      .that.contains('does not exist')
  })

  it('move dollars between the balances of a wallet', async () => {
    await trader.exchange.usdClassTransfer({ amount: '400.5', toPerp: true })
    expect((await trader.info.clearinghouseState({ user: trader.address })).withdrawable).to.equal('400.5')
    expect(await trader.exchange.usdClassTransfer({ amount: '400.500001', toPerp: false }).catch(String)).to.contain('Insufficient balance')
    await trader.exchange.usdClassTransfer({ amount: '0.5', toPerp: false })
    expect((await trader.info.spotClearinghouseState({ user: trader.address })).balances[0]?.total).to.equal('600.0')
    const [to, back] = await trader.info.userNonFundingLedgerUpdates({ user: trader.address })
    expect([to?.delta, back?.delta]).to.deep.equal([
      { type: 'accountClassTransfer', usdc: '400.5', toPerp: true },
      { type: 'accountClassTransfer', usdc: '0.5', toPerp: false },
    ])
  })

  it('take money out after a time, and keep the fee', async () => {
    exchange.deposit(trader.address, '100')
    expect(await trader.exchange.withdraw3({ destination: trader.address, amount: '101' }).catch(String)).to.contain(
      'Insufficient balance for withdrawal.',
    )
    await trader.exchange.withdraw3({ destination: trader.address, amount: '50' })
    expect((await trader.info.clearinghouseState({ user: trader.address })).withdrawable).to.equal('50.0')
    const leaving = { user: trader.address, destination: trader.address, usdc: '49.0' }
    expect(exchange.withdrawals()).to.deep.equal([{ ...leaving, left: false }])
    exchange.clock.advance(5 * minute)
    expect(exchange.withdrawals()).to.deep.equal([{ ...leaving, left: true }])
    const updates = await trader.info.userNonFundingLedgerUpdates({ user: trader.address })
    expect(updates.map(({ delta }) => delta.type)).to.deep.equal(['deposit', 'withdraw'])
  })

  it('send tokens to others, who are made known for a dollar', async () => {
    const friend = newTrader(exchange)
    const token = 'USDC:0x6d1e7cde53ba9467b783cb7c530ce054'
    expect(await friend.info.userRole({ user: friend.address })).to.deep.equal({ role: 'missing' })
    await trader.exchange.spotSend({ destination: friend.address, token, amount: '10' })
    await trader.exchange.spotSend({ destination: friend.address, token, amount: '10' })
    expect((await friend.info.spotClearinghouseState({ user: friend.address })).balances[0]?.total).to.equal('20.0')
    expect((await trader.info.spotClearinghouseState({ user: trader.address })).balances[0]?.total).to.equal('979.0')
  })

  it('are limited for each wallet: one per dollar traded besides those at the start, then one every ten seconds', async () => {
    exchange.engine.rules.requestsPerAddress = 2
    const now = exchange.clock.now()
    for (let n = 0; n < 3; n++) expect(await noop(now + n)).to.deep.equal(done)
    expect(await noop(now + 3)).to.deep.equal(
      refused(
        'Too many cumulative requests sent (4 > 2) for cumulative volume traded $0.0. Place taker orders to free up 1 request per USDC traded.',
      ),
    )
    exchange.clock.advance(10_000)
    expect(await noop(now + 4)).to.deep.equal(done)
    const cancel = await signed({ type: 'cancel', cancels: [{ a: 0, o: 1 }] }, now + 5)
    expect((await post(cancel)).body, 'cancels have a limit of their own').to.deep.equal(
      refused(
        'Too many cumulative requests sent (5 > 4) for cumulative volume traded $0.0. Place taker orders to free up 1 request per USDC traded.',
      ),
    )
  })

  it('and questions are limited by their weight for each address that they come from', async () => {
    exchange.engine.rules.weightPerMinute = 50
    const ask = () => post({ type: 'meta' }, 'info')
    expect([(await ask()).status, (await ask()).status]).to.deep.equal([200, 200])
    expect(await ask()).to.deep.equal({ status: 429, body: null })
    expect((await post({ type: 'allMids' }, 'info')).status, 'a lighter one').to.equal(200)
    exchange.clock.advance(minute)
    expect((await ask()).status).to.equal(200)
  })

  it('are answered as the exchange does where they are none', async () => {
    expect(await post('{', 'info')).to.deep.equal({ status: 400, body: 'Failed to parse the request body as JSON' })
    expect(exchange.takeViolations()).to.deep.equal([])
    const unreadable = { status: 422, body: 'Failed to deserialize the JSON body into the target type' }
    const orders = [{ a: 10_000, b: true, p: '0.190000001', s: '100', r: false, t: { limit: { tif: 'Gtc' } } }]
    expect(await post(await signed({ type: 'order', orders, grouping: 'na' }, 1))).to.deep.equal(unreadable)
    expect(await post({ type: 'noSuchThing' }, 'info')).to.deep.equal(unreadable)
    expect(await post({ type: 'openOrders', user: '0x12' }, 'info')).to.deep.equal(unreadable)
    expect(exchange.takeViolations()).to.have.length(2)
  })

  it('fail the test that sends what does not fit the published schemas', async () => {
    const strict = await startExchange()
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'l2Book', coin: 7 }) }
    await fetch(`${strict.apiUrl}/info`, asked)
    const failure = await strict.stop().catch(String)
    expect(failure).to.contain('1 times something did not fit the published schemas, first the request l2Book: coin: Invalid type')
  })
})
