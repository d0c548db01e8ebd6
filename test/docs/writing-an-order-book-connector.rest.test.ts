import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import type { TestServer } from '../../testkit/server.ts'
import { tradingWallets } from '../../core/devnet/anvil.ts'
import { readPage, tableOf } from './page.ts'
import { extractPlugins } from './plugin-pages.ts'
import { readyServer } from './ready-server.ts'

const page = 'docs/writing-an-order-book-connector.md'
const folder = await extractPlugins(page)
const network = { chain: 'ethereum', network: 'local' }
const venue = { ...network, connector: 'tidebook' }

describe(page, () => {
  let server: TestServer
  before(async () => {
    server = await readyServer({ plugins: [path.join(folder, 'tidebook')] })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true })
  })

  it('shows a fork in under 30 lines', async () => {
    const code = await readFile(path.join(folder, 'tidebook', 'index.ts'), 'utf8')
    expect(code.trim().split('\n').length).to.be.below(30)
  })

  it('shows one that loads, has a book, and takes an order as written', async () => {
    const { client } = server
    const { body: book, text } = await client.get('/clob/orderBook', { ...venue, market: 'WETH-DAI' })
    expect(book.buys, text).to.have.length(3)
    const [address = ''] = tradingWallets
    const approval = await client.post('/evm/approve', { ...network, address, spender: 'tidebook', token: 'WETH' })
    expect(approval.status, approval.text).to.equal(200)
    await until(async () => (await client.get('/network/poll', { ...network, txHash: approval.body.txHash })).body.txStatus === 1)
    const order = {
      ...venue,
      address,
      market: 'WETH-DAI',
      side: 'SELL',
      orderType: 'LIMIT',
      price: '3100',
      amount: '0.1',
      clientOrderId: 'tide-1',
    }
    const placed = await client.post('/clob/orders', order)
    expect(placed.status, placed.text).to.equal(200)
    await until(async () => {
      const { body } = await client.get('/clob/orders', { ...venue, address, clientOrderId: 'tide-1' })
      return body.orders[0]?.state === 'OPEN'
    })
  })

  it('names every card that runs', async () => {
    const rows = tableOf(await readPage(page), 'cards').map(([cards = '']) => cards)
    for (const [kind, count] of [
      ['BOOK', 32],
      ['MARGIN', 5],
      ['PERPBOOK', 8],
    ] as const) {
      const named = rows.flatMap((cards) => numbersIn(cards, kind))
      expect(named, kind).to.deep.equal(Array.from({ length: count }, (_, index) => index + 1))
    }
  })
})

/** "BOOK-01 to BOOK-04", or "BOOK-18, BOOK-19", as numbers. */
function numbersIn(cards: string, kind: string): number[] {
  const numbers = [...cards.matchAll(new RegExp(`\\b${kind}-(\\d+)`, 'g'))].map(([, digits]) => Number(digits))
  const [first = 0, last = first] = numbers
  return numbers.length === 0 ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 800; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('It never came about.')
}
