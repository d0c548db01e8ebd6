import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { acceptedFormat, createStreamedAnswers } from '../../core/http/streamed-answers.ts'
import { RequestState } from '../../core/http/request.ts'
import type { Connection } from '../../core/http/connections.ts'
import { until } from '../transactions/site.ts'

describe('the header Accept', () => {
  const formatOf = (accept: string, method = 'GET') => acceptedFormat({ method, headers: { accept } })

  it('asks for NDJSON or CSV by its name', () => {
    expect(formatOf('text/csv')).to.equal('csv')
    expect(formatOf('application/x-ndjson')).to.equal('ndjson')
    expect(formatOf('Text/CSV; charset=utf-8, */*;q=0.1')).to.equal('csv')
    expect(formatOf('text/csv;q=0.5, application/x-ndjson;q=0.6')).to.equal('ndjson')
    expect(formatOf('application/json;q=0.2, text/csv')).to.equal('csv')
  })

  it('asks for JSON by anything else', () => {
    for (const accept of [
      '',
      '*/*',
      'text/*',
      'application/json',
      'text/csv;q=0',
      'application/json, text/csv',
      'text/csv;q=x',
      ',;=',
      'image/png',
    ])
      expect(formatOf(accept), accept).to.equal(undefined)
    expect(formatOf('text/csv', 'HEAD')).to.equal(undefined)
  })
})

describe('an answer that is streamed', () => {
  let server: http.Server
  let respond: (req: IncomingMessage, res: ServerResponse) => Promise<void>
  let changed: (changes: readonly { key: string }[]) => void = () => {}
  let warnings = 0
  let streamed: ReturnType<typeof newAnswers>
  const newAnswers = () =>
    createStreamedAnswers({
      clients: { onChange: (listener) => void (changed = listener as typeof changed) },
      log: { warn: () => void (warnings += 1) },
    })

  before(async () => {
    server = http.createServer((req, res) => void respond(req, res))
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  beforeEach(() => {
    streamed = newAnswers()
    warnings = 0
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  const stateOf = (req: IncomingMessage, res: ServerResponse, fingerprint = 'a') =>
    new RequestState({ caller: { id: 'bot', fingerprint }, client: {} } as Connection, req, res)

  /** What became of pages: how many were made, and whether they were ended. */
  function pagesOf(most = Infinity, fail?: Error) {
    const made = { pages: 0, ended: false }
    async function* text() {
      try {
        for (; made.pages < most; made.pages += 1) yield 'x'.repeat(64 * 1024)
        if (fail) throw fail
      } finally {
        made.ended = true
      }
    }
    respond = (req, res) => streamed.answer(stateOf(req, res), 'csv', async () => text())
    return made
  }

  async function open(): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo
    const [incoming] = await once(http.get({ port, host: '127.0.0.1', agent: false }), 'response')
    return incoming
  }

  function endOf(incoming: IncomingMessage): Promise<'whole' | 'broken'> {
    incoming.resume()
    return new Promise((resolve) => {
      incoming.once('end', () => resolve('whole'))
      incoming.once('error', () => resolve('broken'))
    })
  }

  it('is made no faster than it is taken, and no more once its client is gone', async () => {
    const made = pagesOf()
    const incoming = await open()
    incoming.on('error', () => {})
    let before = -1
    await until('nothing more is made', async () => {
      const same = before === made.pages
      before = made.pages
      await pause(200)
      return same
    })
    expect(made.ended).to.equal(false)
    incoming.destroy()
    await until('it ends', async () => made.ended)
    expect(made.pages - before).to.be.below(3)
    expect(warnings).to.equal(0)
  })

  it('is whole for its client where it has an end, and broken where it fails', async () => {
    pagesOf(3)
    expect(await endOf(await open())).to.equal('whole')
    pagesOf(3, new Error('the disk is gone'))
    expect(await endOf(await open())).to.equal('broken')
    expect(warnings).to.equal(1)
  })

  it('is cut off where the rights of clients change, and where the server stops', async () => {
    for (const cutOff of [() => changed([{ key: 'bot' }]), () => streamed.end()]) {
      const made = pagesOf()
      const incoming = await open()
      changed([{ key: 'limits.bot' }])
      const ended = endOf(incoming)
      cutOff()
      expect(await ended).to.equal('broken')
      await until('it ends', async () => made.ended)
    }
    expect(warnings).to.equal(0)
  })

  it('gives its room back where it waits behind another one, and the connection is closed', async () => {
    const made: { ended: boolean }[] = []
    let refused = 0
    respond = (req, res) => {
      const page = { ended: false }
      async function* text() {
        try {
          for (;;) yield 'x'.repeat(64 * 1024)
        } finally {
          page.ended = true
        }
      }
      return streamed
        .answer(stateOf(req, res), 'ndjson', async () => {
          made.push(page)
          return text()
        })
        .catch(() => {
          refused += 1
          res.end()
        })
    }
    const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(4))
    await until('four answers wait', async () => made.length === 4)
    socket.destroy()
    await until('all end', async () => made.every(({ ended }) => ended))
    await pause(50)
    const again = await open()
    again.destroy()
    expect(refused).to.equal(0)
  })

  it('is refused above as many as a certificate may have, and as many as the server sends', async () => {
    pagesOf()
    const refusals: unknown[] = []
    const answering = respond
    let fingerprint = 'a'
    respond = (req, res) => {
      const text = async () =>
        (async function* () {
          for (;;) yield 'x'.repeat(64 * 1024)
        })()
      return streamed.answer(stateOf(req, res, fingerprint), 'csv', text).catch((error: unknown) => {
        refusals.push(error)
        res.end()
      })
    }
    expect(answering).to.not.equal(respond)
    const opened = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      fingerprint = name
      for (let index = 0; index < (name === 'e' ? 1 : 5); index += 1) opened.push(await open())
    }
    const shown = refusals.map((error) => error instanceof SluiceError && `${error.http} ${error.name} ${error.bound}`)
    expect(shown).to.deep.equal([...Array.from({ length: 4 }, () => '429 RATE_LIMIT clientStreams'), '503 OVERLOADED streams'])
    streamed.end()
    await Promise.all(opened.map(endOf))
  })
})
