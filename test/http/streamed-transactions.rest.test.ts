import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { transactionColumns } from '../../core/handlers/transaction-columns.ts'
import { openStore } from '../../core/store/open-store.ts'
import type { Store } from '../../core/store/store.ts'
import { newClient } from '../../core/tls/certificates.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { entryRow } from '../../core/transactions/journal/entry-rows.ts'
import { moveOut } from '../../core/transactions/journal/archived-entries.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { growJournal, grownTrade } from '../transactions/journal/grown-journal.ts'
import { silent } from '../transactions/site.ts'
import { oneChain } from './one-chain.ts'

/** Twenty-four pages of what is read at a time; ten thousand are in `test/books/trial.rest.test.ts`. */
const count = 2_400
const archivedCount = 600
const wallets = 100
const [ndjson, csv] = ['application/x-ndjson', 'text/csv']
const formula = '=HYPERLINK("http://x")'

/** All transactions as NDJSON and CSV: thousands, some archived, one damaged, one with texts that a spreadsheet stumbles over. */
describe('transactions as NDJSON and CSV', function () {
  this.timeout(600_000)
  let home: string
  let server: TestServer
  let client: Client
  let reader: Client
  let odd: Entry
  let damaged: string
  let ofReader: string

  const finalOf = (index: number): Entry => {
    const final = grownTrade(index, wallets).versions.at(-1)
    if (!final) throw new Error('A trade has an end.')
    return final
  }

  before(async () => {
    ofReader = finalOf(7).address
    home = await mkdtemp(path.join(tmpdir(), 'sluice-streamed-'))
    const store = await openStore({ dataDir: path.join(home, 'data'), serverName: 'test', log: silent })
    await grow(store)
    await store.close()
    const clients = {
      client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' },
      reader: { permissions: ['read'], wallets: [ofReader] },
    }
    server = await startServer({ ...oneChain, conf: { ...oneChain.conf, 'clients.yml': { clients } } }, home)
    client = server.client
    await newClient(server.certsDir, 'reader')
    reader = createClient(server.url, server.certsDir, 'reader')
  })
  after(async () => {
    reader?.close()
    await server?.stop()
    await rm(home, { recursive: true, force: true })
  })

  async function grow(store: Store): Promise<void> {
    await growJournal(store, count, { wallets })
    await moveOut(
      store,
      Array.from({ length: archivedCount }, (_, index) => finalOf(index * 3)),
    )
    const { key } = finalOf(count - 10)
    damaged = key
    await store.write((tx) =>
      tx
        .updateTable('entries')
        .set({ body: new Uint8Array([1, 2, 3]) })
        .where('key', '=', key)
        .execute(),
    )
    const last = grownTrade(count, wallets)
    const fields = { base: 'A,"B"\nC', quote: formula, side: 'SELL', amount: '-1.5' }
    odd = { ...finalOf(count), request: { path: '/amm/trade', fields }, reason: '+1\nand, more', planned: { price: '-0.25' } }
    await store.write((tx) =>
      tx
        .insertInto('entries')
        .values({ ...entryRow(odd, last.queue), ended_at: 0 })
        .execute(),
    )
  }

  const all = async (accept: string, query: Record<string, string> = {}, as = client) => {
    const answer = await as.get('/transactions', query, { headers: { accept } })
    expect(answer.status, answer.text.slice(0, 300)).to.equal(200)
    return answer
  }
  const lines = (text: string) => text.split('\n').slice(0, -1)

  /** What Python's reader makes of it, by the names of the columns. */
  function table(text: string): Record<string, string>[] {
    const read =
      'import csv, io, json, sys; print(json.dumps(list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, "utf-8", newline="")))))'
    const { stdout, stderr } = spawnSync('python3', ['-c', read], { input: text, encoding: 'utf8', maxBuffer: 100_000_000 })
    expect(stderr).to.equal('')
    return JSON.parse(stdout)
  }

  /** Page by page, as JSON. */
  async function paged(): Promise<{ id: string }[]> {
    const found: { id: string }[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const query = { limit: '500', archived: 'true', ...(cursor !== '' && { cursor }) }
      const { body } = await client.get('/transactions', query, { headers: { accept: '*/*' } })
      found.push(...body.transactions)
      cursor = body.nextCursor
    }
    return found
  }

  it('gives each once as NDJSON, newest first, archived or not, and says which cannot be read', async () => {
    const { headers, text } = await all(ndjson)
    expect(headers['content-type']).to.equal('application/x-ndjson; charset=utf-8')
    expect(headers).to.not.have.property('content-length')
    const parsed = lines(text).map((line) => JSON.parse(line))
    expect(parsed).to.have.lengthOf(count + 1)
    expect(parsed.filter(({ unavailable }) => unavailable !== undefined)).to.deep.equal([
      { id: damaged, unavailable: 'its row in the store is damaged: the log says how' },
    ])
    expect(parsed.filter(({ archived }) => archived)).to.have.lengthOf(archivedCount)
    expect(parsed.filter(({ unavailable }) => unavailable === undefined)).to.deep.equal(await paged())
    const ids = parsed.map(({ id }) => id)
    expect(ids).to.deep.equal(ids.toSorted((a, b) => (a < b ? 1 : -1)))
  })

  it('gives the same as CSV, in which no text is a formula and numbers below zero are numbers', async () => {
    const { headers, text } = await all(csv)
    expect(headers['content-type']).to.equal('text/csv; charset=utf-8; header=present')
    const rows = table(text)
    expect(rows).to.have.lengthOf(count + 1)
    expect(text.split('\r\n')).to.have.lengthOf(count + 3)
    const { id } = { id: odd.key }
    const [first] = rows
    expect(Object.keys(first ?? {})).to.deep.equal(transactionColumns.map(([name]) => name))
    expect(first).to.include({ id, base: 'A,"B" C', quote: `'${formula}`, side: 'SELL', amount: '-1.5', quotedPrice: '-0.25' })
    expect(first).to.include({ reason: "'+1 and, more", state: 'CONFIRMED', kind: 'trade', chain: 'ethereum', client: odd.client })
    expect(first).to.include({
      time: new Date(odd.createdAt).toISOString(),
      block: String(odd.landed?.blockNumber),
      nonce: String(odd.nonce),
    })
    expect(rows.find((row) => row['id'] === damaged)).to.include({ state: 'UNAVAILABLE', time: '' })
  })

  it('filters, and shows a certificate its own wallets only', async () => {
    const own = lines((await all(ndjson, {}, reader)).text).map((line) => JSON.parse(line))
    expect(own).to.have.lengthOf(count / wallets)
    for (const { address } of own) expect(address.toLowerCase()).to.equal(ofReader.toLowerCase())
    expect(lines((await all(ndjson, { address: ofReader })).text)).to.deep.equal(lines((await all(ndjson, {}, reader)).text))
    expect((await reader.get('/transactions', { address: odd.address }, { headers: { accept: csv } })).body).to.include({
      name: 'FORBIDDEN',
    })
    expect(lines((await all(ndjson, { limit: '3' })).text)).to.have.lengthOf(3)
    expect(lines((await all(ndjson, { archived: 'false' })).text)).to.have.lengthOf(count + 1 - archivedCount)
    expect((await all(csv, { kind: 'send' })).text).to.equal(`${transactionColumns.map(([name]) => name).join(',')}\r\n`)
    expect((await all(ndjson, { kind: 'send' })).text).to.equal('')
  })

  it('goes on after any line that a client has, to the same bytes', async () => {
    for (const accept of [ndjson, csv]) {
      const { text } = await all(accept, {}, reader)
      const at = text.indexOf('\n', text.length / 2) + 1
      const before = lines(text.slice(0, at)).at(-1) ?? ''
      const cursor = accept === csv ? before.trim().split(',').at(-1) : JSON.parse(before).id
      const rest = (await all(accept, { cursor }, reader)).text
      const header = accept === csv ? text.slice(0, text.indexOf('\n') + 1) : ''
      expect(rest).to.equal(`${header}${text.slice(at)}`)
    }
  })

  it('says what is wrong with a request as JSON, and answers with JSON what asks for anything else', async () => {
    const wrong = await client.get('/transactions', { cursor: 'x' }, { headers: { accept: csv } })
    expect([wrong.status, wrong.body.name]).to.deep.equal([400, 'INCOMPLETE_PARAMS'])
    for (const accept of ['text/html', 'text/csv;q=0', '*/*'])
      expect((await client.get('/transactions', {}, { headers: { accept } })).body, accept).to.have.keys(
        'transactions',
        'unavailable',
        'nextCursor',
      )
  })

  it('closes the connection where it breaks in the middle, and answers with an error where it cannot begin', async () => {
    const { transactions } = server.kernel.services
    const { list } = transactions
    let pages = 0
    transactions.list = async (filter) => {
      pages += 1
      if (pages > 20) throw new Error('the disk is gone')
      return list(filter)
    }
    try {
      const incoming = await client.open('/transactions', {}, { headers: { accept: csv } })
      expect(incoming.statusCode).to.equal(200)
      expect(await endOf(incoming)).to.equal('broken')
      const answer = await client.get('/transactions', {}, { headers: { accept: csv } })
      expect([answer.status, answer.body.name]).to.deep.equal([500, 'UNKNOWN_ERROR'])
    } finally {
      transactions.list = list
    }
  })

  it('sends two at once, and cuts off what is being sent when the server stops', async () => {
    const texts = await Promise.all([all(ndjson), all(ndjson)])
    expect(texts[0].text === texts[1].text).to.equal(true)
    const incoming = await client.open('/transactions', {}, { headers: { accept: ndjson } })
    const ended = endOf(incoming)
    const stopping = server.kernel.stop()
    expect(await ended).to.equal('broken')
    await stopping
  })
})

function endOf(incoming: IncomingMessage): Promise<'whole' | 'broken'> {
  incoming.resume()
  return new Promise((resolve) => {
    incoming.once('end', () => resolve('whole'))
    incoming.once('error', () => resolve('broken'))
  })
}
