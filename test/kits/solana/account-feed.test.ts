import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect } from 'chai'
import type { Chain, Head } from '../../../core/contracts/index.ts'
import { createAccountFeed, type AccountFeed } from '../../../kits/solana/account-feed.ts'
import { createSubscribedImages } from '../../../kits/solana/subscribed-images.ts'
import type { Solana } from '../../../kits/solana/index.ts'
import { acceptSockets, type Connection } from '../../../tools/hyperliquid-simulator/exchange/sockets.ts'
import { soon } from './test-cluster.ts'

const account = 'So11111111111111111111111111111111111111112'
const ignore = () => {}

/** A node that says what a test lets it say. */
describe('what a node tells of accounts', () => {
  let server: Server
  let sockets: Socket[]
  let connection: Connection | undefined
  let feed: AccountFeed
  let reasons: string[]
  let asked: { id: number; method: string; params: readonly unknown[] }[]
  /** What it says to each question. */
  let answer: (id: number) => void

  beforeEach(async () => {
    ;[sockets, reasons, asked] = [[], [], []]
    answer = (id) => say({ id, result: id })
    server = createServer()
    server.on('connection', (socket) => sockets.push(socket))
    acceptSockets(
      server,
      () => true,
      (opened) => {
        connection = opened
        opened.onText = (text) => {
          asked.push(JSON.parse(text))
          answer(asked.at(-1)?.id ?? 0)
        }
      },
      /^\/$/,
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const warn = (fields: object) => void reasons.push(String(Reflect.get(fields, 'reason')))
    const { port } = server.address() as AddressInfo
    feed = createAccountFeed([`ws://127.0.0.1:${port}`], { log: { info: ignore, warn }, meter: { rpc: ignore } })
  })
  afterEach(async () => {
    feed.stop()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })

  const say = (message: object) => connection?.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const tell = (subscription: number, slot: number, text = '') =>
    say({
      method: 'accountNotification',
      params: { subscription, result: { context: { slot }, value: { owner: account, lamports: 1, data: [text, 'base64'] } } },
    })
  const comes = async (what: string, holds: () => boolean) => {
    for (let tries = 0; !holds(); tries += 1) {
      if (tries > 300) throw new Error(`It never came about: ${what}; ${reasons.join(', ')}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  /** The clock, the account and the fence are subscriptions 1, 2 and 3. */
  const begins = async () => {
    feed.follow(new Set([account]))
    await comes('all are subscribed to', () => asked.length === 3)
    tell(1, 10)
    tell(3, 10)
    await comes('it counts', () => feed.since(account) === 10)
  }

  it('counts from the first slot that the fence tells behind it, which is then left', async () => {
    feed.follow(new Set([account]))
    await comes('all are subscribed to', () => asked.length === 3)
    tell(1, 10)
    tell(1, 11)
    await comes('slots are told', () => feed.toldUntil === 10)
    expect(feed.since(account)).to.equal(undefined)
    tell(3, 12)
    await comes('it counts', () => feed.since(account) === 12)
    await comes('the fence is left', () => asked.length === 4)
    expect(asked[3]).to.deep.include({ method: 'accountUnsubscribe', params: [3] })
  })

  it('resumes by one subscription where it was left before it was confirmed', async () => {
    await begins()
    answer = ignore
    const other = 'SysvarRent111111111111111111111111111111111'
    for (const keys of [[account, other], [account], [account, other]]) feed.follow(new Set(keys))
    await comes('it is subscribed to', () => asked.some(({ params }) => params[0] === other))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(asked.filter(({ params }) => params[0] === other)).to.have.length(1)
  })

  it('ends with a message that is larger than any account', async () => {
    await begins()
    tell(2, 11, 'A'.repeat(17 * 1024 * 1024))
    await comes('the connection ends', () => reasons.length > 0)
    expect(reasons).to.deep.equal(['the connection failed'])
  })

  it('is taken of the number that was confirmed first, and of no other', async () => {
    await begins()
    say({ id: 2, result: 77 })
    tell(77, 11)
    tell(2, 12)
    tell(1, 12)
    await comes('slots are told', () => feed.toldUntil === 11)
    expect(feed.take(account, 20).map(({ slot }) => slot)).to.deep.equal([12])
  })

  it('counts for nothing where two accounts have one number', async () => {
    answer = (id) => say({ id, result: 7 })
    feed.follow(new Set([account]))
    await comes('the connection ends', () => reasons.length > 0)
    expect(reasons).to.deep.equal(['it gave one number to two accounts'])
  })

  it('ends a connection that is left, where the node does not answer that', async () => {
    await begins()
    const [socket] = sockets
    // It reads, and answers nothing.
    socket?.removeAllListeners('data').resume()
    feed.stop()
    await comes('the connection ends', () => socket?.readableEnded === true || socket?.destroyed === true)
  })

  it('is never replaced by what a node that is behind has read', async () => {
    const head = (number: number): Head => ({ number: BigInt(number), timestamp: 1 })
    const image = (text: string) => ({ owner: account, lamports: '1', base64: text })
    let [readAt, text]: [number, string] = [12, 'AAAA']
    const batch: NonNullable<Chain<Solana>['changes']> = async (_, to) => [
      { head: to, changes: [{ address: account, slot: readAt, data: image(text) }] },
    ]
    const images = createSubscribedImages({ feed, batch, log: { info: ignore, warn: ignore }, waitMs: 50, checkMs: 3_600_000 })
    const ask = (to: number) => images(head(to - 1), head(to), { follow: [account] }, soon())
    await ask(9)
    await begins()
    await ask(9)
    tell(2, 13, 'BBBB')
    tell(1, 14)
    await comes('slots are told', () => feed.toldUntil === 13)
    expect(await ask(13)).to.have.nested.property('[0].changes[0].data.base64', 'BBBB')
    // Not told yet: it is read, by a node that is behind.
    ;[readAt, text] = [12, 'CCCC']
    await ask(15)
    tell(1, 16)
    await comes('slots are told', () => feed.toldUntil === 15)
    expect(await ask(15)).to.have.nested.property('[0].changes[0].data.base64', 'BBBB')
    expect(reasons).to.deep.equal([])
  })
})
