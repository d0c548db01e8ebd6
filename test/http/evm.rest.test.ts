import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import {
  admins,
  freshAddress,
  listedSpender,
  local,
  mined,
  noted,
  others,
  outcome,
  sharedServer,
  traders,
  type SharedServer,
} from './shared-server.ts'

const most = (2n ** 256n - 1n).toString()

describe('/evm', () => {
  let server: SharedServer
  let client: Client
  const wallet = { ...local, address: others }
  const approve = (fields: object) => client.post('/evm/approve', { ...wallet, spender: 'uniswap/v2', token: 'USDC', ...fields })
  const allowances = async (spender: string, ...tokenSymbols: string[]) =>
    (await client.get('/evm/allowances', { ...wallet, spender, tokenSymbols })).body
  let last = ''
  const nonce = async (): Promise<number> => (await client.get('/evm/nonce', wallet)).body.nonce
  before(async () => {
    server = await sharedServer()
    client = server.client
  })

  it('approves an unlimited amount without an amount, the given amount, and 0 to revoke', async () => {
    for (const [amount, raw] of [
      [undefined, most],
      ['12.5', '12500000'],
      ['0', '0'],
    ] as const) {
      const { body, status } = await approve({ amount })
      expect(status).to.equal(200)
      expect(body).to.include.keys('spender', 'tokenAddress', 'amount', 'nonce', 'txHash', 'network', 'timestamp', 'latency')
      await mined(client, body.txHash)
      expect(body.amount.replace('.', '').replace(/^0+(?=\d)/, '')).to.equal(raw)
      expect((await allowances('uniswap/v2', 'usdc')).approvals).to.deep.equal({ USDC: body.amount })
    }
  })

  it('approves all spenders of a connector by its name, and shows each and the smallest allowance', async () => {
    const next = await nonce()
    const { body } = await approve({ spender: 'uniswap', token: 'DAI', amount: '7', nonce: next })
    const names = ['v2', 'v3', 'v4', 'positions', 'v4Positions']
    const spenders = await Promise.all(names.map(async (each) => (await allowances(`uniswap/${each}`, 'DAI')).spender))
    // The router of v4 takes tokens by Permit2, which is approved first, and once for both contracts of v4.
    const steps = spenders.flatMap((spender, index) => (names[index] === 'v4' ? [spender, spender] : [spender]))
    expect(body.transactions.map((each: { spender: string; nonce: number }) => [each.spender, each.nonce])).to.deep.equal(
      steps.map((spender, index) => [spender, next + index]),
    )
    for (const { txHash } of body.transactions) expect((await mined(client, txHash)).body.txReceipt.status).to.equal(1)
    const seven = { DAI: `7.${'0'.repeat(18)}` }
    expect(await allowances('uniswap', 'DAI')).to.deep.include({
      approvals: seven,
      spenders: Object.fromEntries(spenders.map((spender) => [spender, seven])),
    })
    await mined(client, (await approve({ spender: 'uniswap/v3', token: 'DAI', amount: '5' })).body.txHash)
    expect((await allowances('uniswap', 'DAI')).approvals).to.deep.equal({ DAI: `5.${'0'.repeat(18)}` })
  })

  it('approves a spender that takes tokens by Permit2 with an expiry, and shows both', async () => {
    const { address } = server.kernel.services.registry.venue('uniswap', local.chain, local.network).impl.permit2 ?? { address: '' }
    const of = (fields: object) => approve({ spender: 'uniswap/v4', token: 'WBTC', ...fields })
    const expires = Math.floor(Date.now() / 1000) + 3600
    const first = await of({ amount: '9', expires })
    expect(first.body.transactions, first.text).to.have.length(2)
    await mined(client, first.body.txHash)
    const { spender, approvals, expiries } = await allowances('uniswap/v4', 'WBTC', 'ETH')
    expect([approvals.WBTC, expiries[spender].WBTC]).to.deep.equal(['9.00000000', expires])
    expect((await allowances(address, 'WBTC')).approvals).to.deep.equal({ WBTC: '9.00000000' })
    // Less needs no more of the token, and nothing takes the token's allowance back.
    for (const [amount, shown] of [
      ['7', '7.00000000'],
      ['0', '0.00000000'],
    ] as const) {
      const { body } = await of({ amount })
      expect(body).not.to.have.property('transactions')
      await mined(client, body.txHash)
      expect((await allowances('uniswap/v4', 'WBTC')).approvals).to.deep.equal({ WBTC: shown })
      expect((await allowances(address, 'WBTC')).approvals).to.deep.equal({ WBTC: '9.00000000' })
    }
    for (const fields of [
      { expires: 1 },
      { expires: -1 },
      { expires: expires * 1000 },
      { expires: 1.5 },
      { expires, spender: 'uniswap/v2' },
    ]) {
      const refused = await of({ amount: '1', ...fields })
      expect(outcome(refused)).to.equal('400 INCOMPLETE_PARAMS')
      expect(refused.body.details[0].field).to.equal('expires')
    }
  })

  it('trades by what is approved where the best route needs another approval, within the slippage of the best', async () => {
    const swap = { ...wallet, connector: 'uniswap', base: 'USDT', quote: 'USDC', side: 'SELL', amount: '5000' }
    const best = await client.get('/amm/price', swap)
    const { spender } = await allowances('uniswap/v4', 'USDT')
    expect(best.body.allowance).to.deep.equal({ spender, sufficient: false })
    await mined(client, (await approve({ spender: 'uniswap/v3', token: 'USDT', amount: '5000' })).body.txHash)
    const { body, status, text } = await client.post('/amm/trade', swap)
    expect(status, text).to.equal(200)
    expect(Number(body.price)).to.be.below(Number(best.body.price))
    expect(body.limitPrice).to.equal(best.body.slippagePrice)
    expect((await mined(client, body.txHash)).body.txReceipt.status).to.equal(1)
    // Beyond that slippage, and where a version is asked for, the approval is asked for.
    for (const fields of [{ allowedSlippage: '1/1000000' }, { version: 'v4' }]) {
      const refused = await client.post('/amm/trade', { ...swap, ...fields })
      expect(outcome(refused), JSON.stringify(fields)).to.match(/INSUFFICIENT_ALLOWANCE/)
      expect(refused.body.message).to.contain('approve')
    }
  })

  it('revokes first for a token that requires it, in two transactions of one request', async () => {
    const first = await approve({ token: 'USDT', amount: '5' })
    expect(first.body).not.to.have.property('transactions')
    await mined(client, first.body.txHash)
    const next = await nonce()
    const { body } = await approve({ token: 'USDT', amount: '6', nonce: next })
    expect(body.transactions.map((each: { nonce: number }) => each.nonce)).to.deep.equal([next, next + 1])
    expect(body).to.include({ nonce: next + 1, txHash: body.transactions[1].txHash, amount: '6.000000' })
    for (const { txHash } of body.transactions) expect((await mined(client, txHash)).body.txReceipt.status).to.equal(1)
    expect((await allowances('uniswap/v2', 'USDT')).approvals.USDT).to.equal('6.000000')
  })

  it('approves Permit2 once for all spenders by it, also of a token that changes no allowance but from 0', async () => {
    const { body, text } = await approve({ spender: 'uniswap', token: 'USDT' })
    for (const { txHash } of body.transactions ?? []) expect((await mined(client, txHash)).body.txReceipt.status, text).to.equal(1)
    expect(Number((await allowances('uniswap', 'USDT')).approvals.USDT), text).to.be.above(1e9)
  })

  it('accepts a spender as connector, connector/version or address', async () => {
    const byName = await allowances('uniswap', 'USDC', 'ETH')
    expect(await allowances('uniswap/v2', 'USDC')).to.include({ spender: byName.spender })
    expect(await allowances(byName.spender, 'USDC')).to.include({ spender: byName.spender })
    expect(byName.approvals).to.have.all.keys('USDC', 'ETH')
    for (const spender of ['uniswap/v9', 'uniswap/', 'uniswap/v2/x', 'uniswap/__proto__', '__proto__', 'constructor', 'uniswpa', '0x12']) {
      const answer = await client.get('/evm/allowances', { ...wallet, spender, tokenSymbols: 'USDC' })
      expect(outcome(answer), spender).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.equal('spender')
    }
  })

  it('approves a spender that no connector has, on a devnet', async () => {
    for (const spender of [freshAddress(), listedSpender]) {
      const { body, status, text } = await approve({ spender, amount: '1' })
      expect(status, text).to.equal(200)
      await mined(client, body.txHash)
      expect((await allowances(spender, 'USDC')).approvals).to.deep.equal({ USDC: '1.000000' })
    }
    // The address of a connector's router is no stranger's.
    const { spender } = await allowances('uniswap', 'USDC')
    const known = await server.as.trader.post('/evm/approve', { ...local, address: traders, spender, token: 'USDC', amount: '1' })
    expect(outcome(known)).to.equal('200')
    await mined(client, known.body.txHash)
  })

  it('takes an allowance to 0 whoever the spender is', async () => {
    const stranger = freshAddress()
    const { body, status, text } = await approve({ spender: stranger, amount: '0.0' })
    expect(status, text).to.equal(200)
    expect((await mined(client, body.txHash)).body.txReceipt.status).to.equal(1)
  })

  it('refuses the native coin, and invalid allowances', async () => {
    expect(outcome(await approve({ token: 'ETH' }))).to.equal('400 INCOMPLETE_PARAMS')
    for (const amount of ['-1', '1.0000001', '1e90', '0.1.2', 1e-7])
      expect(outcome(await approve({ amount })), String(amount)).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('does not read a number that JSON rounds to 0 as a revocation', async () => {
    const { body } = await approve({ amount: '8' })
    await mined(client, body.txHash)
    const raw = JSON.stringify({ ...wallet, spender: 'uniswap', token: 'USDC', amount: 'N' }).replace('"N"', '1e-400')
    expect(outcome(await client.post('/evm/approve', undefined, { raw }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('cancels a pending transaction, and answers 409 when it is mined', async () => {
    const { body: earlier } = await approve({ amount: '2' })
    await noted(client, earlier.txHash)
    await server.rpc('evm_setIntervalMining', 0)
    await server.rpc('evm_setAutomine', false)
    try {
      const { body: pending } = await approve({ amount: '3' })
      const { body: poll } = await client.get('/network/poll', { ...local, txHash: pending.txHash })
      expect([poll.txStatus, poll.txBlock, poll.txReceipt]).to.deep.equal([2, -1, null])
      const taken = await approve({ amount: '4', nonce: pending.nonce })
      expect(outcome(taken)).to.equal('409 INVALID_NONCE')
      expect(taken.body.message).to.contain(pending.txHash)
      const { body: cancelled, status, text } = await client.post('/evm/cancel', wallet)
      expect(status, text).to.equal(200)
      expect(cancelled.nonce).to.equal(pending.nonce)
      await server.rpc('evm_mine')
      expect((await mined(client, cancelled.txHash)).body.txReceipt.status).to.equal(1)
      const late = await client.post('/evm/cancel', { ...wallet, nonce: pending.nonce })
      expect(outcome(late)).to.equal('409 INVALID_NONCE')
      expect(late.body.message).to.contain('mined')
      const lost = (await client.get('/network/poll', { ...local, txHash: pending.txHash })).body
      expect(lost.txStatus).to.be.oneOf([3, -1])
      expect(lost.replacedBy).to.equal(cancelled.txHash)
      last = cancelled.txHash
    } finally {
      await server.rpc('evm_setAutomine', true)
      await server.rpc('evm_setIntervalMining', 1)
    }
  })

  it('answers 404 if there is nothing to cancel', async () => {
    await noted(client, last)
    expect(outcome(await client.post('/evm/cancel', wallet))).to.equal('404 UNKNOWN_TRANSACTION')
    expect(outcome(await client.post('/evm/cancel', { ...wallet, nonce: (await nonce()) + 50 }))).to.equal('404 UNKNOWN_TRANSACTION')
  })

  it('answers the nonce of its own wallets only', async () => {
    expect(await nonce())
      .to.be.a('number')
      .and.to.be.at.least(0)
    expect(outcome(await client.get('/evm/nonce', { ...local, address: freshAddress() }))).to.equal('404 LOAD_WALLET')
  })
})
