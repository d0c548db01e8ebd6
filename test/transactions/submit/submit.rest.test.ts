import { expect } from 'chai'
import type { Checked } from '../../../core/contracts/index.ts'
import { mined } from '../../kits/evm/test-chain.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import {
  addressOf,
  gate,
  gwei,
  order,
  planOf,
  reaches,
  rejection,
  sendForeign,
  sign,
  soon,
  startSite,
  transactionsOn,
  nowhere,
  until,
  type TestSite,
} from '../site.ts'

describe('submitting transactions', () => {
  let site: TestSite
  let transactions: Transactions

  before(async () => {
    site = await startSite()
  })
  after(() => site.stop())
  beforeEach(async () => {
    transactions = await transactionsOn()
  })
  afterEach(() => transactions.stop(1000))

  it('gives a hundred parallel trades of one wallet a hundred consecutive nonces, and all are mined', async () => {
    const sent = await Promise.all(Array.from({ length: 100 }, () => transactions.submit(order(site), soon())))
    const first = Math.min(...sent.map(({ nonce }) => nonce))
    expect(sent.map(({ nonce }) => nonce).toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 100 }, (_, index) => first + index))
    for (const { txHash } of sent) await reaches(transactions, txHash, 'CONFIRMED')
  })

  it('takes two round trips to the node: one to check, one to send', async () => {
    await transactions.submit(order(site), soon())
    const known = site.relay.requests.length
    const { txHash } = await transactions.submit(order(site, { address: addressOf(1) }), soon())
    const made = site.relay.requests
      .slice(known)
      .filter((methods) => methods.includes('eth_estimateGas') || methods.includes('eth_sendRawTransaction'))
    expect(made).to.have.length(2)
    await reaches(transactions, txHash, 'CONFIRMED')
  })

  it('asks the node nothing when there is nothing to watch', async () => {
    const { txHash } = await transactions.submit(order(site), soon())
    await reaches(transactions, txHash, 'CONFIRMED')
    // While it watches it asks for the newest block every 50 ms; the last look may still be under way.
    await until('it asks nothing any more', async () => {
      const asked = site.relay.requests.length
      await new Promise((done) => setTimeout(done, 500))
      return site.relay.requests.length === asked
    })
  })

  it('puts the steps of a plan on consecutive nonces and answers with the last', async () => {
    const step = { to: nowhere, data: '0x', value: '1' }
    const sent = await transactions.submit(order(site, { plan: planOf(step, step, step) }), soon())
    const [first = 0] = sent.transactions.map(({ nonce }) => nonce)
    expect(sent.transactions.map(({ nonce }) => nonce)).to.deep.equal([first, first + 1, first + 2])
    expect(sent.txHash).to.equal(sent.transactions[2]?.txHash)
    for (const { txHash } of sent.transactions) await reaches(transactions, txHash, 'CONFIRMED')
  })

  it('signs no plan whose steps may use more gas together than its request allows', async () => {
    const step = { to: nowhere, data: '0x', value: '1' }
    const { scope } = order(site)
    const of = (gas: bigint) => order(site, { plan: planOf(step, step), scope: { ...scope, valueRaw: 2n, most: { steps: 2, gas } } })
    const error = await rejection(transactions.submit(of(41_999n), soon()))
    expect(error).to.include({ name: 'OUT_OF_GAS' })
    const sent = await transactions.submit(of(1_000_000n), soon())
    expect(sent.transactions).to.have.length(2)
    for (const { txHash } of sent.transactions) await reaches(transactions, txHash, 'CONFIRMED')
  })

  it('leaves no gap where signing failed between others', async () => {
    let signings = 0
    const allSign = gate()
    transactions = await transactionsOn({
      async sign(request) {
        signings += 1
        const mine = signings
        if (mine === 4) allSign.open()
        // It fails once the others have the nonces behind it.
        if (mine === 2) await allSign.pass
        if (mine === 2) throw new Error('the signer died')
        return sign(request)
      },
    })
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => transactions.submit(order(site), soon())))
    const sent = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(sent).to.have.length(3)
    for (const { txHash } of sent) await reaches(transactions, txHash, 'CONFIRMED')
    const { entries } = await transactions.list({})
    expect(entries.filter(({ state }) => state === 'EXPIRED')).to.have.length(1)
    expect(entries.filter(({ kind }) => kind === 'fill')).to.have.length(1)
  })

  it('gives the nonce of a failed signing to the next request', async () => {
    let broken = true
    transactions = await transactionsOn({ sign: (request) => (broken ? Promise.reject(new Error('the signer died')) : sign(request)) })
    const nonce = await transactions.nextNonce({ network: site.network, address: addressOf(0) }, soon())
    expect((await rejection(transactions.submit(order(site), soon()))).message).to.equal('the signer died')
    broken = false
    expect((await transactions.submit(order(site), soon())).nonce).to.equal(nonce)
  })

  it('sends nothing when the time runs out before signing', async () => {
    const ending = new AbortController()
    transactions = await transactionsOn({
      sign(request) {
        ending.abort()
        return sign(request)
      },
    })
    const sends = site.relay.requests.flat().filter((method) => method === 'eth_sendRawTransaction').length
    expect(await rejection(transactions.submit(order(site), ending.signal))).to.include({ name: 'TIMEOUT' })
    const { entries } = await transactions.list({})
    expect(entries.map(({ state }) => state)).to.deep.equal(['EXPIRED'])
    expect(site.relay.requests.flat().filter((method) => method === 'eth_sendRawTransaction')).to.have.length(sends)
  })

  it('continues a transaction whose caller timed out during the broadcast', async () => {
    const ending = new AbortController()
    site.relay.meddle = (methods) => {
      if (methods.includes('eth_sendRawTransaction')) ending.abort()
      return 'pass'
    }
    const error = await rejection(transactions.submit(order(site), ending.signal))
    await site.heal()
    expect(error).to.include({ name: 'TIMEOUT' })
    const [entry] = (await transactions.list({})).entries
    expect(error.details).to.deep.equal({ txHash: entry?.attempts[0]?.id })
    await reaches(transactions, entry?.attempts[0]?.id ?? '', 'CONFIRMED')
  })

  it('answers with the hash if the connection breaks after the node has the transaction, and finishes it', async () => {
    site.relay.meddle = (methods) => (methods.includes('eth_sendRawTransaction') ? 'cut-after' : 'pass')
    const { txHash } = await transactions.submit(order(site), soon())
    await site.heal()
    await reaches(transactions, txHash, 'CONFIRMED')
  })

  it('sends a transaction again that never reached a node', async () => {
    site.relay.meddle = (methods) => (methods.includes('eth_sendRawTransaction') ? 'refuse' : 'pass')
    const { txHash } = await transactions.submit(order(site), soon())
    const entry = await transactions.find('ethereum', 'local', txHash)
    expect(entry && transactions.status(entry)).to.equal(0)
    await site.heal()
    await site.mine()
    await until('it is sent again and mined', async () => {
      await site.mine()
      return (await transactions.find('ethereum', 'local', txHash))?.state === 'CONFIRMED'
    })
  })

  it('uses the nonces after those of another program', async () => {
    const before = await transactions.submit(order(site), soon())
    await reaches(transactions, before.txHash, 'CONFIRMED')
    await sendForeign(site, before.nonce + 1, { maxFeePerGas: 10n * gwei, maxPriorityFeePerGas: gwei })
    const after = await transactions.submit(order(site), soon())
    expect(after.nonce).to.equal(before.nonce + 2)
    await reaches(transactions, after.txHash, 'CONFIRMED')
  })

  it("skips the node's check if the cached one is valid, and asks again if another program has used the wallet", async () => {
    const address = addressOf(2)
    const one = order(site, { address })
    const sent = await transactions.submit(one, soon())
    await reaches(transactions, sent.txHash, 'CONFIRMED')
    const recalled = await site.chain.rail.check(one.plan.steps, [], address, { feeOverrides: {} }, { signal: soon() })
    const checks = async (checked: Checked) => {
      site.relay.requests.length = 0
      const { txHash } = await transactions.submit(order(site, { address, checkFromCache: () => checked }), soon())
      const asked = site.relay.requests.flat().filter((method) => method === 'eth_estimateGas').length
      await reaches(transactions, txHash, 'CONFIRMED')
      return asked
    }
    expect(await checks(recalled)).to.equal(0)
    expect(await checks(recalled), 'from before what is final').to.equal(1)
    await mined(site, await site.rpc('eth_sendTransaction', { from: address, to: nowhere, value: '0x1' }))
    const newer = await site.chain.rail.check(one.plan.steps, [], address, { feeOverrides: {} }, { signal: soon() })
    expect(await checks(newer)).to.equal(1)
  })

  it('refuses requests above the limit of a wallet without delaying other wallets', async () => {
    const { pass, open } = gate()
    transactions = await transactionsOn({
      walletQueue: 2,
      async sign(request) {
        if (request.address === addressOf(0)) await pass
        return sign(request)
      },
    })
    const held = [transactions.submit(order(site), soon()), transactions.submit(order(site), soon())]
    expect(await rejection(transactions.submit(order(site), soon()))).to.include({ name: 'OVERLOADED', retryAfterSeconds: 1 })
    const other = await transactions.submit(order(site, { address: addressOf(2) }), soon())
    await reaches(transactions, other.txHash, 'CONFIRMED')
    open()
    await Promise.all(held)
  })

  it('accepts nothing new while it is stopping', async () => {
    await transactions.stop(0)
    expect(await rejection(transactions.submit(order(site), soon()))).to.include({ name: 'OVERLOADED' })
  })
})
