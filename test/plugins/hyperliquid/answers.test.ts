import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import type { BookMarket } from '../../../core/contracts/index.ts'
import { createInfoQuery, createPost, createRateLimiter } from '../../../plugins/hyperliquid/api.ts'
import { answerRows, type AnswerRow } from '../../fixtures/hyperliquid/answers.ts'
import { integer, object, shape } from '../../../plugins/hyperliquid/shape.ts'
import { at, only, startVenue, type TestVenue } from './venue.ts'

const said = ({ status, body }: AnswerRow) => `HTTP ${status} ${JSON.stringify(body)}`
const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => error,
  )

describe('what Hyperliquid answers in place of a result', function () {
  this.timeout(120_000)
  let venue: TestVenue
  let market: BookMarket
  let count = 0
  async function start() {
    venue = await startVenue({ marketsSeconds: 3600, ttl: 60 })
    market = (await venue.CLOB.markets(at)).find(({ base }) => base === 'HYPE') ?? expect.fail('no market')
  }
  before(start)
  after(() => venue.stop())

  const answers = ({ status, body }: AnswerRow, endpoint: 'info' | 'exchange', carriedOut = false) =>
    venue.exchange.faults.add(
      ({ run, send }) => {
        if (carriedOut) run()
        send({ status, body })
      },
      (carried) => carried.endpoint === endpoint,
      1,
    )

  /** A wallet with one order that is planned and not sent. */
  async function newOrder() {
    const wallet = Wallet.createRandom()
    venue.exchange.credit(wallet.address.toLowerCase(), 'USDC', '1000')
    count += 1
    const order = {
      clientOrderId: `answer-${count}`,
      side: 'BUY',
      orderType: 'LIMIT',
      timeInForce: 'GTC',
      price: '39',
      amount: '1',
    } as const
    const { plan } = only(await venue.CLOB.act(wallet.address, [{ do: 'create', market, order }], at))
    if (!('via' in plan)) throw new Error('it goes by the chain')
    return { wallet, plan }
  }

  it('counts as trouble of the exchange for a query, with the time to try again, whatever the form', async () => {
    const post = createPost(venue.exchange.apiUrl)
    const time = shape(object({ time: integer }))
    for (const row of answerRows.filter(({ to }) => to !== 'exchange')) {
      const query = createInfoQuery(post, createRateLimiter(600))
      answers(row, 'info')
      const thrown = await failureOf(query({ type: 'exchangeStatus' }, time, at))
      expect(Object(thrown).name, said(row)).to.equal(row.is === 'limited' ? 'RATE_LIMIT' : 'NETWORK')
      expect(Object(thrown).retryAfterSeconds, said(row)).to.be.at.least(1)
      expect(Object(thrown).message, said(row)).not.to.contain('<')
      const next = Object(await failureOf(query({ type: 'exchangeStatus' }, time, at)))
      expect(row.is === 'limited' ? next.name === 'RATE_LIMIT' : next.time > 0, said(row)).to.equal(true)
    }
    await post.close()
  })

  for (const carriedOut of [false, true])
    it(`never makes an action refused that the exchange ${carriedOut ? 'carried out' : 'may have carried out'}, but for its own refusals`, async () => {
      for (const row of answerRows.filter(({ to, is }) => to !== 'info' && !(carriedOut && (is === 'refused' || is === 'mistake')))) {
        const { wallet, plan } = await newOrder()
        answers(row, 'exchange', carriedOut)
        const { reception, sealed, sequence, step } = only(await venue.carryOut(plan, wallet))
        const isFinal = reception.is === 'accepted' && reception.landed?.ok === false
        expect(isFinal, `${said(row)} ${JSON.stringify(reception)}`).to.equal(row.is === 'refused' || row.is === 'mistake')
        if (row.is === 'trouble') expect(reception, said(row)).to.include({ is: 'unclear' })
        if (row.is === 'limited') expect(reception, said(row)).to.include({ is: 'refused', meaning: 'not-now' })
        if (reception.is !== 'accepted') expect(reception.reason, said(row)).not.to.match(/[<\r\n]/)
        if (isFinal) continue
        if (row.status === 429) {
          // The connector holds its queries back for seconds.
          await venue.stop()
          await start()
          continue
        }
        const { rail } = venue.actions
        const open = [{ id: sealed.id, from: wallet.address, sequence, step, fees: null }]
        const seen = only((await rail.poll(open, { number: 0n, timestamp: 0 }, at)).statuses)
        expect(seen.is, said(row)).to.equal(carriedOut ? 'landed' : 'unseen')
        // The same bytes: the exchange takes their nonce once.
        const again = await rail.send(sealed, at)
        if (carriedOut) expect(again, said(row)).to.include({ is: 'refused', meaning: 'sequence-used' })
        else expect(again, said(row)).to.have.nested.property('landed.ok', true)
        expect(await venue.CLOB.orders(wallet.address, {}, at), said(row)).to.have.length(1)
      }
    })

  it('says by Retry-After, in seconds or as a date, when to ask again', async () => {
    let answer: (response: ServerResponse) => void = () => {}
    const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const post = createPost(`http://127.0.0.1:${port}`)
    const query = createInfoQuery(post, createRateLimiter(1_000_000))
    for (const [header, seconds] of [
      ['7', 7],
      [new Date(Date.now() + 120_000).toUTCString(), 120],
    ] as const) {
      answer = (response) => response.writeHead(503, { 'retry-after': header }).end('busy')
      const thrown = await failureOf(query({ type: 'meta' }, (body) => ({ body }), at))
      expect(Object(thrown).name).to.equal('NETWORK')
      expect(Object(thrown).retryAfterSeconds, header).to.be.within(Math.max(7, seconds - 60), seconds)
    }
    await post.close()
    server.close()
  })

  it('makes nothing of an answer of more lists, objects and fields than the exchange sends', async () => {
    const server = createServer((_, response) => response.end(`[${'[],'.repeat(1_000_000)}[]]`)).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const post = createPost(`http://127.0.0.1:${port}`)
    expect(await post('info', '{}', at.signal)).to.deep.equal({ is: 'answered', status: 200, body: '' })
    await post.close()
    server.close()
  })
})
