import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { createResponseBatcher } from '../../core/http/responses.ts'

const three = { 'Content-Length': 3 }

/** The clock stands still meanwhile: a busy machine may hold up the process between any two lines. */
function inNoTime(act: () => void): void {
  const now = performance.now()
  Object.defineProperty(performance, 'now', { value: () => now, configurable: true })
  try {
    act()
  } finally {
    Reflect.deleteProperty(performance, 'now')
  }
}

describe('responses of one turn of the event loop', () => {
  let server: Server
  before(async () => {
    server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => server.close())

  /** A request that waits for its answer, and what its client hears. */
  async function asked(): Promise<{ response: ServerResponse; heard: Promise<string> }> {
    const { port } = server.address() as AddressInfo
    const request = get({ port, host: '127.0.0.1', agent: false })
    const heard = once(request, 'response').then(async ([incoming]: IncomingMessage[]) => {
      if (!incoming) throw new Error('There is an answer.')
      return `${incoming.statusCode} ${await textOf(incoming)}`
    })
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
    return { response, heard }
  }

  it('go out together at its end, with their status set at once', async () => {
    const [one, two] = [await asked(), await asked()]
    const send = createResponseBatcher()
    inNoTime(() => {
      send(one.response, 200, three, 'one')
      send(two.response, 503, three, 'two')
    })
    expect([one.response.headersSent, two.response.headersSent, two.response.statusCode]).to.deep.equal([false, false, 503])
    await turn()
    expect([one.response.headersSent, two.response.headersSent]).to.deep.equal([true, true])
    expect(await Promise.all([one.heard, two.heard])).to.deep.equal(['200 one', '503 two'])
  })

  it('do not wait for the end of a long turn', async () => {
    const [one, two] = [await asked(), await asked()]
    const send = createResponseBatcher()
    send(one.response, 200, three, 'one')
    const until = performance.now() + 2
    while (performance.now() < until);
    send(two.response, 200, three, 'two')
    expect([one.response.headersSent, two.response.headersSent]).to.deep.equal([true, true])
    expect(await Promise.all([one.heard, two.heard])).to.deep.equal(['200 one', '200 two'])
  })

  it('give way if the request has another answer meanwhile', async () => {
    const [one, two] = [await asked(), await asked()]
    const send = createResponseBatcher()
    inNoTime(() => {
      send(one.response, 200, three, 'one')
      send(two.response, 200, three, 'two')
    })
    one.response.writeHead(500, three).end('bad')
    expect(await Promise.all([one.heard, two.heard])).to.deep.equal(['500 bad', '200 two'])
  })
})
