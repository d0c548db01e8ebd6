import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import type { Caller } from '../../core/handlers/context.ts'
import type { CallOptions, Dispatch } from '../../core/handlers/dispatch.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { admins, local, sharedServer, swap, traders, type SharedServer } from './shared-server.ts'

/** As conf/clients.yml of the shared server has them. */
const client: Caller = { id: 'client', fingerprint: 'c', permissions: new Set(['read', 'trade', 'send', 'admin']), wallets: 'all' }
const trader: Caller = {
  id: 'trader',
  fingerprint: 't',
  permissions: new Set(['read', 'trade']),
  wallets: new Set([traders.toLowerCase()]),
}
const reader: Caller = { id: 'reader', fingerprint: 'r', permissions: new Set(['read']), wallets: new Set() }

const by = (caller: Caller, more: Partial<CallOptions> = {}): CallOptions => ({ caller, client: caller, requestId: 'dispatched', ...more })

let count = 0
const newKey = () => `dispatch-${process.pid}-${(count += 1)}`

const refusal = async (call: Promise<unknown>): Promise<SluiceError> => {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof SluiceError)) throw new Error(`not refused by a SluiceError: ${String(thrown)}`)
  return thrown
}

describe('an endpoint that is called without HTTP', () => {
  let server: SharedServer
  let http: Client
  let dispatch: Dispatch
  before(async () => {
    server = await sharedServer()
    http = server.client
    dispatch = server.kernel.dispatch
  })
  const nonce = async () => (await dispatch.call('EVMNonce', { ...local, address: admins }, by(client))).nonce

  it('signs nothing for a certificate that was revoked since its request began, or may not do it any more', async () => {
    const fields = { ...local, address: traders, amount: '0.01' }
    expect((await dispatch.call('EVMWrap', fields, by(trader))).txHash).to.be.a('string')
    for (const id of ['revoked', reader.id]) {
      const refused = await refusal(dispatch.call('EVMWrap', fields, by({ ...trader, id })))
      expect(refused.name).to.equal('FORBIDDEN')
      expect(refused.message).to.contain(`"${id}" lacks the permission trade by now: nothing was signed`)
    }
  })

  it('reads fields that come again as they are then, frozen or not, and checks them each time that they may have changed', async () => {
    const { amount: _, ...pair } = swap
    const amountOf = async (fields: typeof pair & { amount: string }) => (await dispatch.call('AMMPrice', fields, by(reader))).amount
    const frozen = Object.freeze({ ...pair, amount: '0.5' })
    for (let round = 0; round < 3; round++) expect(Number(await amountOf(frozen))).to.equal(0.5)
    const other = { ...pair, amount: '0.5' }
    for (const amount of ['0.5', '0.25', '0.75']) expect(Number(await amountOf(Object.assign(other, { amount })))).to.equal(Number(amount))
    const amounts = ['0.5']
    const listed = Object.freeze({ ...pair, amounts })
    for (const amount of ['0.5', '0.25']) {
      amounts[0] = amount
      const { quotes } = await dispatch.call('AMMPrice', listed, by(reader))
      expect(quotes?.[0]).to.deep.include({ amount: `${amount}${'0'.repeat(20 - amount.length)}` })
    }
    const wrong = Object.freeze({ ...swap, amount: 'much' })
    for (let round = 0; round < 2; round++)
      expect((await refusal(dispatch.call('AMMPrice', wrong, by(reader)))).name).to.equal('INCOMPLETE_PARAMS')
  })

  it('answers with what HTTP answers with, typed by its name', async () => {
    const [called, status] = [await dispatch.call('AMMPrice', swap, by(reader)), await dispatch.call('Status', {}, by(reader))]
    const { body } = await http.get('/amm/price', swap)
    const price: string = called.price
    expect(price).to.equal(body.price)
    expect(Object.keys(called)).to.deep.equal(Object.keys(body))
    expect(status).to.have.all.keys((await http.get('/')).body)
  })

  for (const { what, name, fields, as, path } of [
    { what: 'a field that is wrong', name: 'AMMPrice', fields: { ...swap, amount: 'much' }, as: client, path: '/amm/price' },
    { what: 'a missing permission', name: 'AMMTrade', fields: { ...swap, address: traders }, as: reader, path: '/amm/trade' },
    { what: 'a wallet of others', name: 'AMMTrade', fields: { ...swap, address: admins }, as: trader, path: '/amm/trade' },
    { what: 'an unknown connector', name: 'AMMPrice', fields: { ...swap, connector: 'nobody' }, as: client, path: '/amm/price' },
  ] as const)
    it(`refuses ${what} with the error of HTTP`, async () => {
      const { name: errorName, code, http: status, message, details } = await refusal(dispatch.call(name, fields, by(as)))
      const answers: Record<string, Client> = { ...server.as, client: http }
      const answer = await answers[as.id]?.post(path, fields)
      const body = { ...answer?.body }
      delete body.requestId
      expect({ name: errorName, errorCode: code, httpErrorCode: status, message, ...(details !== undefined && { details }) }).to.deep.equal(
        body,
      )
    })

  it('makes one transaction with one key, called first, over HTTP first, or at once', async () => {
    const trade = { ...swap, base: 'ETH', amount: '0.01', address: admins }
    const called = (key: string) => dispatch.call('AMMTrade', trade, by(client, { key }))
    const requested = (key: string): Promise<Answer> => http.post('/amm/trade', trade, { headers: { 'idempotency-key': key } })
    const [one, two, three, before] = [newKey(), newKey(), newKey(), await nonce()]

    expect(await called(one)).to.deep.equal((await requested(one)).body)
    const { body } = await requested(two)
    expect(await called(two)).to.deep.equal(body)
    expect(await nonce()).to.equal(before + 2)

    const [overHttp, direct] = await Promise.allSettled([requested(three), called(three)])
    if (direct.status === 'rejected') expect(direct.reason).to.include({ name: 'IN_FLIGHT' })
    if (overHttp.status === 'rejected') throw overHttp.reason
    expect([200, 409]).to.include(overHttp.value.status)
    expect((await requested(three)).body).to.deep.equal(await called(three))
    expect(await nonce()).to.equal(before + 3)
  })

  it('refuses a key with another request, and a key that no header could be', async () => {
    const trade = { ...swap, base: 'ETH', amount: '0.01', address: admins }
    const key = newKey()
    await http.post('/amm/trade', trade, { headers: { 'idempotency-key': key } })
    expect(await refusal(dispatch.call('AMMTrade', { ...trade, amount: '0.02' }, by(client, { key })))).to.include({
      name: 'IDEMPOTENCY_CONFLICT',
    })
    expect(await refusal(dispatch.call('AMMTrade', trade, by(client, { key: '' })))).to.include({ name: 'INCOMPLETE_PARAMS' })
  })

  it('does nothing for a caller who has ended the call', async () => {
    const before = await nonce()
    const ended = dispatch.call('AMMTrade', { ...swap, address: admins }, by(client, { signal: AbortSignal.abort() }))
    expect(await refusal(ended)).to.include({ name: 'TIMEOUT' })
    expect(await nonce()).to.equal(before)
  })

  it('enters the journal under the request id that the caller gives', async () => {
    const { txHash } = await dispatch.call(
      'AMMTrade',
      { ...swap, base: 'ETH', amount: '0.01', address: admins },
      by(client, { requestId: newKey() }),
    )
    const { transactions } = await dispatch.call('Transactions', { requestId: `dispatch-${process.pid}-${count}` }, by(client))
    expect(transactions.map((each) => each.txHash)).to.deep.equal([txHash])
  })
})
