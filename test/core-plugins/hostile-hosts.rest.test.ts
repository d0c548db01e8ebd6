// What contained plugins of the table do at run time, all beside one server: each is its own trouble and nobody else's.
import { realpathSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { oneChain } from '../http/shared-server.ts'
import { harmed, harmsOf, plantHarms } from './harmed-hosts.ts'
import { hangingLater } from './host-harms.ts'

describe('a hostile plugin in its host', function () {
  this.timeout(300_000)
  let folder: string
  let server: TestServer | undefined
  const { begin, expectHarm, expectHarmByEvent, expectNothingSigned } = harmsOf(() => server!.client)

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-hostile-'))
    const node = realpathSync(process.execPath)
    const target = { pid: process.pid, node, home: folder, host: '127.0.0.1', port: 8545, code: '/sluice/dist', plugins: '/plugins' }
    plantHarms(folder, target, hangingLater)
    server = await startServer({ plugins: [folder], settings: { ...oneChain.settings, 'limits.pluginStallSeconds': 3 } })
    begin()
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  for (const each of harmed.filter(({ harm }) => harm.at !== 'fill'))
    it(`harms itself alone where it ${each.harm.what} (${each.name})`, () => expectHarm(each))

  it('has had nothing signed', () => expectNothingSigned())

  for (const each of harmed.filter(({ harm }) => harm.at === 'fill'))
    it(`harms itself alone where it ${each.harm.what} (${each.name})`, () => expectHarm(each))

  for (const [name, { what, ends }] of Object.entries(hangingLater))
    it(`harms itself alone where it ${what}`, () => expectHarmByEvent(name, ends))

  it('does not keep the server from stopping where it hangs at that', async () => {
    await server?.stop()
    server = undefined
  })
})
