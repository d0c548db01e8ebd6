import { expect } from 'chai'
import type { Answer, Client } from '../../testkit/client.ts'
import { admins, local, mined, noted, outcome, sharedServer, swap, traders, type SharedServer } from './shared-server.ts'

const run = `list-${process.pid}-${Date.now()}`

describe('/transactions', () => {
  let server: SharedServer
  let client: Client
  /** Oldest first. */
  const made: string[] = []
  const list = async (query: Record<string, string> = {}, as = client): Promise<Answer> => as.get('/transactions', query)
  const page = async (query: Record<string, string>, as = client): Promise<Answer> => {
    const answer = await list(query, as)
    expect(outcome(answer), answer.text).to.equal('200')
    return answer
  }
  const hashes = async (query: Record<string, string>, as = client): Promise<string[]> =>
    (await page(query, as)).body.transactions.map(({ txHash }: { txHash: string }) => txHash)

  before(async () => {
    server = await sharedServer()
    client = server.client
    for (const [index, address] of [admins, traders, admins, traders].entries()) {
      const { body, text } = await client.post(
        '/amm/trade',
        { ...swap, base: 'ETH', amount: '0.001', address },
        { headers: { 'idempotency-key': `${run}-${index}`, 'x-request-id': `${run}-id-${index}` } },
      )
      expect(body.txHash, text).to.be.a('string')
      made.push(body.txHash)
    }
    for (const txHash of made) await noted(client, txHash)
  })

  it('shows everything that the journal has about a transaction', async () => {
    const [txHash = ''] = made
    const { body: poll } = await mined(client, txHash)
    const { status, body } = await list({ txHash })
    expect(status).to.equal(200)
    expect(body).to.have.all.keys('transactions')
    const [shown] = body.transactions
    expect(shown).to.deep.include({
      ...local,
      address: admins,
      kind: 'trade',
      connector: 'uniswap',
      txHash,
      txStatus: 1,
      txBlock: poll.txBlock,
      requestId: `${run}-id-0`,
      idempotencyKey: `${run}-0`,
    })
    expect(shown.txState).to.be.oneOf(['MINED', 'CONFIRMED'])
    expect(shown.attempts).to.have.length(1)
    expect(shown.attempts[0]).to.have.all.keys('txHash', 'signedAt', 'sends', 'sentAt', 'node', 'maxFee', 'feeToken')
    expect(shown.attempts[0].sentAt).to.be.at.least(shown.attempts[0].signedAt)
    expect(shown.attempts[0].txHash).to.equal(txHash)
    expect([shown.nonce, shown.createdAt, shown.updatedAt, shown.deadline].every(Number.isSafeInteger)).to.equal(true)
    expect(shown.updatedAt).to.be.at.least(shown.createdAt)
  })

  it('lists the newest first, in pages without gaps or repeats', async () => {
    const whole = await hashes({ limit: '500' })
    expect(whole.filter((each) => made.includes(each))).to.deep.equal(made.toReversed())
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const { body } = await page({ limit: '3', ...(cursor !== undefined && { cursor }) })
      expect(body.transactions.length).to.be.within(1, 3)
      paged.push(...body.transactions.map(({ txHash }: { txHash: string }) => txHash))
      cursor = body.nextCursor
    } while (cursor !== undefined)
    // There may be more of them by now than one page has at most.
    expect(paged.slice(0, 500)).to.deep.equal(whole)
    expect(new Set(paged).size).to.equal(paged.length)
  })

  it('filters by each of its fields', async () => {
    const [first = '', second = ''] = made
    expect(await hashes({ txHash: second.toUpperCase().replace('0X', '0x') })).to.deep.equal([second])
    expect(await hashes({ idempotencyKey: `${run}-1` })).to.deep.equal([second])
    expect(await hashes({ requestId: `${run}-id-0` })).to.deep.equal([first])
    expect(await hashes({ address: traders.toLowerCase(), limit: '2' })).to.deep.equal([made[3], made[1]])
    expect(await hashes({ ...local, idempotencyKey: `${run}-1` })).to.deep.equal([second])
    const nonce = String((await page({ txHash: second })).body.transactions[0].nonce)
    expect(await hashes({ ...local, address: traders, nonce })).to.deep.equal([second])
    expect(await hashes({ ...local, address: traders, nonce, archived: 'true' })).to.deep.equal([second])
    const others: Record<string, string>[] = [
      { chain: 'polygon' },
      { network: 'mainnet' },
      { chain: 'gone', network: 'gone' },
      { address: '0x12' },
    ]
    for (const other of others) expect(await hashes({ ...other, idempotencyKey: `${run}-1` }), JSON.stringify(other)).to.deep.equal([])
    await mined(client, second)
    for (let tries = 0; (await hashes({ state: 'confirmed', requestId: `${run}-id-1` })).length === 0 && tries < 800; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await hashes({ state: 'CONFIRMED', requestId: `${run}-id-1` })).to.deep.equal([second])
    expect(await hashes({ state: 'DROPPED', requestId: `${run}-id-1` })).to.deep.equal([])
  })

  it('shows a certificate only transactions of its wallets', async () => {
    const theirs = (await list({ limit: '500' }, server.as.trader)).body.transactions
    expect(theirs.every(({ address }: { address: string }) => address === traders)).to.equal(true)
    expect(theirs.map(({ txHash }: { txHash: string }) => txHash)).to.include(made[1])
    expect(await hashes({ txHash: made[0] ?? '' }, server.as.trader)).to.deep.equal([])
    expect(await hashes({ idempotencyKey: `${run}-0` }, server.as.reader)).to.deep.equal([])
    expect(await hashes({}, server.as.visitor)).to.deep.equal([])
    expect(outcome(await list({ address: admins }, server.as.trader))).to.equal('403 FORBIDDEN')
    expect(outcome(await list({}, server.as.idle))).to.equal('403 FORBIDDEN')
  })

  for (const [field, value] of [
    ['state', 'MINING'],
    ['limit', '0'],
    ['limit', '501'],
    ['limit', 'many'],
    ['cursor', 'nonsense'],
    ['cursor', "x' OR 1=1 --"],
    ['cursor', 'x'.repeat(300)],
    ['status', 'MINED'],
    ['idempotencyKey', 'x'.repeat(256)],
  ] as const) {
    it(`refuses ${field} "${value.slice(0, 20)}"`, async () => {
      const answer = await list({ [field]: value })
      expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.equal(field)
    })
  }

  it('accepts only GET', async () => {
    const answer = await client.post('/transactions', {})
    expect([answer.status, answer.headers.allow]).to.deep.equal([405, 'GET'])
  })
})
