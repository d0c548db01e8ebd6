// Rows of the journal that cannot be read: the others are listed, replayed and taken up, and what is missing is told.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { sql } from 'kysely'
import { isObject } from '../../core/base/json.ts'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { pack } from '../../core/store/compact.ts'
import { openStore } from '../../core/store/open-store.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { readStored } from '../../core/transactions/journal/entry-rows.ts'
import { follow } from '../events/client.ts'
import { sluice } from '../start/command.ts'
import { silent } from '../transactions/site.ts'
import { admins, local, mined, oneChain, others, outcome, traders } from './shared-server.ts'

const spender = '0x00000000000000000000000000000000000000A7'
const wallets = [admins, admins, traders, others] as const

describe('a journal with rows that cannot be read', function () {
  this.timeout(300_000)
  let home: string
  let server: TestServer
  const hashes: string[] = []
  // A server that starts its own devnet forgets the journal of the one before.
  const start = (conf: object = {}) => startServer({ ...oneChain, conf: { ...oneChain.conf, ...conf }, between: asBefore }, home)
  /** The chain is a new one with each start: what wallets have sent counts. */
  async function asBefore(rpcUrl: string): Promise<string> {
    const sent = wallets.slice(0, hashes.length)
    for (const address of new Set(sent))
      await rpcTo(rpcUrl)('anvil_setNonce', address, `0x${sent.filter((each) => each === address).length}`)
    return rpcUrl
  }
  const approve = (address: string) => server.client.post('/evm/approve', { ...local, address, spender, token: 'WETH', amount: '1' })
  const listed = async () => (await server.client.get('/transactions')).body

  /** Waits until all transactions are final in the journal. */
  async function allFinal(): Promise<void> {
    const until = Date.now() + 180_000
    while ((await listed()).transactions.some(({ final }: { final: boolean }) => !final)) {
      if (Date.now() > until) throw new Error('not final')
      await rpcTo(server.rpcUrl)('evm_mine')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-'))
    server = await start()
    for (const address of wallets) {
      const answer = await approve(address)
      expect(outcome(answer), answer.text).to.equal('200')
      await mined(server.client, answer.body.txHash)
      hashes.push(answer.body.txHash)
    }
    await allFinal()
    await server.stop()
  })
  after(async () => {
    await server?.stop()
    await rm(home, { recursive: true, force: true })
  })

  it('lists, replays and takes up the others, and says what is missing', async () => {
    const damaged = pack('{"key":1}')
    const store = await openStore({ dataDir: server.settings.data.dir, serverName: 'test', log: silent })
    const ids = (await store.read((db) => db.selectFrom('entries').select('key').orderBy('key').execute())).map(({ key }) => key)
    const [ended = '', , open = '', last = ''] = ids
    const [event] = await store.read((db) => db.selectFrom('events').select('id').where('entry_key', '=', last).orderBy('id').execute())
    await store.write(async (tx) => {
      await tx.updateTable('entries').set({ body: damaged }).where('key', '=', ended).execute()
      const lane = `ethereum/local/${traders.toLowerCase()}`
      await tx.updateTable('entries').set({ body: damaged, final: 0, state: 'BROADCAST', lane }).where('key', '=', open).execute()
      await tx
        .updateTable('events')
        .set('change', sql`'damaged'`)
        .where('id', '=', event?.id ?? 0)
        .execute()
    })
    await store.close()
    server = await start()

    const { transactions, unavailable } = await listed()
    expect(transactions.map(({ txHash }: { txHash: string }) => txHash)).to.deep.equal([hashes[3], hashes[1]])
    expect(unavailable.map(({ id }: { id: string }) => id)).to.have.members([ended, open])
    expect(unavailable[0].reason).to.contain('damaged')
    const page = await server.client.get('/transactions', { limit: '1' })
    expect([page.body.transactions.length, page.body.nextCursor]).to.deep.equal([1, last])
    expect(page.body).to.not.have.property('unavailable')

    const said = [
      [['list'], (id: string) => `warning: a transaction is missing here, since its row ${id} of the`],
      [['export', '--out', '-'], (id: string) => `{"id":"${id}","unavailable":"`],
    ] as const
    for (const [command, ofRow] of said) {
      const running = sluice(home, '--conf', server.settings.confDir, 'tx', ...command, '--url', server.kernel.url)
      expect((await running.ended).code, running.printed()).to.equal(0)
      for (const id of [ended, open]) expect(running.printed()).to.contain(ofRow(id))
    }

    const follower = await follow(server, { topics: 'transactions', lastEventId: '0' })
    await follower.hears('the last event of the last transaction', ({ data }) => data.txHash === hashes[3] && data.final)
    const told = follower.told.filter(({ topic }) => topic === 'transactions')
    expect(new Set(told.map(({ data }) => data.txHash ?? hashes[3]))).to.deep.equal(new Set([hashes[1], hashes[3]]))
    expect(told.map(({ id }) => id)).to.not.include(String(event?.id))

    // What the wallet's open transaction is nobody knows, so that no nonce of it is given away.
    const blocked = await approve(traders)
    expect(outcome(blocked), blocked.text).to.equal('503 SERVICE_UNINITIALIZED')
    expect(blocked.body.message).to.contain(open)
    for (const address of [admins, others]) {
      const { body, text } = await approve(address)
      expect(body.txHash, text).to.be.a('string')
      await mined(server.client, body.txHash)
      await follower.hears('the new transaction', ({ data }) => data.txHash === body.txHash)
    }
    await follower.close()
  })

  it('tells all but what does not fit of rows that another version, or somebody, wrote', async () => {
    await server.stop()
    const store = await openStore({ dataDir: server.settings.data.dir, serverName: 'test', log: silent })
    const rows = await store.read((db) => db.selectFrom('entries').selectAll().where('final', '=', 1).orderBy('key').execute())
    const sale = { path: '/amm/trade', fields: { side: 'SELL' } }
    const odd = [
      { kind: 'trade', quote: { blockNumber: 7, source: 'rpc' }, outcome: { amountIn: '1' } },
      {
        kind: 'trade',
        request: sale,
        planned: { price: '1' },
        quote: { blockNumber: 7, source: 'rpc', route: [], coinPrice: 'much' },
        outcome: { amountIn: '1', amountOut: '1', price: 'much' },
      },
    ]
    const readable = rows.flatMap(({ key, body }) => {
      const stored: unknown = readStored(body)
      return isObject(stored) && 'chain' in stored ? [{ key, stored }] : []
    })
    expect(readable.length).to.be.at.least(odd.length)
    await store.write(async (tx) => {
      for (const [index, { key, stored }] of readable.entries())
        await tx
          .updateTable('entries')
          .set({ body: pack(JSON.stringify({ ...stored, ...odd[index % odd.length] })) })
          .where('key', '=', key)
          .execute()
    })
    await store.close()
    server = await start()

    const answer = await server.client.get('/transactions')
    expect(outcome(answer), answer.text).to.equal('200')
    const ids = answer.body.transactions.map(({ id }: { id: string }) => id)
    expect(ids).to.include.members(readable.map(({ key }) => key))
    const told = answer.body.transactions.filter(({ kind }: { kind: string }) => kind === 'trade')
    expect(told).to.have.length(readable.length)
    for (const each of told) expect(each).to.include.keys('cost').and.not.to.have.any.keys('quote', 'slippage')
    const lines = await server.client.get('/transactions', {}, { headers: { accept: 'text/csv' } })
    expect(lines.status, lines.text).to.equal(200)
  })

  it('holds those behind a page of damaged ones against the limits of their client', async () => {
    await server.stop()
    const store = await openStore({ dataDir: server.settings.data.dir, serverName: 'test', log: silent })
    const rows = await store.read((db) => db.selectFrom('entries').selectAll().orderBy('key', 'desc').execute())
    const ended = rows.find(({ final }) => final === 1)
    if (!rows[0] || !ended) throw new Error('no entry')
    const { key: newest } = rows[0]
    const damaged = Array.from({ length: 500 }, (_, index) => ({
      ...ended,
      key: `${newest.slice(0, -4)}~${String(index).padStart(3, '0')}`,
      body: pack('{}'),
    }))
    await store.write(async (tx) => {
      for (let from = 0; from < damaged.length; from += 50)
        await tx
          .insertInto('entries')
          .values(damaged.slice(from, from + 50))
          .execute()
    })
    await store.close()
    const limited = { permissions: ['read', 'trade', 'admin'], wallets: 'all', limits: { transactionsPerHour: 1 } }
    server = await start({ 'clients.yml': { clients: { client: limited } } })

    const newestPage = (await server.client.get('/transactions', { limit: '500' })).body
    expect([newestPage.transactions.length, newestPage.unavailable.length]).to.deep.equal([0, 500])
    const checked = await server.client.get('/limits/check')
    expect(outcome(checked), checked.text).to.equal('200')
    expect(checked.body.transactions).to.be.at.least(2)
  })
})
