import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { askService, ServiceAwayError, startInService } from '../../core/plugins/isolate/service-client.ts'

const plugins = [{ sha256: 'a'.repeat(64), name: 'any' }]
const [channel, started] = [JSON.stringify({ channel: 'b'.repeat(32) }), JSON.stringify({ started: true })]

describe("the server's side of the plugin-host service", () => {
  let folder: string
  let address: string
  let fake: Server
  let answer: (socket: Socket, line: string) => void

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-service-'))
    address = path.join(folder, 'socket')
    fake = createServer((socket) => {
      socket.on('error', () => {}).once('data', (chunk) => answer(socket, chunk.toString()))
    }).listen(address)
    await once(fake, 'listening')
  })
  afterEach(async () => {
    fake.close()
    await rm(folder, { recursive: true, force: true })
  })

  const failure = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => Promise.reject(new Error('it was believed')),
      (thrown: Error) => thrown,
    )
  /** A service that answers a start, and then this. */
  const startedThen = (...lines: readonly string[]) => {
    answer = (socket, line) => {
      if (line.includes('"start"')) socket.write(`${[channel, started, ...lines].join('\n')}\n`)
    }
    return startInService(address, 'host', plugins)
  }

  for (const [what, bytes] of Object.entries({
    'no JSON': 'hello\n',
    'no known line': '{"ready":{"folder":"/a","code":"/b"},"more":1}\n',
    'a folder that is none': '{"ready":{"folder":"../a","code":"/b"}}\n',
    'another answer': `${channel}\n`,
    'a line without end': 'x'.repeat(1_000_000),
    'more than it was asked for': `${started}\n`.repeat(10_000),
  }))
    it(`does not believe a service that says ${what}`, async () => {
      answer = (socket) => void socket.write(bytes)
      expect(await failure(askService(address))).to.be.instanceOf(Error)
      if (what !== 'another answer') expect(await failure(startInService(address, 'host', plugins))).to.be.instanceOf(Error)
    })

  it('says what the service refused with', async () => {
    answer = (socket) => void socket.end('{"refused":"it has no room"}\n')
    expect((await failure(startInService(address, 'host', plugins))).message).to.equal('it has no room')
  })

  it('tells a service that is away from one that refuses', async () => {
    answer = (socket) => void socket.destroy()
    expect(await failure(askService(address))).to.be.instanceOf(ServiceAwayError)
    expect(await failure(startInService(`${address}-not`, 'host', plugins))).to.be.instanceOf(ServiceAwayError)
  })

  for (const [what, line] of Object.entries({
    garbage: '}{',
    'a use that is none': '{"use":{"processes":-1,"residentBytes":"all","processorMs":null}}',
    'that it was started again': started,
    'nothing for ever in one line': 'x'.repeat(1_000_000),
  }))
    it(`ends a process whose service says ${what}, as one that was lost`, async () => {
      const process = await startedThen('{"use":{"processes":1,"residentBytes":2,"processorMs":3}}', line)
      expect(await process.ended).to.include({ isLost: true })
      expect(process.use()).to.deep.equal({ processes: 1, residentBytes: 2, processorMs: 3 })
    })

  it('takes the word of the service for how a process ended', async () => {
    const process = await startedThen('{"ended":{"status":3,"reason":"it ended with the status 3","said":"Error: no"}}')
    expect(await process.ended).to.deep.equal({ status: 3, reason: 'it ended with the status 3', said: 'Error: no' })
  })
})
