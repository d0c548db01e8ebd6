import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import {
  atNode,
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

describe('/evm', function () {
  this.timeout(300_000)
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

  it('approves by the name of an exchange what swaps of all versions need, and nothing else', async () => {
    const next = await nonce()
    const spenderOf = async (name: string) => (await allowances(name, 'DAI')).spender
    const router = await spenderOf('uniswap/v4')
    const asked = { spender: 'uniswap', token: 'DAI', amount: '7000' }

    const { body: dry } = await approve({ ...asked, dryRun: true })
    expect(dry).to.include({ transactionCount: 2, nonce: next + 1, txHash: '', spender: router, gasPriceToken: 'ETH' })
    expect(dry.gasLimit).to.be.within(80_000, 200_000)
    expect(Number(dry.gasCost)).to.be.above(0)
    expect(dry.transactions).to.deep.equal([next, next + 1].map((each) => ({ spender: router, nonce: each, txHash: '' })))
    expect(await nonce(), 'nothing is signed').to.equal(next)

    const { body } = await approve({ ...asked, nonce: next })
    // The router of v4 takes routes of all versions, by Permit2, which the token allows first.
    expect(body.transactions.map((each: { spender: string; nonce: number }) => [each.spender, each.nonce])).to.deep.equal([
      [router, next],
      [router, next + 1],
    ])
    expect(body).to.include({ transactionCount: 2, gasLimit: dry.gasLimit })
    for (const { txHash } of body.transactions) expect((await mined(client, txHash)).body.txReceipt.status).to.equal(1)
    const [all, none] = [{ DAI: `7000.${'0'.repeat(18)}` }, { DAI: `0.${'0'.repeat(18)}` }]
    const others = await Promise.all(['v2', 'v3', 'positions', 'v4Positions'].map((each) => spenderOf(`uniswap/${each}`)))
    const shown = await allowances('uniswap', 'DAI')
    expect(shown).to.include({ spender: router }).and.to.deep.include({ approvals: all })
    expect(shown.spenders).to.deep.equal({ [router]: all, ...Object.fromEntries(others.map((each) => [each, none])) })
  })

  it('trades by every version with what the name of the exchange approves', async () => {
    const trade = (fields: object) => client.post('/amm/trade', { ...wallet, connector: 'uniswap', base: 'DAI', amount: '10', ...fields })
    const versions = [undefined, 'v2', 'v3', 'v4']
    for (const version of versions)
      for (const [fields, side] of [
        [{ base: 'DAI', quote: 'USDC' }, 'SELL'],
        [{ base: 'DAI', quote: 'ETH' }, 'SELL'],
        [{ base: 'WETH', quote: 'DAI', amount: '0.001' }, 'BUY'],
      ] as const) {
        const answer = await trade({ ...fields, side, ...(version !== undefined && { version }) })
        const what = `${side} ${fields.base} ${fields.quote} ${version}: ${answer.text}`
        // Exactly what is asked for is bought of pairs by their own router alone, which the name does not approve.
        if (version === 'v2' && side === 'BUY') {
          expect(outcome(answer), what).to.equal('422 INSUFFICIENT_ALLOWANCE')
          continue
        }
        expect(outcome(answer), what).to.equal('200')
        const { fill, txReceipt } = (await mined(client, answer.body.txHash)).body
        expect(txReceipt.status, what).to.equal(1)
        expect(side === 'SELL' ? fill.amountOut : fill.amountIn, what).to.equal(answer.body.expectedAmount)
        expect(side === 'SELL' ? fill.amountIn : fill.amountOut, what).to.equal(answer.body.amount)
      }
    const { body } = await client.get('/amm/price', {
      ...wallet,
      connector: 'uniswap',
      base: 'DAI',
      quote: 'USDC',
      amount: '10',
      side: 'SELL',
    })
    expect(body.allowance).to.deep.equal({ spender: (await allowances('uniswap', 'DAI')).spender, sufficient: true })
    const best = { ...wallet, connector: 'any', connectors: ['uniswap'], base: 'DAI', quote: 'USDC', amount: '10', side: 'SELL' }
    const answer = await client.post('/amm/trade', best)
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(client, answer.body.txHash)
  })

  it('trades by the routers that a wallet approved before, each by its own version, or by one that takes the route of another', async () => {
    const swap = { ...wallet, connector: 'uniswap', amount: '10', base: 'DAI', quote: 'USDC', side: 'SELL' }
    const buy = { base: 'WETH', quote: 'DAI', amount: '0.001', side: 'BUY' }
    const approveAll = async (spender: string, amount?: string) => {
      const { body, text, status } = await approve({ spender, token: 'DAI', amount })
      expect(status, text).to.equal(200)
      await mined(client, body.txHash)
    }
    // What the name takes back is all that it ever gave.
    await approveAll('uniswap', '0')
    const { spenders } = await allowances('uniswap', 'DAI')
    expect(Object.values(spenders).map((each) => (each as { DAI: string }).DAI)).to.deep.equal(
      Array.from({ length: 5 }, () => `0.${'0'.repeat(18)}`),
    )
    expect(outcome(await client.post('/amm/trade', { ...swap, version: 'v2' }))).to.equal('422 INSUFFICIENT_ALLOWANCE')

    const router = async (name: string) => (await allowances(name, 'DAI')).spender
    const [v2, v3] = [await router('uniswap/v2'), await router('uniswap/v3')]
    for (const [approved, routers] of [
      ['uniswap/v3', { v2: v3, v3 }],
      ['uniswap/v2', { v2, v3 }],
    ] as const) {
      await approveAll(approved)
      for (const version of ['v2', 'v3'] as const)
        for (const fields of approved === 'uniswap/v3' && version === 'v2' ? [{}] : [{}, buy]) {
          const answer = await client.post('/amm/trade', { ...swap, ...fields, version })
          expect(outcome(answer), answer.text).to.equal('200')
          const { fill, txReceipt } = (await mined(client, answer.body.txHash)).body
          expect(txReceipt.status).to.equal(1)
          expect([fill.amountIn, fill.amountOut]).to.have.members([answer.body.amount, answer.body.expectedAmount])
          if (approved === 'uniswap/v3') expect(txReceipt.to.toLowerCase()).to.equal(routers[version].toLowerCase())
        }
    }
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

  it('approves by any what swaps of every connector need, and of that only what is not there', async () => {
    const of = { ...local, address: traders, token: 'DAI' }
    const send = (fields: object) => client.post('/evm/approve', { ...of, spender: 'any', ...fields })
    const wait = async (body: { txHash: string; transactions?: { txHash: string }[] }) => {
      for (const { txHash } of body.transactions ?? [body]) await mined(client, txHash)
    }
    const shown = async (spender: string) =>
      (await client.get('/evm/allowances', { ...local, address: traders, spender, tokenSymbols: 'DAI' })).body
    const connectors = ['uniswap', 'sushiswap', 'pancakeswap', 'balancer', 'curve']
    const own = await Promise.all(connectors.map(async (name) => (await shown(name)).spender))
    await wait((await client.post('/evm/approve', { ...of, spender: 'sushiswap', amount: '5' })).body)

    const { body, text } = await send({ amount: '5' })
    const spenders: string[] = body.transactions.map(({ spender }: { spender: string }) => spender)
    expect(
      own.filter((each) => !spenders.includes(each)),
      text,
    ).to.deep.equal([(await shown('sushiswap')).spender])
    await wait(body)
    for (const name of [...connectors, 'any']) expect(Number((await shown(name)).approvals.DAI), name).to.equal(5)
    const again = await send({ amount: '5', dryRun: true })
    expect(again.body).to.include({ transactionCount: 1 })

    await wait((await send({ amount: '0' })).body)
    for (const name of connectors) expect(Number((await shown(name)).approvals.DAI), name).to.equal(0)
    expect(outcome(await send({ spender: 'any/v2' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('changes by any what a spender was granted by Permit2 also where the token allows Permit2 less', async () => {
    const { address: permit2 } = server.kernel.services.registry.venue('uniswap', local.chain, local.network).impl.permit2 ?? {
      address: '',
    }
    const send = async (fields: object) => {
      const { body, text } = await approve({ token: 'WBTC', ...fields })
      expect(body, text).to.include.keys('txHash')
      for (const { txHash } of body.transactions ?? [body]) await mined(client, txHash)
    }
    /** What the router may take once the token allows Permit2 plenty. */
    const granted = async () => {
      await send({ spender: permit2, amount: '100' })
      const { approvals, expiries, spender } = await allowances('uniswap/v4', 'WBTC')
      return { amount: Number(approvals.WBTC), expires: expiries[spender].WBTC }
    }
    await send({ spender: 'uniswap/v4', amount: '7' })
    await send({ spender: permit2, amount: '0' })
    await send({ spender: 'any', amount: '0' })
    expect((await granted()).amount, 'revoked').to.equal(0)

    await send({ spender: 'uniswap/v4' })
    await send({ spender: permit2, amount: '5' })
    await send({ spender: 'any', amount: '5' })
    expect((await granted()).amount, 'as much as was asked for').to.equal(5)

    const expires = Math.floor(Date.now() / 1000) + 3600
    await send({ spender: 'any', amount: '5', expires })
    expect(await granted(), 'for as long as was asked for').to.deep.equal({ amount: 5, expires })
    await send({ spender: 'any', amount: '0' })
  })

  it('accepts a spender as connector, connector/version or address', async () => {
    const byName = await allowances('uniswap', 'USDC', 'ETH')
    expect(await allowances('uniswap/v4', 'USDC')).to.include({ spender: byName.spender })
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
      await atNode(server.rpc, cancelled.txHash)
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
