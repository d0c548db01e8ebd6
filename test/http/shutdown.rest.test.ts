import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { keepDevnet, makeHome, sluice, type RunningCommand } from '../start/command.ts'
import { swap, traders } from './shared-server.ts'

const count = 66
const query = new URLSearchParams(swap).toString()
const quote = `GET /amm/price?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`

function trade(key: string): string {
  const body = JSON.stringify({ ...swap, base: 'ETH', address: traders })
  return `POST /amm/trade HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

interface ReceivedAnswer {
  status: number
  head: string
  body: { name?: string; message?: string }
}

/** A kept connection, by bytes: an agent would hide a lost connection behind a new one. */
interface Bot {
  sent: number
  answers: ReceivedAnswer[]
  errors: string[]
  /** Settles when the connection is closed. */
  closed: Promise<void>
  socket: TLSSocket
}

/** Sends a request, and the next one with each answer, until an answer says that the connection is closed. */
function startBot(url: string, certs: string, requestOf: (index: number) => string): Bot {
  const read = (file: string) => readFileSync(path.join(certs, file))
  const { port } = new URL(url)
  const socket = connect({
    port: Number(port),
    host: '127.0.0.1',
    servername: 'localhost',
    ca: read('ca_cert.pem'),
    cert: read('client_cert.pem'),
    key: read('client_key.pem'),
  })
  const bot: Bot = {
    sent: 0,
    answers: [],
    errors: [],
    socket,
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
  }
  const send = () => socket.write(requestOf(bot.sent++))
  let received = ''
  socket.on('error', (error) => bot.errors.push(error.message))
  socket.once('secureConnect', send)
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    const headEnds = received.indexOf('\r\n\r\n')
    if (headEnds < 0) return
    const head = received.slice(0, headEnds)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    const whole = headEnds + 4 + length
    if (received.length < whole) return
    bot.answers.push({ status: Number(head.slice(9, 12)), head, body: JSON.parse(received.slice(headEnds + 4, whole)) })
    received = received.slice(whole)
    if (!/connection: close/i.test(head)) send()
  })
  return bot
}

describe('stopping a server under load', function () {
  this.timeout(300_000)
  let home: { home: string; remove(): Promise<void> }
  let server: RunningCommand
  let url = ''

  beforeEach(async () => {
    home = await makeHome()
    await keepDevnet(home.home)
    server = sluice(home.home, 'start')
    ;[, url = ''] = await server.until(/Sluice is ready at (https:\S+)/)
  })
  afterEach(async () => {
    server.child.kill('SIGKILL')
    await server.ended
    await home.remove()
  })

  it('answers every request on 66 busy kept connections, says that each is closed, and resets none', async () => {
    const certs = path.join(home.home, 'certs')
    const bots = Array.from({ length: count }, (_, bot) =>
      startBot(url, certs, bot % 6 === 0 ? (index) => trade(`${bot}-${index}`) : () => quote),
    )
    while (bots.some(({ answers }) => answers.length < 2)) await new Promise((resolve) => setTimeout(resolve, 20))
    server.child.kill('SIGTERM')
    await Promise.all(bots.map(({ closed }) => closed))
    expect(await server.ended).to.deep.equal({ code: 0, signal: null })
    expect(bots.flatMap(({ errors }) => errors)).to.deep.equal([])
    expect(bots.map(({ sent, answers }) => sent - answers.length)).to.deep.equal(bots.map(() => 0))
    for (const { answers } of bots) expect(answers.at(-1)?.head).to.match(/connection: close/i)
    for (const answer of bots.flatMap(({ answers }) => answers)) if (answer.status !== 200) expectRefusal(answer)
  })

  it('refuses a request on a kept connection that comes later, and closes idle ones without a reset', async () => {
    const bots = [0, 1].map(() => startBot(url, path.join(home.home, 'certs'), (index) => (index === 0 ? quote : '')))
    while (bots.some(({ answers }) => answers.length === 0)) await new Promise((resolve) => setTimeout(resolve, 20))
    server.child.kill('SIGTERM')
    await server.until(/finishing what is under way/)
    bots[0]?.socket.write(trade('late'))
    await Promise.all(bots.map(({ closed }) => closed))
    expect(bots.flatMap(({ errors }) => errors)).to.deep.equal([])
    expect(bots.map(({ answers }) => answers.length)).to.deep.equal([2, 1])
    const late = bots[0]?.answers.at(-1)
    expect(late?.head).to.match(/connection: close/i)
    if (late) expectRefusal(late)
    expect(await server.ended).to.deep.equal({ code: 0, signal: null })
  })
})

function expectRefusal({ status, head, body }: ReceivedAnswer): void {
  expect(`${status} ${body.name}`).to.equal('503 OVERLOADED')
  expect(body.message).to.match(/stopping.*nothing was done/)
  expect(head).to.match(/retry-after: \d/i)
}
