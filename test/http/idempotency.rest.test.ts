import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import { admins, local, outcome, sharedServer, swap, traders, type SharedServer } from './shared-server.ts'

let count = 0
const newKey = () => `key-${process.pid}-${(count += 1)}`

describe('Idempotency-Key', () => {
  let server: SharedServer
  let client: Client
  const order = { ...swap, base: 'ETH', amount: '0.01', address: admins }
  const trade = (key: string, fields: object = {}, as = client) =>
    as.post('/amm/trade', { ...order, ...fields }, { headers: { 'idempotency-key': key } })
  const nonce = async (): Promise<number> => (await client.get('/evm/nonce', { ...local, address: admins })).body.nonce
  before(async () => {
    server = await sharedServer()
    client = server.client
  })

  it('returns the first answer again to the same request, and has one effect', async () => {
    const [key, before] = [newKey(), await nonce()]
    const first = await trade(key)
    const again = await trade(key)
    expect(first.status, first.text).to.equal(200)
    expect(again.text).to.equal(first.text)
    expect(await nonce()).to.equal(before + 1)
  })

  it('accepts the same request with fields in another order, and with an absent field as null', async () => {
    const key = newKey()
    const first = await trade(key)
    const turned = Object.fromEntries(Object.entries({ ...order, limitPrice: null }).toReversed())
    const again = await client.post('/amm/trade', turned, { headers: { 'idempotency-key': key } })
    expect(again.text).to.equal(first.text)
  })

  it('answers 1022 to the key with another request', async () => {
    const key = newKey()
    await trade(key)
    const other = await trade(key, { amount: '0.02' })
    expect([outcome(other), other.body.errorCode]).to.deep.equal(['422 IDEMPOTENCY_CONFLICT', 1022])
  })

  it('accepts one of several at once and answers 1028 to the others, with Retry-After', async () => {
    const [key, before] = [newKey(), await nonce()]
    // Their connections are there, so that none comes when the first is done.
    await Promise.all(Array.from({ length: 6 }, () => client.get('/')))
    // About a nonce that is named the node is asked, which takes its time.
    const named = { nonce: before }
    const answers = await Promise.all(Array.from({ length: 6 }, () => trade(key, named)))
    const done = answers.filter(({ status }) => status === 200)
    const waiting = answers.filter(({ status }) => status === 409)
    expect(new Set(done.map(({ text }) => text)).size).to.equal(1)
    expect(done.length + waiting.length).to.equal(6)
    expect(waiting.length).to.be.above(0)
    for (const { body, headers } of waiting) {
      expect([body.name, body.errorCode]).to.deep.equal(['IN_FLIGHT', 1028])
      expect(Number(headers['retry-after'])).to.be.at.least(1)
    }
    expect(await nonce()).to.equal(before + 1)
    expect((await trade(key, named)).text).to.equal(done[0]?.text)
  })

  it('does not record a refusal from before anything was journaled', async () => {
    const key = newKey()
    expect(outcome(await trade(key, { side: 'SELL', limitPrice: '1000000' }))).to.equal('422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
    expect(outcome(await trade(key, { amount: '0' }))).to.equal('400 INCOMPLETE_PARAMS')
    expect(outcome(await trade(key))).to.equal('200')
  })

  it('separates the keys of certificates and of paths', async () => {
    const key = newKey()
    const first = await trade(key)
    const others = await trade(key, { address: traders }, server.as.trader)
    const approved = await client.post(
      '/evm/approve',
      { ...local, address: admins, spender: 'uniswap', token: 'DAI', amount: '0' },
      { headers: { 'idempotency-key': key } },
    )
    expect([first, others, approved].map(outcome)).to.deep.equal(['200', '200', '200'])
    expect(new Set([first, others, approved].map(({ body }) => body.txHash)).size).to.equal(3)
  })

  for (const key of ['', ' ', 'two words', 'x'.repeat(256), 'schlüssel', '\t']) {
    it(`refuses the key ${JSON.stringify(key).slice(0, 30)}`, async () => {
      const before = await nonce()
      const answer = await trade(key)
      expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.equal('Idempotency-Key')
      expect(await nonce()).to.equal(before)
    })
  }

  it('accepts a key of 255 characters', async () => {
    expect(outcome(await trade(`${newKey()}${'~'.repeat(255)}`.slice(0, 255)))).to.equal('200')
  })
})
