import { expect } from 'chai'
import type { Answer, Client } from '../../testkit/client.ts'
import {
  admins,
  atNode,
  freshAddress,
  local,
  mined,
  noted,
  outcome,
  sharedServer,
  swap,
  traders,
  type SharedServer,
} from './shared-server.ts'

describe('/evm/speedUp', () => {
  let server: SharedServer
  let client: Client
  const wallet = { ...local, address: traders }
  const speedUp = (fields: object = {}, key?: string, as = client): Promise<Answer> =>
    as.post('/evm/speedUp', { ...wallet, ...fields }, key === undefined ? {} : { headers: { 'idempotency-key': key } })
  const trade = async (): Promise<Answer['body']> => {
    const answer = await client.post('/amm/trade', { ...swap, base: 'ETH', amount: '0.01', address: traders })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }
  /** A block that has them. */
  const mine = async (...hashes: readonly string[]): Promise<void> => {
    for (const txHash of hashes) await atNode(server.rpc, txHash)
    await server.rpc('evm_mine')
  }
  const attempts = async (txHash: string): Promise<string[]> =>
    (await client.get('/transactions', { txHash })).body.transactions[0].attempts.map((each: { txHash: string }) => each.txHash)

  before(async () => {
    server = await sharedServer()
    client = server.client
    const { txHash } = await trade()
    await noted(client, txHash)
  })
  beforeEach(async () => {
    await server.rpc('evm_setIntervalMining', 0)
    await server.rpc('evm_setAutomine', false)
  })
  afterEach(async () => {
    await server.rpc('evm_setAutomine', true)
    await server.rpc('evm_setIntervalMining', 1)
  })

  it('raises the fees of the lowest pending transaction, or of the one with the given nonce', async () => {
    const [lower, higher] = [await trade(), await trade()]
    const { body } = await speedUp()
    expect(body).to.have.all.keys('txHash', 'nonce', 'network', 'timestamp', 'latency')
    expect(body.nonce).to.equal(lower.nonce)
    expect(await attempts(lower.txHash)).to.deep.equal([lower.txHash, body.txHash])
    const second = await speedUp({ nonce: higher.nonce, maxFeePerGas: '40', maxPriorityFeePerGas: 3 })
    expect(await attempts(higher.txHash)).to.deep.equal([higher.txHash, second.body.txHash])
    const { txData } = (await client.get('/network/poll', { ...local, txHash: second.body.txHash })).body
    expect([BigInt(txData.maxFeePerGas), BigInt(txData.maxPriorityFeePerGas)]).to.deep.equal([40n * 10n ** 9n, 3n * 10n ** 9n])
    await mine(body.txHash, second.body.txHash)
    for (const txHash of [lower.txHash, higher.txHash]) {
      expect((await mined(client, txHash)).body.txReceipt.status).to.equal(1)
      // What is the lowest that waits is the journal's to say.
      await noted(client, txHash)
    }
  })

  it('does so once for one Idempotency-Key', async () => {
    const pending = await trade()
    const key = `speed-up-${process.pid}-${Date.now()}`
    const first = await speedUp({}, key)
    const again = await speedUp({}, key)
    expect(again.text).to.equal(first.text)
    expect(await attempts(pending.txHash)).to.deep.equal([pending.txHash, first.body.txHash])
    expect(outcome(await speedUp({ nonce: pending.nonce }, key))).to.equal('422 IDEMPOTENCY_CONFLICT')
    await mine(first.body.txHash)
    await noted(client, pending.txHash)
  })

  it('names the minimum replacement fee, and refuses fees above the cap', async () => {
    const pending = await trade()
    const low = await speedUp({ nonce: pending.nonce, maxFeePerGas: '0.5', maxPriorityFeePerGas: '0.1' })
    expect(low.status, low.text).to.be.oneOf([409, 422])
    expect(low.body.message).to.match(/maxFeePerGas \d/)
    expect(outcome(await speedUp({ maxFeePerGas: '100000' }))).to.equal('400 INCOMPLETE_PARAMS')
    expect(await attempts(pending.txHash)).to.deep.equal([pending.txHash])
    await mine(pending.txHash)
    await noted(client, pending.txHash)
  })

  it('answers 404 if nothing is pending', async () => {
    expect(outcome(await speedUp())).to.equal('404 UNKNOWN_TRANSACTION')
    const { nonce } = (await client.get('/evm/nonce', wallet)).body
    expect(outcome(await speedUp({ nonce }))).to.equal('404 UNKNOWN_TRANSACTION')
    expect(outcome(await speedUp({ nonce: nonce - 1 }))).to.be.oneOf(['409 INVALID_NONCE', '404 UNKNOWN_TRANSACTION'])
    expect(outcome(await speedUp({ address: freshAddress() }))).to.equal('404 LOAD_WALLET')
  })

  it('requires trade and the wallet', async () => {
    expect(outcome(await speedUp({}, undefined, server.as.reader))).to.equal('403 FORBIDDEN')
    expect(outcome(await speedUp({ address: admins }, undefined, server.as.trader))).to.equal('403 FORBIDDEN')
    expect(outcome(await speedUp({}, undefined, server.as.trader))).to.equal('404 UNKNOWN_TRANSACTION')
  })
})
