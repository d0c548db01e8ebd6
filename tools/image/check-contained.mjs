import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { parse } from 'yaml'
import { check, eventually } from './run.mjs'
import { runCommand, startPluginHost, startServer } from './server.mjs'
import { harmed, harmsOf, plantHarms } from '../../test/core-plugins/harmed-hosts.ts'
import { hangingLater, hangingStarts } from '../../test/core-plugins/host-harms.ts'
import { harmlessFixtures, plantFixture, refusedFixtures, refusedInHosts } from '../../test/core-plugins/hostile-plugins.ts'

const fixtures = fileURLToPath(new URL('../../test/fixtures/plugins/contained/', import.meta.url))
const root = fileURLToPath(new URL('../../', import.meta.url))
const compose = parse(readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'), { merge: true }).services['plugin-host']
const local = { chain: 'ethereum', network: 'local' }
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const hostSocket = '/run/plugin-host/socket'
/** What the fixture `spy` does for these amounts of DAI. */
const [looksAround, exits] = ['0.000000000000000001', '0.000000000000000002']

/** Plugins of third parties as the Compose file runs them: where containers may make no namespaces, in the plugin-host service. */
export async function checkContained({ images: { devnet: image }, running, newFolder, isShort }) {
  console.log('\nPlugins of third parties, contained')
  const [certs, data, operator, plugins] = ['certs', 'data', 'operator', 'plugins'].map((name) => newFolder(`contained-${name}`))
  // As the engine makes them from the image's folders.
  const copies = newFolder('contained-copies', { mode: 0o711 })
  const socket = newFolder('contained-socket', { uid: 0 })
  cpSync(fixtures, plugins, { recursive: true })
  const secret = path.join(data, 'secret')
  writeFileSync(secret, 'a private key')
  const target = { file: '/app/data/secret', folder: '/app/data', pid: 1, tcpPort: 0, unixSocket: hostSocket }
  cpSync(path.join(root, 'conf'), path.join(operator, 'conf'), { recursive: true })
  const volumes = {
    '/app/certs': { from: certs },
    '/app/data': { from: data },
    '/app/data/plugins': { from: copies },
    '/app/plugins': { from: plugins, mode: 'ro' },
    '/run/plugin-host': { from: socket },
  }
  const start = (environment) =>
    startServer({
      image,
      running,
      bot: certs,
      volumes: { ...volumes, '/app/sluice.lock': { from: path.join(operator, 'sluice.lock'), mode: 'ro' } },
      environment,
    })
  const startService = () =>
    startPluginHost({
      image,
      running,
      compose,
      volumes: { '/plugins': { from: copies, mode: 'ro' }, '/run/plugin-host': { from: socket } },
    })
  const allow = (name, environment = { SLUICE_PLUGINS_HOST_SOCKET: hostSocket }) =>
    runCommand(
      {
        image,
        running,
        volumes: { ...volumes, '/app/operator': { from: operator } },
        environment: { SLUICE_HOME: '/app', SLUICE_CONF: '/app/operator/conf', ...environment },
      },
      ['plugin', 'allow', name, '--yes'],
    )
  const inSpy = (client, amount) =>
    client.get('/amm/price', { ...local, connector: 'spy', base: 'DAI', quote: 'WETH', amount, side: 'SELL' })
  const entryOf = async (client, name) => (await client.get('/plugins')).body.find((each) => each.name === name)
  const loaded = (client, name, output) =>
    eventually(async () => ((await entryOf(client, name)).state === 'loaded' ? entryOf(client, name) : undefined), 120, output)
  const works = (client, name, output) =>
    eventually(
      async () => {
        const { status } = await client.get('/amm/price', {
          ...local,
          connector: name,
          base: 'DAI',
          quote: 'WETH',
          amount: '100',
          side: 'SELL',
        })
        return status === 200
      },
      120,
      output,
    )

  let service = await startService()

  await check('the service runs as root with three capabilities, and without network', () => {
    expect(compose.cap_drop).to.deep.equal(['ALL'])
    const main = service.processes().at(-1)
    // SETGID, SETUID, SETPCAP: bits 6, 7 and 8.
    expect([main.user, main.capabilities, main.newPrivileges]).to.deep.equal(['0', '00000000000001c0', '1'])
  })

  await check('`sluice plugin allow` reads a plugin contained, before anything is recorded', async () => {
    writeFileSync(path.join(plugins, 'spy', 'target.json'), JSON.stringify(target))
    for (const name of ['plain-swap', 'spy']) {
      const { code, output } = await allow(name)
      expect(code, output).to.equal(0)
      expect(output).to.include('contained, without files, network and environment').and.include(`${name} is allowed`)
    }
  })

  let server = await start({ SLUICE_PLUGINS_HOST_SOCKET: hostSocket })
  let client
  await check('loads it from the copy that was allowed, and each runs as a user of its own without any capability', async () => {
    client = await server.ready()
    for (const name of ['plain-swap', 'spy'])
      expect(await loaded(client, name, server.container.output)).to.include({ tier: 'contained', allowedBy: 'operator' })
    expect(server.container.output()).to.include(`"containedBy":"the plugin-host service at ${hostSocket}"`)
    // What starts and ends them may be there for a moment more.
    const hosts = await eventually(() => {
      const found = service.processes().filter(({ user }) => user !== undefined && user !== '0')
      return found.length === 2 && found
    }, 60)
    expect(hosts.map(({ capabilities, newPrivileges }) => [capabilities, newPrivileges])).to.deep.equal([
      ['0000000000000000', '1'],
      ['0000000000000000', '1'],
    ])
    expect(new Set(hosts.map(({ user }) => user)).size).to.equal(2)
  })
  if (client === undefined) return

  await check('it quotes and trades', async () => {
    await works(client, 'plain-swap', server.container.output)
    const approval = await client.post('/evm/approve', { ...local, address, spender: 'plain-swap', token: 'WETH', amount: '0.1' })
    expect(approval.status, approval.text).to.equal(200)
    await mined(client, approval.body.txHash)
    const swap = { ...local, connector: 'plain-swap', base: 'WETH', quote: 'USDC', amount: '0.1', side: 'SELL' }
    // The first quote after a block waits for what happened in it, and blocks come by the clock.
    const quote = await eventually(async () => {
      const answer = await client.get('/amm/price', swap)
      expect(answer.status, answer.text).to.equal(200)
      return answer.body.source === 'memory' && answer
    }, 60)
    const trade = await client.post('/amm/trade', { ...swap, address })
    expect(trade.status, trade.text).to.equal(200)
    const { fill } = await mined(client, trade.body.txHash)
    expect(fill).to.include({ amountIn: quote.body.amount, amountOut: quote.body.expectedAmount })
  })

  await check('it sees and reaches nothing: no file, environment, network, other process or plugin', async () => {
    await works(client, 'spy', server.container.output)
    const { body, text } = await inSpy(client, looksAround)
    expect(body.name, text).to.equal('PRICE_FAILED')
    const { 'list the root folder': _, ...got } = body.details
    expect(Object.keys(got)).to.have.length.above(8)
    for (const [what, outcome] of Object.entries(got)) expect(outcome, what).to.match(/^error: /)
  })

  await check('it is started again where it ends, and others are not disturbed', async () => {
    void inSpy(client, exits)
    await eventually(async () => (await entryOf(client, 'spy')).host.deaths > 0, 120)
    await works(client, 'plain-swap', server.container.output)
    await works(client, 'spy', server.container.output)
    expect((await entryOf(client, 'plain-swap')).host.deaths).to.equal(0)
  })

  await check('the service can be stopped and started again: its plugins are away and come back, and nothing else', async () => {
    await service.kill()
    const uniswap = { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }
    expect((await client.get('/amm/price', uniswap)).status).to.equal(200)
    expect((await inSpy(client, '100')).body.errorCode).to.equal(1010)
    service = await startService()
    await works(client, 'plain-swap', server.container.output)
  })
  client.close()
  await server.stop()

  if (!isShort) await checkHostile({ start, plugins, image })
  await service.kill()

  await check('without service and namespaces it is refused, with what to do', async () => {
    server = await start({})
    client = await server.ready()
    const entry = await eventually(async () => {
      const one = await entryOf(client, 'plain-swap')
      return one.state === 'refused' && one
    }, 120)
    expect(entry.reason).to.include('It cannot be contained on this system')
    const { code, output } = await runCommand(
      { image, running, volumes: { ...volumes, '/app/sluice.lock': { from: path.join(operator, 'sluice.lock'), mode: 'ro' } } },
      ['doctor'],
    )
    expect([code, output]).to.deep.equal([1, output])
    expect(output).to.include('plugins.hostSocket').and.include('plugins.weakContainment')
    client.close()
    await server.stop()
  })

  await check('with plugins.weakContainment it runs all the same, and the start says so', async () => {
    server = await start({ SLUICE_PLUGINS_WEAK_CONTAINMENT: 'true' })
    client = await server.ready()
    await loaded(client, 'plain-swap', server.container.output)
    await works(client, 'plain-swap', server.container.output)
    expect(server.container.output()).to.include('host of a plugin is not contained (plugins.weakContainment)')
    client.close()
    await server.stop()
  })
}

/** The table of hostile plugins, all in one folder beside one server: test/core-plugins has it for namespaces. */
async function checkHostile({ start, plugins, image }) {
  console.log('\nHostile plugins in the service')
  const refused = { ...refusedFixtures, ...refusedInHosts }
  for (const [name, fixture] of Object.entries({ ...refused, ...harmlessFixtures })) plantFixture(plugins, name, fixture)
  const code = '/app/node_modules/sluice/dist'
  const target = { pid: 1, node: '/usr/local/bin/node', home: '/app', host: '127.0.0.1', port: 8545, code, plugins: '/plugins' }
  const harmful = plantHarms(plugins, target, { ...hangingLater, ...hangingStarts })
  const server = await start({
    SLUICE_PLUGINS_HOST_SOCKET: hostSocket,
    // Endless loops take as much processor time as they are given.
    SLUICE_LIMITS_PLUGIN_LOAD_SECONDS: 5,
    SLUICE_LIMITS_PLUGIN_STALL_SECONDS: 3,
  })
  const client = await server.ready()
  const entries = async () => (await client.get('/plugins')).body
  await eventually(async () => (await entries()).every(({ state }) => state !== 'pending'), 300, server.container.output)
  const found = new Map((await entries()).map((each) => [each.name, each]))

  for (const [name, { what, step, reason }] of Object.entries(refused))
    await check(`fails with step, reason and remedy where it ${what}`, () => {
      const { state, reason: said } = found.get(name)
      expect(state, said).to.equal('refused')
      const [, at, why] = /^(\w+): (.+\. [A-Z].+)$/s.exec(said) ?? []
      expect(at, said).to.equal(step)
      expect(why).to.match(reason)
    })
  await check('does not keep others from being loaded', () => {
    for (const name of ['plain-swap', 'uniswap', ...Object.keys(harmlessFixtures), ...harmful])
      expect(found.get(name).state, name).to.equal('loaded')
  })

  const { begin, expectHarm, expectHarmByEvent, expectHarmAtStart } = harmsOf(() => client, { inService: true })
  begin()
  for (const [name, { what, ends }] of Object.entries(hangingStarts))
    await check(`harms itself alone where it ${what}`, () => expectHarmAtStart(name, ends))
  for (const each of harmed) await check(`harms itself alone where it ${each.harm.what} (${each.name})`, () => expectHarm(each))
  for (const [name, { what, ends }] of Object.entries(hangingLater))
    await check(`harms itself alone where it ${what}`, () => expectHarmByEvent(name, ends))
  await check('does not keep the server from stopping where it hangs at that', async () => {
    client.close()
    server.container.signal(image.config.StopSignal)
    await eventually(() => server.container.hasEnded(), 60, server.container.output)
    expect(await server.container.ended).to.deep.equal({ code: 0, signal: null })
  })
  for (const name of [...Object.keys({ ...refused, ...harmlessFixtures }), ...harmful])
    rmSync(path.join(plugins, name), { recursive: true })
}

async function mined(client, txHash) {
  return eventually(async () => {
    const { body } = await client.get('/network/poll', { ...local, txHash })
    return body.txStatus === 1 && body
  }, 120)
}
