import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { expect } from 'chai'
import { AnswerDelivery } from '../../core/http/answer-delivery.ts'
import { until } from '../transactions/site.ts'

const unacknowledgedMs = 200
const kept = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
/** Requests after whose answer the server ends the connection. */
const ended = { 'Connection: close': kept.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), 'HTTP/1.0': kept.replace('1.1', '1.0') }

describe('whether an answer reached its caller', () => {
  let server: Server
  let answerBytes = 10
  const told: string[] = []
  const closedWhenTold: boolean[] = []
  const connections = new Set<net.Socket>()
  /** Lets the requests that wait be answered. */
  let goOn = () => {}

  beforeEach(async () => {
    told.length = 0
    closedWhenTold.length = 0
    answerBytes = 10
    const waits = new Promise<void>((resolve) => (goOn = resolve))
    server = createServer((req, res) => {
      const delivery = new AnswerDelivery(req, res)
      void delivery.delivered.then((isDelivered) => {
        told.push(isDelivered ? 'delivered' : 'lost')
        closedWhenTold.push(req.socket.destroyed)
      })
      void delivery.broken(unacknowledgedMs).then(() => told.push('broken'))
      void waits.then(() => res.end(Buffer.alloc(answerBytes)))
    }).listen(0, '127.0.0.1')
    server.on('connection', (socket) => connections.add(socket.once('close', () => connections.delete(socket))))
    await once(server, 'listening')
  })
  afterEach(() => void server.close())

  async function ask(times = 1, request = kept): Promise<net.Socket> {
    const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write(request.repeat(times))
    return socket
  }

  async function answered(request = kept): Promise<net.Socket> {
    const socket = await ask(1, request)
    goOn()
    await once(socket, 'data')
    await until('it is delivered', async () => told.includes('delivered'))
    return socket
  }

  const later = () => new Promise((resolve) => setTimeout(resolve, 2 * unacknowledgedMs))

  it('is lost where the connection is gone before it', async () => {
    const socket = await ask(2)
    await later()
    socket.destroy()
    await until('both are lost', async () => told.length === 2)
    goOn()
    await later()
    expect(told).to.deep.equal(['lost', 'lost'])
  })

  it('is lost as soon as its client has ended the connection, before that is closed', async () => {
    const socket = await ask()
    await later()
    socket.end()
    await until('it is lost', async () => told.length === 1)
    expect({ told, closedWhenTold }).to.deep.equal({ told: ['lost'], closedWhenTold: [false] })
  })

  it('is delivered where its client takes it and stays, ends the connection or asks for more', async () => {
    const socket = await answered()
    await later()
    const other = await answered()
    other.end()
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until('three are', async () => told.length === 3)
    // It has read the first answer, so of that nothing more is told.
    socket.resetAndDestroy()
    await until('the second is broken', async () => told.includes('broken'))
    expect(told).to.deep.equal(['delivered', 'delivered', 'delivered', 'broken'])
  })

  for (const [how, request] of Object.entries({ 'that is kept': kept, ...ended })) {
    const connection = `a connection ${how.startsWith('that') ? how : `by ${how}`}`

    it(`is broken where ${connection} is reset after it was written`, async () => {
      const socket = await answered(request)
      socket.resetAndDestroy()
      await until('it is told', async () => told.includes('broken'))
      expect(told).to.deep.equal(['delivered', 'broken'])
    })

    it(`is broken where the other end of ${connection} does not acknowledge it`, async function () {
      if (process.platform !== 'linux') this.skip()
      answerBytes = 2 << 20
      const socket = await ask(1, request)
      socket.pause()
      goOn()
      await until('it is told', async () => told.includes('broken'))
      expect(told).to.deep.equal(['delivered', 'broken'])
      socket.destroy()
    })
  }

  for (const [how, request] of Object.entries(ended))
    it(`is delivered where its client takes it and leaves the connection to the server, by ${how}, which keeps none`, async () => {
      const socket = await ask(1, request)
      goOn()
      await once(socket.resume(), 'end')
      await later()
      expect(told).to.deep.equal(['delivered'])
      expect(connections.size).to.equal(0)
    })
})
