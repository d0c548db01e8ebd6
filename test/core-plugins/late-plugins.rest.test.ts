import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { eventually } from '../start/command.ts'
import { goodPlugins } from './fixtures.ts'
import { plantPlugin } from './plant-plugin.ts'

describe('a plugin that the start had no time for', function () {
  this.timeout(400_000)
  let folder: string
  let server: TestServer | undefined
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sluice-late-')))
  })
  afterEach(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('keeps a required network from being ready, and is loaded while the server runs', async () => {
    const slow = path.join(folder, 'slow')
    writeFileSync(slow, '')
    const endless = `import { existsSync } from 'node:fs'\nwhile (existsSync(${JSON.stringify(slow)})) {}`
    const chain = plantPlugin(folder, 'fixture-chain', 'late-chain', endless)
    const connector = plantPlugin(folder, 'fixture-swap', 'late-swap', '')
    const entry = path.join(connector, 'index.ts')
    writeFileSync(entry, readFileSync(entry, 'utf8').replaceAll('fixture-chain', 'late-chain'))
    server = await startServer({
      settings: { 'devnet.enabled': false, 'plugins.folders': [chain, connector], 'limits.pluginLoadSeconds': 3 },
      conf: { 'chains/late-chain.yml': { mainnet: { required: true } } },
    })
    const { client } = server
    const ready = await client.get('/health/ready')
    expect(ready.status).to.equal(503)
    expect(ready.body.failing).to.have.length(1)
    expect(ready.body.failing[0].part).to.equal('late-chain/mainnet')
    expect(ready.body.failing[0].reason).to.match(/plugin was refused.*processor time/)

    rmSync(slow)
    await eventually(async () => (await client.get('/health/ready')).status === 200, 'the late chain is loaded')
    expect((await client.get('/connectors')).body).to.have.property('late-swap')
    const plugins = (await client.get('/plugins')).body
    expect(plugins.map(({ name, state }: { name: string; state: string }) => [name, state])).to.have.deep.members([
      ['late-chain', 'loaded'],
      ['late-swap', 'loaded'],
    ])
    const status = await client.get('/network/status', { chain: 'late-chain', network: 'mainnet' })
    expect(status.body[0].currentBlockNumber).to.be.greaterThan(0)
  })

  it('keeps a required network from being ready where there is no plugin at all, unless the operator disabled it', async () => {
    const conf = { 'chains/nowhere.yml': { mainnet: { required: true }, testnet: { required: true, enabled: false } } }
    const settings = { 'devnet.enabled': false, 'plugins.folders': [goodPlugins] }
    server = await startServer({ settings, conf })
    const { body } = await server.client.get('/health/ready')
    expect(body.failing).to.deep.equal([{ part: 'nowhere/mainnet', reason: 'there is no plugin for nowhere' }])
    await server.stop()
    server = await startServer({ settings: { ...settings, 'plugins.disabled': ['nowhere'] }, conf })
    expect((await server.client.get('/health/ready')).status).to.equal(200)
  })
})
