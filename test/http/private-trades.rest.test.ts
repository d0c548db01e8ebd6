import { expect } from 'chai'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { until } from '../wallet/processes.ts'
import { startPrivateRelay, type PrivateRelay } from '../transactions/private-relay.ts'
import { admins, local, outcome, sharedServer, uniswap } from './shared-server.ts'

const sale = { base: 'ETH', quote: 'USDC', amount: '0.01', side: 'SELL', address: admins, privateOnly: true }

describe('a private trade', () => {
  let server: TestServer
  let relay: PrivateRelay
  before(async function () {
    this.timeout(300_000)
    const blocksComeByThemselves = async () => undefined
    relay = await startPrivateRelay(blocksComeByThemselves)
    // What it holds is looked at: a cancel is one like any other.
    relay.ways.withdraws = false
    const settings = { local: { required: true, pollingSeconds: 0.05, privateUrls: [relay.url] } }
    server = await startServer({ conf: { 'chains/ethereum.yml': settings } })
  })
  after(async () => {
    await server?.stop()
    await relay?.stop()
  })

  for (const [what, fields] of [
    ['one connector', { ...uniswap }],
    ['the best of all', { ...local, connector: 'any', connectors: ['uniswap', 'sushiswap'] }],
  ] as const)
    it(`goes to the relay alone with ${what}, and the journal says so`, async () => {
      const { client } = server
      const answer = await client.post('/amm/trade', { ...sale, ...fields, base: 'ETH' })
      expect(outcome(answer), answer.text).to.equal('200')
      const { txHash, nonce } = answer.body
      expect(relay.held().map(({ hash }) => hash)).to.include(txHash)
      const { body } = await client.get('/transactions', { ...local, txHash })
      expect(body.transactions[0]).to.include({ privateOnly: true, txState: 'BROADCAST', txStatus: 2 })
      const poll = await client.get('/network/poll', { ...local, txHash })
      expect(poll.body.txStatus, poll.text).to.equal(2)
      // A cancel goes the same way.
      const cancel = await client.post('/evm/cancel', { ...local, address: admins, nonce })
      expect(outcome(cancel), cancel.text).to.equal('200')
      await until(() => relay.held().some(({ hash }) => hash === cancel.body.txHash))
      expect(relay.held().map(({ hash }) => hash)).to.not.include(txHash)
    })

  it('belongs to the request that an Idempotency-Key stands for', async () => {
    const { client } = server
    const headers = { 'Idempotency-Key': 'private' }
    const first = await client.post('/amm/trade', { ...sale, ...uniswap }, { headers })
    expect(outcome(first), first.text).to.equal('200')
    const again = await client.post('/amm/trade', { ...sale, ...uniswap }, { headers })
    expect([outcome(again), again.body.txHash]).to.deep.equal(['200', first.body.txHash])
    const { privateOnly: _, ...open } = sale
    expect(outcome(await client.post('/amm/trade', { ...open, ...uniswap }, { headers }))).to.equal('422 IDEMPOTENCY_CONFLICT')
  })

  it('answers with its hash where the relay refuses it, because it may be mined all the same', async () => {
    const { client } = server
    relay.ways.trouble = 'refuses'
    const answer = await client.post('/amm/trade', { ...sale, ...uniswap })
    expect(outcome(answer), answer.text).to.equal('200')
    const { body } = await client.get('/transactions', { ...local, txHash: answer.body.txHash })
    // From then on it takes what it is sent again.
    relay.ways.trouble = undefined
    expect(body.transactions[0]).to.include({ privateOnly: true, txStatus: 0 })
    await until(() => relay.held().some(({ hash }) => hash === answer.body.txHash))
  })

  it('fails where the network has no relay, before anything is signed', async () => {
    const { client } = await sharedServer()
    const answer = await client.post('/amm/trade', { ...sale, ...uniswap })
    expect(outcome(answer), answer.text).to.equal('501 UNSUPPORTED')
    expect(answer.text).to.contain('privateUrls')
    expect(outcome(await client.post('/amm/trade', { ...sale, ...uniswap, privateOnly: 'yes' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('needs a relay that is none of the public nodes', async () => {
    const conf = (urls: object) => ({
      'chains/ethereum.yml': { mainnet: { rpcUrls: ['https://node.example/v1'], ...urls }, local: { required: true } },
    })
    const started = await startServer({ conf: conf({ privateUrls: ['https://node.example/v1'] }) })
    try {
      const { status, text } = await started.client.get('/network/status', { chain: 'ethereum', network: 'mainnet' })
      expect(status, text).to.not.equal(200)
      expect(text).to.match(/privateUrls/)
      expect(text).to.not.contain('node.example/v1')
    } finally {
      await started.stop()
    }
  })
})
