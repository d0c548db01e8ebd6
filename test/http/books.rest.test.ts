import { expect } from 'chai'
import { parseDecimal } from '../../core/base/decimal.ts'
import { bookCsv, describeBook } from '../../core/cli/books.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'
import { admins, local, sharedServer, swap, traders, uniswap, type SharedServer } from './shared-server.ts'

/** The sums of the book, held against a spreadsheet that is made of the trades themselves. */
describe('/books', function () {
  this.timeout(600_000)
  let server: SharedServer
  let client: Client
  let since: string

  before(async () => {
    server = await sharedServer()
    client = server.client
    for (const address of [admins, traders])
      for (const token of ['WETH', 'USDC']) await final(await client.post('/evm/approve', { ...local, address, spender: 'uniswap', token }))
    await final(await client.post('/evm/wrap', { ...local, address: traders, amount: '5' }))
    since = new Date().toISOString()
  })

  async function final(answer: Answer) {
    expect(answer.status, answer.text).to.equal(200)
    let listed: Answer | undefined
    await until('it is final', async () => {
      listed = await client.get('/transactions', { txHash: answer.body.txHash })
      return listed.body.transactions[0].final
    })
    return listed?.body.transactions[0]
  }

  async function booksOf(as: Client, query: Record<string, string>) {
    let answer: Answer | undefined
    await until('the book is whole', async () => {
      answer = await as.get('/books', query)
      expect(answer.status, answer.text).to.equal(200)
      return answer.body.complete
    })
    return answer?.body
  }

  const trades = [
    ['BUY', '0.4'],
    ['BUY', '0.2'],
    ['SELL', '0.3'],
    ['SELL', '0.5'],
    ['BUY', '0.1'],
  ] as const

  it('tells of two bots what each earned, as a spreadsheet of their trades does', async () => {
    const made = new Map<string, { side: string; base: bigint; quote: bigint }[]>([
      ['client', []],
      ['trader', []],
    ])
    for (const [index, [side, amount]] of trades.entries())
      for (const [id, as, address, times] of [
        ['client', client, admins, 1n],
        ['trader', server.as.trader, traders, 2n],
      ] as const) {
        if (id === 'trader' && index > 3) continue
        const body = { ...swap, side, amount: times === 1n ? amount : String(Number(amount) / 4), address }
        const { fill } = await final(await as.post('/amm/trade', body))
        const [base, quote] = (side === 'BUY' ? [fill.amountOut, fill.amountIn] : [fill.amountIn, fill.amountOut]).map(
          (text: string) => parseDecimal(text).digits,
        )
        made.get(id)?.push({ side, base: base ?? 0n, quote: quote ?? 0n })
      }
    for (const [id, rows] of made) {
      const book = await booksOf(client, { client: id, pair: 'WETH-USDC', since })
      const [pair, ...more] = book.pairs
      expect(more).to.deep.equal([])
      expect(pair).to.include({ base: 'WETH', quote: 'USDC', trades: rows.length })
      const inUnits = (text: string, decimals: number) => {
        const { digits, scale } = parseDecimal(text)
        return digits * 10n ** BigInt(decimals - scale)
      }
      const sum = (side: string, of: 'base' | 'quote') =>
        rows.filter((row) => row.side === side).reduce((total, row) => total + row[of], 0n)
      expect(inUnits(pair.bought, 18)).to.equal(sum('BUY', 'base'))
      expect(inUnits(pair.spent, 6)).to.equal(sum('BUY', 'quote'))
      expect(inUnits(pair.received, 6)).to.equal(sum('SELL', 'quote'))
      expect(inUnits(pair.position, 18)).to.equal(sum('BUY', 'base') - sum('SELL', 'base'))
      const cash = sum('SELL', 'quote') - sum('BUY', 'quote')
      const isShort = pair.position.startsWith('-')
      for (const method of ['averageCost', 'fifo'])
        expect(inUnits(pair.realized[method], 6) + inUnits(pair.open[method], 6) * (isShort ? 1n : -1n), `${id} ${method}`).to.equal(cash)
      // By FIFO, in fractions of a unit, lot by lot.
      const lots: { base: number; price: number; isShort: boolean }[] = []
      let realized = 0
      for (const { side, base, quote } of rows) {
        const price = Number(quote) / Number(base)
        let left = Number(base)
        while (left > 0) {
          const [lot] = lots
          if (!lot || lot.isShort === (side === 'SELL')) {
            lots.push({ base: left, price, isShort: side === 'SELL' })
            break
          }
          const taken = Math.min(left, lot.base)
          realized += taken * (side === 'SELL' ? price - lot.price : lot.price - price)
          lot.base -= taken
          left -= taken
          if (lot.base <= 0) lots.shift()
        }
      }
      expect(Number(inUnits(pair.realized.fifo, 6))).to.be.within(realized - 10, realized + 1)
      const weth = book.tokens.find(({ symbol }: { symbol: string }) => symbol === 'WETH')
      expect(weth.net).to.equal(pair.position)
      expect(book.fees[0].transactions).to.equal(rows.length)
      expect(book.lacking).to.deep.equal({ movements: 0, coin: 0, fills: 0, fees: 0 })
      expect(pair).to.have.property('unrealized', null)
      expect(pair.noValue).to.match(/no price/)
      expect(describeBook(book)).to.include('WETH-USDC').and.to.include('not known')
      expect((await bookCsv(book)).split('\r\n')).to.include(`trades,ethereum/local,WETH-USDC,realized.fifo,${pair.realized.fifo}`)
    }
  })

  it('shows a certificate what is of its own wallets, and nothing of others', async () => {
    const own = await booksOf(server.as.trader, { since })
    expect(own.pairs.map(({ trades: count }: { trades: number }) => count)).to.deep.equal([4])
    const ofOther = await booksOf(server.as.trader, { since, client: 'client' })
    expect(ofOther).to.include({ transactions: 0 })
    expect(ofOther.pairs).to.deep.equal([])
    const asked = await server.as.trader.get('/books', { address: admins })
    expect(asked.status).to.equal(403)
  })

  it('tells of a position that was closed what it paid, received and collected', async () => {
    const range = { token0: 'WETH', token1: 'USDC', amount0: '1', amount1: '3000', lowerPrice: '2800', upperPrice: '3200' }
    await final(await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap/positions', token: 'WETH' }))
    await final(await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap/positions', token: 'USDC' }))
    const { fill } = await final(await client.post('/amm/liquidity/add', { ...uniswap, ...range, version: 'v3', address: admins }))
    const own = { since, client: 'client' }
    const find = (book: Answer['body']) => book.liquidity.find(({ position }: { position: string }) => position === fill.tokenId)
    expect(find(await booksOf(client, own))).to.include({ closed: false, againstHolding: null, noValue: 'it is open' })
    await final(await client.post('/amm/liquidity/remove', { ...uniswap, tokenId: fill.tokenId, version: 'v3', address: admins }))
    const closed = find(await booksOf(client, own))
    expect(closed).to.include({ closed: true, connector: 'uniswap' })
    expect(closed.tokens.map(({ symbol }: { symbol: string }) => symbol).toSorted()).to.deep.equal(['USDC', 'WETH'])
    for (const { paid, received } of closed.tokens) expect(Number(received)).to.be.closeTo(Number(paid), 0.001)
  })

  it('answers as CSV and NDJSON with a line for each value', async () => {
    const query = { client: 'client', since }
    const book = await booksOf(client, query)
    const csv = await client.get('/books', query, { headers: { accept: 'text/csv' } })
    expect(csv.headers['content-type']).to.equal('text/csv; charset=utf-8; header=present')
    // Within a pair or token the fields have another order.
    expect(csv.text.trimEnd().split('\r\n').toSorted()).to.deep.equal((await bookCsv(book)).split('\r\n').toSorted())
    const ndjson = await client.get('/books', query, { headers: { accept: 'application/x-ndjson' } })
    const lines = ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).to.deep.include({
      part: 'trades',
      network: 'ethereum/local',
      name: 'WETH-USDC',
      field: 'realized.fifo',
      value: book.pairs[0].realized.fifo,
    })
    expect(lines).to.deep.include({ part: 'read', network: '', name: '', field: 'transactions', value: String(book.transactions) })
    const { status, body } = await client.get('/books', { pair: 'WETH' }, { headers: { accept: 'text/csv' } })
    expect([status, body.name]).to.deep.equal([400, 'INCOMPLETE_PARAMS'])
  })

  it('says what is wrong with a time or a pair', async () => {
    for (const [wrong, problem] of [
      [{ since: 'yesterday' }, 'since: is "yesterday"'],
      [{ since: '2026-03-02', until: '2026-03-01' }, 'which is not before until'],
      [{ pair: 'WETH' }, 'pair'],
    ] as const) {
      const { body, status } = await client.get('/books', wrong)
      expect(status).to.equal(400)
      expect(body.message).to.include(problem)
    }
  })
})
