import { expect } from 'chai'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { admins, atNode, local, mined, noted, outcome, sendAgain, swap, takenOut, traders } from './shared-server.ts'

describe('/network/poll of a transaction with several attempts', function () {
  this.timeout(300_000)
  let server: TestServer
  let client: Client
  let stranger: Client
  let rpc: Rpc
  const poll = async (txHash: string, as = client): Promise<Answer> => as.get('/network/poll', { ...local, txHash })
  const trade = async (fields: object = {}): Promise<Answer['body']> => {
    const answer = await client.post('/amm/trade', { ...swap, base: 'ETH', amount: '0.01', address: admins, ...fields })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }
  const speedUp = async (fields: object = {}): Promise<Answer['body']> => {
    const answer = await client.post('/evm/speedUp', { ...local, address: admins, ...fields })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }
  const journaled = async (txHash: string) => (await client.get('/transactions', { txHash })).body.transactions
  /** Makes blocks until a transaction is final. */
  const becomes = async (txHash: string, state: string, statuses: readonly number[] = [1]) => {
    let last = ''
    for (let tries = 0; tries < 400; tries++) {
      const { body } = await poll(txHash)
      expect(body.txStatus).to.be.oneOf(statuses)
      last = body.txState
      if (last === state) return body
      await rpc('evm_mine')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`${txHash} did not become ${state}: it is ${last}.`)
  }

  before(async () => {
    server = await startServer({
      settings: { 'server.requestTimeoutSeconds': 15 },
      conf: {
        'clients.yml': {
          clients: {
            client: { permissions: ['read', 'trade'], wallets: 'all' },
            stranger: { permissions: ['read'], wallets: [traders] },
          },
        },
      },
    })
    client = server.client
    rpc = rpcTo(server.rpcUrl)
    await newClient(server.settings.ssl.certsDir, 'stranger')
    stranger = createClient(server.kernel.url, server.settings.ssl.certsDir, 'stranger')
  })
  after(async () => {
    stranger?.close()
    await server?.stop()
  })
  beforeEach(async () => {
    await rpc('evm_setIntervalMining', 0)
    await rpc('evm_setAutomine', false)
  })

  it('shows the mined attempt for the hash of any attempt', async () => {
    const first = await trade()
    const second = await speedUp({ nonce: first.nonce })
    expect(second.nonce).to.equal(first.nonce)
    expect(second.txHash).not.to.equal(first.txHash)
    const pending = (await poll(first.txHash)).body
    expect(pending).to.include({ txHash: first.txHash, txStatus: 2, txBlock: -1, txReceipt: null, replacedBy: second.txHash })
    expect((await poll(second.txHash)).body)
      .to.include({ txStatus: 2 })
      .and.not.to.have.property('replacedBy')

    const [entry, ...more] = await journaled(first.txHash)
    expect(more).to.deep.equal([])
    expect(entry.attempts.map(({ txHash }: { txHash: string }) => txHash)).to.deep.equal([first.txHash, second.txHash])
    expect(entry.txHash).to.equal(second.txHash)

    await atNode(rpc, second.txHash)
    await rpc('evm_mine')
    const byFirst = (await poll(first.txHash)).body
    expect(byFirst).to.include({ txHash: first.txHash, txStatus: 1, replacedBy: second.txHash })
    // Also before the journal has seen the block.
    expect(byFirst.txState).to.be.oneOf(['MINED', 'CONFIRMED'])
    expect(byFirst.txReceipt).to.include({ status: 1, transactionHash: second.txHash })
    expect(byFirst.confirmations).to.be.above(0)
    expect(byFirst.fill).to.have.all.keys('amountIn', 'amountOut', 'price')
    expect((await poll(second.txHash)).body.fill).to.deep.equal(byFirst.fill)
    await becomes(first.txHash, 'CONFIRMED')
  })

  it('shows the first attempt if it is mined after all', async () => {
    const first = await trade()
    const second = await speedUp()
    const entry = await server.kernel.services.transactions.find('ethereum', 'local', first.txHash)
    await takenOut(rpc, second.txHash)
    await sendAgain(rpc, `0x${Buffer.from(entry?.attempts[0]?.raw ?? []).toString('hex')}`)
    await rpc('evm_mine')
    const bySecond = (await poll(second.txHash)).body
    expect(bySecond).to.include({ txHash: second.txHash, txStatus: 1, replacedBy: first.txHash })
    expect(bySecond.txState).to.be.oneOf(['MINED', 'CONFIRMED'])
    expect(bySecond.txReceipt.transactionHash).to.equal(first.txHash)
    expect((await poll(first.txHash)).body)
      .to.include({ txStatus: 1 })
      .and.not.to.have.property('replacedBy')
    expect((await becomes(second.txHash, 'CONFIRMED')).fill).to.deep.equal(bySecond.fill)
    expect(await journaled(second.txHash)).to.have.nested.property('[0].txHash', first.txHash)
  })

  it('shows other certificates only the requested hash, and not as dead while it is open', async () => {
    const first = await trade()
    const second = await speedUp()
    expect((await poll(first.txHash, stranger)).body)
      .to.include({ txStatus: 2 })
      .and.not.to.have.any.keys('replacedBy', 'txState')
    await atNode(rpc, second.txHash)
    await rpc('evm_mine')
    await becomes(first.txHash, 'CONFIRMED')
    expect((await poll(first.txHash, stranger)).body).to.include({ txStatus: -1, txReceipt: null })
    expect((await poll(second.txHash, stranger)).body).to.include({ txStatus: 1 })
  })

  it('shows a cancel, which is another transaction, until its end', async () => {
    const first = await trade()
    const { body: cancel } = await client.post('/evm/cancel', { ...local, address: admins, nonce: first.nonce })
    expect((await poll(first.txHash)).body).to.include({ txStatus: 3, replacedBy: cancel.txHash })
    await atNode(rpc, cancel.txHash)
    await rpc('evm_mine')
    await becomes(cancel.txHash, 'CONFIRMED')
    const lost = await becomes(first.txHash, 'CANCELLED', [3, -1])
    expect(lost)
      .to.include({ txStatus: -1, txState: 'CANCELLED', replacedBy: cancel.txHash, txReceipt: null })
      .and.not.to.have.property('fill')
    const [ours] = await journaled(cancel.txHash)
    expect(ours).to.include({ kind: 'cancel', txState: 'CONFIRMED', nonce: first.nonce })
  })

  it('shows why the chain reverted it', async () => {
    const { txHash } = await trade()
    // The pools' price moves before it is mined: the bound on chain refuses it.
    await rpc('evm_increaseTime', 100_000)
    await rpc('evm_mine')
    const body = await becomes(txHash, 'REVERTED')
    expect(body).to.include({ txStatus: 1 }).and.not.to.have.property('fill')
    expect(body.txReceipt.status).to.equal(0)
    expect(body.reason)
      .to.be.a('string')
      .and.to.match(/EXPIRED|too old/i)
    expect(await journaled(txHash)).to.have.nested.property('[0].reason', body.reason)
  })

  it('tells nothing of a block that was taken back, and the next one of the transaction', async () => {
    const { txHash } = await trade()
    await atNode(rpc, txHash)
    await rpc('evm_mine')
    await noted(client, txHash)
    await rpc('anvil_reorg', 1, [])
    const { body } = await poll(txHash)
    expect(body).to.include({ txState: 'BROADCAST', txBlock: -1, txReceipt: null, confirmations: 0, final: false })
    expect(body.txStatus).to.be.oneOf([2, 3])
    expect(body).not.to.have.property('fill')
    expect((await becomes(txHash, 'CONFIRMED', [1, 2, 3])).fill).to.have.all.keys('amountIn', 'amountOut', 'price')
  })

  it('answers final states from the journal while every node is down, and nothing else', async () => {
    await rpc('evm_setAutomine', true)
    const { txHash } = await trade()
    // A node that mines at once still answers before the block is made.
    await mined(client, txHash)
    const known = await becomes(txHash, 'CONFIRMED')
    await rpc('evm_setAutomine', false)
    const open = await trade()
    await server.kernel.devnet?.stop()
    const { status, body } = await poll(txHash)
    expect(status).to.equal(200)
    expect(body).to.include({ currentBlock: -1, txStatus: 1, txState: 'CONFIRMED', txBlock: known.txBlock, txData: null })
    expect(body.fill).to.deep.equal(known.fill)
    expect(body.txReceipt).to.deep.equal(known.txReceipt)
    expect(body.confirmations).to.be.above(0)
    expect(outcome(await poll(open.txHash))).to.equal('503 NETWORK')
    expect(outcome(await poll(`0x${'ab'.repeat(32)}`))).to.equal('503 NETWORK')
    expect(await journaled(open.txHash)).to.have.nested.property('[0].txHash', open.txHash)
  })
})
