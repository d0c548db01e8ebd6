import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { version } from '../../core/base/layout.ts'
import { askService, startInService } from '../../core/plugins/isolate/service-client.ts'
import { users } from '../../core/plugins/isolate/service.ts'
import { readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import type { Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { tryAll, type Target } from '../fixtures/plugins/contained/spy/tries.ts'
import { local, oneChain } from '../http/shared-server.ts'
import { fixtures } from './fixtures.ts'
import { startPluginHost, type PluginHost } from './plugin-host.ts'

/** Amounts of DAI by which the fixture does what it does; see its `harms`. */
const [looksAround, exits, takesMemory, leavesProcess] = [1, 2, 4, 6].map((raw) => `0.00000000000000000${raw}`)

describe('a plugin of a third party in the plugin-host service', function () {
  this.timeout(400_000)
  let folder: string
  let socket: string
  let copies: string
  let target: Target
  let listeners: Server[]
  let service: PluginHost
  let server: TestServer
  let client: Client

  before(async function () {
    // The service gives each process a user of its own.
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-service-'))
    await chmod(folder, 0o755)
    const [data, plugins] = [path.join(folder, 'data'), path.join(folder, 'plugins')]
    socket = path.join(folder, 'service')
    copies = path.join(data, 'plugins')
    await mkdir(data, { mode: 0o700 })
    await symlink(path.join(tmpdir(), `sluice-devnet-${process.getuid()}`), path.join(data, 'devnet'))
    await cp(path.join(fixtures, 'contained'), plugins, { recursive: true })
    const unixSocket = path.join(folder, 'socket')
    listeners = [createServer().listen(0, '127.0.0.1'), createServer().listen(unixSocket)]
    await Promise.all(listeners.map((each) => once(each, 'listening')))
    const address = listeners[0]?.address()
    const tcpPort = typeof address === 'object' && address ? address.port : 0
    target = { file: path.join(folder, 'secret'), folder, pid: process.pid, tcpPort, unixSocket }
    await writeFile(target.file, 'a private key', { mode: 0o600 })
    await writeFile(path.join(plugins, 'spy', 'target.json'), JSON.stringify(target))
    service = await startPluginHost(socket, copies)
    server = await startServer({
      plugins: [plugins],
      settings: { ...oneChain.settings, 'data.dir': data, 'plugins.hostSocket': socket },
    })
    client = server.client
  })
  after(async () => {
    await server?.stop()
    await service?.kill()
    for (const each of listeners ?? []) each.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  const price = (connector: string, amount = '100', more = {}) =>
    client.get('/amm/price', { ...local, connector, base: 'DAI', quote: 'WETH', amount, side: 'SELL', ...more })
  const deathsOf = async (name: string): Promise<number> =>
    (await client.get('/plugins')).body.find((each: { name: string }) => each.name === name).host.deaths
  const sha256Of = (name: string) => readPluginFiles(path.join(folder, 'plugins', name)).sha256
  /** Users of the service with processes, and how many. */
  const busyUsers = () => [...service.processesByUser()].filter(([user]) => user >= users.first && user < users.first + users.count)
  async function isBack(connector: string): Promise<void> {
    for (;;) {
      const { status, body } = await price(connector)
      if (status === 200) return
      expect(body.errorCode, JSON.stringify(body)).to.be.oneOf([1010, 1026])
      await setTimeout(100)
    }
  }

  it('quotes what the same exchange quotes in the server, each as a user of its own', async () => {
    await price('plain-swap', '99')
    const [theirs, ours] = [await price('plain-swap'), await price('uniswap', '100', { version: 'v2' })]
    expect(theirs.status, theirs.text).to.equal(200)
    expect(theirs.body).to.include({ source: 'memory', expectedAmount: ours.body.expectedAmount })
    expect(busyUsers().map(([, processes]) => processes)).to.deep.equal([1, 1])
  })

  it('sees and reaches nothing but the public files of its container, where the same code in the server gets everything', async () => {
    const inServer = await tryAll(target)
    for (const [what, got] of Object.entries(inServer)) expect(got, what).to.match(/^got /)
    const { body } = await price('spy', looksAround)
    expect(body.name, JSON.stringify(body)).to.equal('PRICE_FAILED')
    const { 'list the root folder': _, ...inHost }: Record<string, string> = body.details
    expect(Object.keys(inHost)).to.deep.equal(Object.keys(inServer).filter((what) => what !== 'list the root folder'))
    for (const [what, got] of Object.entries(inHost)) expect(got, what).to.match(/^error: /)
  })

  for (const { title, amount } of [
    { title: 'ends its process', amount: exits },
    { title: 'takes all memory', amount: takesMemory },
    { title: 'leaves a process behind', amount: leavesProcess },
  ])
    it(`starts again alone where it ${title}, with nothing left of it`, async () => {
      const before = await deathsOf('spy')
      void price('spy', amount)
      while ((await deathsOf('spy')) === before) await setTimeout(100)
      await isBack('spy')
      expect(await deathsOf('plain-swap')).to.equal(0)
      while (busyUsers().length > 2) await setTimeout(100)
      expect(busyUsers().map(([, processes]) => processes)).to.deep.equal([1, 1])
    })

  it('refuses whatever is no request, and what is not a copy with that hash, and goes on', async () => {
    const start = (sha256: string, name: string) => ({ protocol: 1, version, start: { script: 'host', plugins: [{ sha256, name }] } })
    const forged = '0'.repeat(64)
    await mkdir(path.join(copies, forged, 'forged'), { recursive: true })
    await writeFile(path.join(copies, forged, 'forged', 'index.ts'), 'export default {}')
    for (const line of [
      '',
      'GET / HTTP/1.1',
      '[]',
      '{',
      'x'.repeat(100_000),
      '\u0000\u0001',
      JSON.stringify({ channel: '0'.repeat(32) }),
      JSON.stringify({ ...start(sha256Of('plain-swap'), 'plain-swap'), extra: 1 }),
      JSON.stringify(start('../../../etc', 'passwd')),
      JSON.stringify(start(sha256Of('plain-swap'), '../plain-swap')),
      `${JSON.stringify({ protocol: 1, version })}\nmore`,
    ])
      expect(await answerTo(`${line}\n`), line.slice(0, 50)).to.equal('')
    expect(await answerTo(`${JSON.stringify({ protocol: 1, version: '0.0.0' })}\n`)).to.match(/"refused":"the service is of Sluice/)
    expect(await answerTo(`${JSON.stringify(start(forged, 'forged'))}\n`)).to.match(/"refused":"the files in .* have another SHA-256"/)
    expect(await answerTo(`${JSON.stringify(start(forged, 'absent'))}\n`)).to.match(/"refused":"it does not see /)
    expect((await askService(socket)).folder).to.equal(`${socket}.copies`)
    expect(busyUsers()).to.have.length(2)
  })

  it('has no more processes than it has users, and ends them with their connections', async () => {
    const three = await Promise.all(
      [1, 2, 3].map(() => startInService(socket, 'host', [{ sha256: sha256Of('plain-swap'), name: 'plain-swap' }])),
    )
    while (busyUsers().length < 5) await setTimeout(50)
    expect(busyUsers()).to.have.length(5)
    for (const each of three) each.kill()
    await Promise.all(three.map((each) => each.ended))
    expect(busyUsers()).to.have.length(2)
  })

  it('comes back after the service does, and gets no blame', async () => {
    for (let times = 0; times < 6; times += 1) {
      await service.kill()
      // What was answered before the end is noticed is right.
      let answer = await price('plain-swap')
      for (const until = Date.now() + 180_000; answer.status === 200 && Date.now() < until;) answer = await price('plain-swap')
      expect(answer.body.errorCode, answer.text).to.be.oneOf([1010, 1026])
      service = await startPluginHost(socket, copies)
      await isBack('plain-swap')
    }
    await isBack('spy')
  })

  /** What the service says to these bytes until it ends the connection. */
  const answerTo = (bytes: string) =>
    new Promise<string>((resolve, reject) => {
      const connection = connect(socket)
      let said = ''
      connection.setEncoding('utf8').on('data', (text: string) => (said += text))
      connection
        .on('close', () => resolve(said))
        .on('error', (error) => ('code' in error && error.code === 'ECONNRESET' ? undefined : reject(error)))
      connection.write(bytes)
    })
})
