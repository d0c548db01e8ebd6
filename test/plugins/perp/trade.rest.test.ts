import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { tradingWallets } from '../../../core/devnet/anvil.ts'
import { mined } from '../../http/shared-server.ts'

const chain = { chain: 'ethereum', network: 'local' }
const on = { ...chain, connector: 'perp' }
const ETH = { base: 'ETH', quote: 'USD' }
const [address = '', poor = ''] = tradingWallets

describe('Perpetual Protocol v2 through the server', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  const ask = (verb: string, fields: object = {}) => server.client.post(`/perpAMM/${verb}`, { ...on, ...fields })
  const act = async (verb: string, fields: object) => {
    const { status, body, text } = await ask(verb, fields)
    expect(status, text).to.equal(200)
    return { answer: body, poll: (await mined(server.client, body.txHash)).body }
  }

  it('opens and closes a position from deposit to withdrawal, and shows each step', async () => {
    expect((await ask('pairs')).body.pairs).to.deep.equal(['ETHUSD', 'BTCUSD'])
    const approval = await server.client.post('/evm/approve', { ...chain, address, spender: 'perp', token: 'USDC' })
    await mined(server.client, approval.body.txHash)
    const { poll } = await act('deposit', { address, token: 'USDC', amount: '10000' })
    expect(poll.txReceipt.logs.map(({ name }: { name: string }) => name)).to.include('Deposited')
    expect(Number((await ask('balance', { address })).body.balance)).to.equal(10_000)

    const opened = await act('open', { ...ETH, address, amount: '2', side: 'LONG', margin: '2000', leverage: '5' })
    expect(opened.poll.fill).to.include({ price: opened.answer.price, realizedProfit: '0.000000000000000000' })
    expect(opened.poll.txReceipt.logs.map(({ name }: { name: string }) => name)).to.include('PositionChanged')
    const { position } = (await ask('position', { ...ETH, wallet_address: address })).body
    expect(position).to.include({ positionAmt: '2.000000000000000000', positionSide: 'LONG', entryPrice: opened.answer.price })

    const closed = await act('close', { ...ETH, address })
    expect(closed.poll.fill).to.include({ price: closed.answer.price, closedRatio: '1', size: '2.000000000000000000' })
    const { balance } = (await ask('balance', { address })).body
    // Funding is not part of the profit. It was a millionth for each second in between.
    expect(Number(balance)).to.be.closeTo(10_000 + Number(closed.poll.fill.realizedProfit), 0.0005)
    expect((await ask('close', { ...ETH, address })).body).to.include({ name: 'UNKNOWN_POSITION' })
  })

  it('refuses before signing what the exchange would refuse for lack of margin, fee and price included', async () => {
    // All free collateral at the highest leverage leaves nothing for the fee.
    const { margin } = (await ask('margin', { wallet_address: address })).body
    const free = Math.floor(Number(margin.freeCollateral))
    const { price } = (await ask('price', { ...ETH, amount: '1', side: 'LONG' })).body
    const amount = ((free * 9.95) / Number(price)).toFixed(4)
    const { status, body } = await ask('open', { ...ETH, address, amount, side: 'LONG', margin: String(free), leverage: '10' })
    expect([status, body.name]).to.deep.equal([422, 'INSUFFICIENT_MARGIN'])
    expect(body.message).to.contain('The exchange would refuse the order')
    expect(Number(body.details.needed)).to.be.above(Number(body.details.free))
  })

  it('explains an error code of the contracts', async () => {
    // This wallet has approved nothing: its allowance is the first thing that is missing.
    const unapproved = await ask('deposit', { address: poor, token: 'USDC', amount: '1' })
    expect(unapproved.body).to.include({ name: 'INSUFFICIENT_ALLOWANCE' })
    const deep = await ask('price', { base: 'BTC', quote: 'USD', amount: '30', side: 'SHORT' })
    expect(deep.body).to.include({ name: 'PRICE_FAILED' })
    expect(deep.body.details).to.deep.equal({ reason: 'EX_OPLAS' })
    expect(deep.body.message).to.contain('within fifteen seconds')
  })
})
