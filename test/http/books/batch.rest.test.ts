import { expect } from 'chai'
import type { Answer, Client } from '../../../testkit/client.ts'
import { local, mined, others, outcome, sharedServer } from '../shared-server.ts'

const oasis = { ...local, connector: 'oasis' } as const
const bad = '400 INCOMPLETE_PARAMS'
const bid = (fields: object = {}) => ({ market: 'WETH-USDC', side: 'BUY', orderType: 'LIMIT', price: '900', amount: '0.01', ...fields })

interface Entry {
  clientOrderId?: string
  orderId?: string
  state?: string
  error?: { name: string; errorCode: number; details?: unknown }
}

/** A state, or the name of the error. */
const saidOf = ({ state, error }: Entry): string => state ?? error?.name ?? 'nothing'

describe('/clob/batchOrders', function () {
  this.timeout(300_000)
  let client: Client
  let made = 0
  const newId = () => `batch-${process.pid}-${Date.now()}-${made++}`
  const batch = (fields: object, headers = {}): Promise<Answer> =>
    client.post('/clob/batchOrders', { ...oasis, address: others, ...fields }, { headers })
  const nonce = async (): Promise<number> => (await client.get('/evm/nonce', { ...local, address: others })).body.nonce
  const stateOf = async (clientOrderId: string): Promise<string> =>
    (await client.get('/clob/orders', { ...oasis, address: others, clientOrderId })).body.orders[0].state
  async function until(clientOrderId: string, state: string): Promise<void> {
    for (const end = Date.now() + 180_000; (await stateOf(clientOrderId)) !== state;) {
      if (Date.now() > end) throw new Error(`${clientOrderId} is ${await stateOf(clientOrderId)}, not ${state}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  before(async () => {
    client = (await sharedServer()).client
    for (const token of ['WETH', 'USDC']) {
      const { body } = await client.post('/evm/approve', { ...local, address: others, spender: 'oasis', token })
      await mined(client, body.txHash)
    }
  })

  it('gives every entry its own result, and places the valid ones', async () => {
    const [one, two, gone] = [newId(), newId(), newId()]
    const before = await nonce()
    const { body, status, text } = await batch({
      create: [
        bid({ clientOrderId: one }),
        bid({ price: 'high' }),
        bid({ market: 'WETH-USD', clientOrderId: newId() }),
        bid({ clientOrderId: one, amount: 0.02 }),
        bid({ orderType: 'limit_maker' }),
        bid({ amount: '1000000' }),
        bid({ clientOrderId: two, side: 'sell', price: '9000', timeInForce: null }),
        bid({ colour: 'red' }),
      ],
      cancel: [{ market: 'WETH-USDC', orderId: '999999999' }, { market: 'WETH-USDC', clientOrderId: gone }, { market: 'WETH-USDC' }],
    })
    expect(status, text).to.equal(200)
    expect(body.created.map(saidOf), text).to.deep.equal([
      'PENDING_OPEN',
      'INCOMPLETE_PARAMS',
      'UNKNOWN_ORDER',
      'INCOMPLETE_PARAMS',
      'UNSUPPORTED',
      'INSUFFICIENT_BALANCE',
      'PENDING_OPEN',
      'INCOMPLETE_PARAMS',
    ])
    expect(body.cancelled.map(saidOf), text).to.deep.equal(['UNKNOWN_ORDER', 'UNKNOWN_ORDER', 'INCOMPLETE_PARAMS'])
    expect(body.created[1].error.details).to.deep.equal([{ field: 'price', problem: 'must be a decimal string such as "1.5"' }])
    expect(await nonce()).to.equal(before + 2)
    for (const id of [one, two]) await until(id, 'OPEN')

    const cancelled = await batch({ cancel: [one, two].map((clientOrderId) => ({ market: 'WETH-USDC', clientOrderId })) })
    expect(cancelled.body.cancelled.map(saidOf)).to.deep.equal(['PENDING_CANCEL', 'PENDING_CANCEL'])
    expect(cancelled.body.created).to.deep.equal([])
    for (const id of [one, two]) await until(id, 'CANCELED')
    const again = await batch({ cancel: [{ market: 'WETH-USDC', clientOrderId: one }] })
    expect(again.body.cancelled[0]).to.include({ state: 'CANCELED', clientOrderId: one })
  })

  it('refuses only the entry whose id was used before', async () => {
    const [used, fresh] = [newId(), newId()]
    await batch({ create: [bid({ clientOrderId: used })] })
    const { body } = await batch({ create: [bid({ clientOrderId: used }), bid({ clientOrderId: fresh })] })
    expect(body.created.map(saidOf)).to.deep.equal(['IDEMPOTENCY_CONFLICT', 'PENDING_OPEN'])
    for (const id of [used, fresh]) await until(id, 'OPEN')
    await batch({ cancel: [used, fresh].map((clientOrderId) => ({ market: 'WETH-USDC', clientOrderId })) })
    for (const id of [used, fresh]) await until(id, 'CANCELED')
  })

  it('answers a thousand mostly wrong entries, and refuses more than a thousand', async () => {
    const before = await nonce()
    const many = Array.from({ length: 1000 }, (_, i) => ({ ...bid(i % 250 === 0 ? {} : { price: '0' }) }))
    const { body, status } = await batch({ create: many })
    expect(status).to.equal(200)
    const said = body.created.map(saidOf)
    expect(said.filter((each: string) => each === 'PENDING_OPEN')).to.have.length(4)
    expect(said.filter((each: string) => each === 'INCOMPLETE_PARAMS')).to.have.length(996)
    expect(await nonce()).to.equal(before + 4)
    expect(outcome(await batch({ create: Array.from({ length: 1001 }, () => 1) }))).to.equal(bad)
    expect(outcome(await batch({ create: 'all' }))).to.equal(bad)
    expect(outcome(await batch({}))).to.equal(bad)
    expect(outcome(await batch({ create: [], cancel: [] }))).to.equal(bad)
    const ids: string[] = body.created.flatMap(({ error, clientOrderId }: Entry) => (error ? [] : [clientOrderId]))
    for (const id of ids) await until(id, 'OPEN')
    const gone = await batch({ cancel: ids.map((clientOrderId) => ({ market: 'WETH-USDC', clientOrderId })) })
    expect(gone.body.cancelled.map(saidOf)).to.deep.equal(ids.map(() => 'PENDING_CANCEL'))
    for (const id of ids) await until(id, 'CANCELED')
  })

  it('has one effect and one answer for one Idempotency-Key', async () => {
    const key = { 'idempotency-key': newId() }
    const create = [bid(), bid({ price: '0' }), bid({ price: '901' })]
    const before = await nonce()
    const [first, again] = [await batch({ create }, key), await batch({ create }, key)]
    expect(again.text).to.equal(first.text)
    expect(first.body.created.map(saidOf)).to.deep.equal(['PENDING_OPEN', 'INCOMPLETE_PARAMS', 'PENDING_OPEN'])
    expect(await nonce()).to.equal(before + 2)
    expect(outcome(await batch({ create: create.slice(1) }, key))).to.equal('422 IDEMPOTENCY_CONFLICT')
    for (const { clientOrderId, error } of first.body.created) if (!error) await until(clientOrderId, 'OPEN')
    await batch({
      cancel: first.body.created.flatMap(({ clientOrderId, error }: Entry) => (error ? [] : [{ market: 'WETH-USDC', clientOrderId }])),
    })
  })
})
