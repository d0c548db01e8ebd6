import { existsSync, readdirSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { startKernel, type Kernel } from '../../core/kernel.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { whyNotContained } from '../../core/plugins/isolate/backend.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { follow, type Follower } from '../events/client.ts'
import { local, mined, oneChain, traders } from '../http/shared-server.ts'
import { fixtures } from '../core-plugins/fixtures.ts'
import { commandsInOneProcess, eventually, sluice, sluiceWith } from '../start/command.ts'

const templates = fileURLToPath(new URL('../../templates', import.meta.url))
const pair = { ...local, connector: 'plain-swap', base: 'ETH', quote: 'USDC', amount: '0.1', side: 'SELL' }
const swap = { ...pair, limitPrice: '1' }
const uniswapRouter = '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01'
const [oldRouter, newRouter] = ['0x00000000000000000000000000000000000000E5', '0x00000000000000000000000000000000000000E6']
const laneTrade = {
  ...local,
  connector: 'lane-swap',
  address: traders,
  base: 'USDC',
  quote: 'WETH',
  amount: '10',
  side: 'SELL',
  limitPrice: '0.00001',
}

describe('a plugin that is added, updated and removed while the server runs', function () {
  this.timeout(300_000)
  let folder: string
  let server: TestServer
  let client: Client
  let kernel: Kernel | undefined
  let home: string
  let events: Follower
  let lastTrade: string
  const nobodys = `0x${'ab'.repeat(32)}`
  /** sluice.lock with the first version. */
  let allowed: string
  const plugins = () => path.join(home, 'plugins')
  const entry = async (of = 'plain-swap') => (await client.get('/plugins')).body.find(({ name }: { name: string }) => name === of)
  const heard = (what: string, holds: (plugin: Record<string, unknown> | undefined) => boolean) =>
    events.hears(
      what,
      ({ topic, data }) => topic === 'plugins' && holds(data.plugins.find(({ name }: { name: string }) => name === 'plain-swap')),
    )

  const type = commandsInOneProcess()
  const say = (...args: string[]) => type({}, home, 'plugin', ...args)

  /** The same connector in a version; it is published as a packed package or a folder. */
  async function version(number: string, change: (code: string) => string = (code) => code): Promise<string> {
    const at = path.join(folder, number, 'plain-swap')
    await cp(path.join(fixtures, 'contained', 'plain-swap'), at, { recursive: true })
    const code = await readFile(path.join(at, 'index.ts'), 'utf8')
    await writeFile(path.join(at, 'index.ts'), change(code.replace("version: '0.1.0'", `version: '${number}'`)))
    return at
  }

  /** The same with a router that no other one has. */
  async function lane(number: string, router: string, name = 'lane-swap'): Promise<string> {
    const at = path.join(folder, `${name}-${number}`, name)
    await cp(path.join(fixtures, 'contained', 'plain-swap'), at, { recursive: true })
    const edit = async (file: string, from: string, to: string) =>
      writeFile(path.join(at, file), (await readFile(path.join(at, file), 'utf8')).replace(from, to))
    await edit('index.ts', "name: 'plain-swap',", `name: '${name}',`)
    await edit('index.ts', "version: '0.1.0'", `version: '${number}'`)
    await edit('defaults.yml', uniswapRouter, router)
    return at
  }
  const approve = (fields: object) => client.post('/evm/approve', { ...local, address: traders, ...fields })
  const allowance = async (spender: string, token: string): Promise<string> =>
    (await client.get('/evm/allowances', { ...local, address: traders, spender, tokenSymbols: token })).body.approvals[token]

  const nothingLeft = () => {
    expect(readdirSync(plugins()).filter((name) => name.startsWith('.'))).to.deep.equal([])
  }

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-add-'))
    const settings = { devnet: { enabled: true, port: 0 }, plugins: { disabled: oneChain.settings['plugins.disabled'] } }
    server = await startServer({
      settings: { ...oneChain.settings, 'plugins.folders': 'plugins', 'server.requestTimeoutSeconds': 10 },
      conf: { ...oneChain.conf, 'server.yml': settings },
      // So that the devnet outlives a restart.
      between: async (url) => url,
    })
    client = server.client
    home = server.settings.home
    await mkdir(plugins(), { recursive: true })
    events = await follow({ url: server.url, certsDir: server.settings.ssl.certsDir }, { topics: 'plugins' })
  })
  after(async () => {
    await events?.close()
    if (kernel) client.close()
    await kernel?.stop()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('appears before anything is recorded, and leaves nothing behind without a yes', async () => {
    const { code, said } = await say('add', await version('1.0.0'))
    expect(code, said).to.equal(1)
    expect(said).to.match(/There is no terminal to ask at/)
    const isContained = (await whyNotContained(server.settings)) === undefined
    expect(/^plain-swap 1\.0\.0, a connector, allowed\nOn ethereum\/local, where wallets/m.test(said), said).to.equal(isContained)
    expect([existsSync(path.join(home, 'sluice.lock')), readdirSync(plugins())]).to.deep.equal([false, []])
    expect(await entry()).to.equal(undefined)
  })

  it('joins the running server, which trades with it and says so', async () => {
    const { code, said } = await say('add', path.join(folder, '1.0.0', 'plain-swap'), '--yes')
    expect(code, said).to.equal(0)
    expect(said).to.match(/^plain-swap 1\.0\.0 is added, in .+ A running server takes it up by itself\.$/m)
    nothingLeft()
    allowed = await readFile(path.join(home, 'sluice.lock'), 'utf8')
    await heard('that it is loaded', (plugin) => plugin?.['state'] === 'loaded' && plugin['version'] === '1.0.0')
    expect(await entry()).to.include({ state: 'loaded', tier: 'contained', allowedBy: 'operator', version: '1.0.0' })
    const trade = await client.post('/amm/trade', { ...swap, address: traders })
    expect(trade.status, trade.text).to.equal(200)
    expect(Number((await mined(client, trade.body.txHash)).body.fill.amountIn)).to.equal(0.1)
  })

  it('has one name: another one of that name is refused, and so is what is no plugin; the old one goes on', async () => {
    const twice = await say('add', await version('1.5.0'), '--yes')
    expect(twice.code).to.equal(1)
    expect(twice.said).to.match(/There is a plugin 'plain-swap' already, in .+\n.+plugin update plain-swap/)
    const broken = await say(
      'update',
      'plain-swap',
      await version('1.6.0', (code) => `${code}\nthrow new Error('broken on purpose')`),
      '--yes',
    )
    expect(broken.code).to.equal(1)
    expect(broken.said).to.match(/broken on purpose/)
    nothingLeft()
    expect(await entry())
      .to.include({ state: 'loaded', version: '1.0.0' })
      .and.not.have.property('notTakenUp')
  })

  it('makes way for a new version at once, whose open trade core reads, and has new ones made by that', async () => {
    const rpc = rpcTo(server.rpcUrl)
    const { sha256: first } = await entry()
    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    const open = await client.post('/amm/trade', { ...swap, address: traders })
    expect(open.status, open.text).to.equal(200)

    const door = { url: server.url, certsDir: server.settings.ssl.certsDir }
    const prices = await follow(door, { ...local, topics: 'price', connector: 'plain-swap', price: 'ETH:USDC:SELL:0.1' })
    await prices.hears('a price', ({ topic, data }) => topic === 'price' && data.price !== undefined)
    const more = await version('2.0.0', (text) => text.replace('schema: singleRouterSchema', "schema: { type: 'object' }"))
    const defaults = path.join(more, 'defaults.yml')
    await writeFile(defaults, `${await readFile(defaults, 'utf8')}url: https://more.example\n`)
    const { code, said } = await say('update', 'plain-swap', more, '--yes')
    expect(code, said).to.equal(0)
    // By that the signer knows that the first version was replaced, and not removed.
    const [, since] = /allowedAt: (\S+)/.exec(allowed) ?? []
    expect(allowed).not.to.match(/since: /)
    expect(await readFile(path.join(home, 'sluice.lock'), 'utf8')).to.include(`since: ${since}`)
    expect(said)
      .to.match(/^ {2}changed {2}defaults\.yml$/m)
      .and.match(/^\+ It may ask these hosts on the web: more\.example$/m)
    await heard('the new version', (plugin) => plugin?.['version'] === '2.0.0')
    expect(await entry()).to.include({ state: 'loaded' })
    await eventually(() => prices.opened === 2, 'who follows its prices comes back to the new version')
    await prices.close()
    expect((await client.get('/amm/price', pair)).status).to.equal(200)
    expect((await client.get('/network/poll', { ...local, txHash: open.body.txHash })).body).to.include({ txStatus: 2 })

    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    expect(Number((await mined(client, open.body.txHash)).body.fill.amountIn)).to.equal(0.1)
    await eventually(() => !existsSync(path.join(server.settings.data.dir, 'plugins', first)), 'its copy is gone')
    const trade = await client.post('/amm/trade', { ...swap, address: traders })
    expect(trade.status, trade.text).to.equal(200)
    await mined(client, trade.body.txHash)
    lastTrade = trade.body.txHash
  })

  it('takes nothing new once it is removed, has its open trade followed to its end, and loses its folder', async () => {
    const rpc = rpcTo(server.rpcUrl)
    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    const open = await client.post('/amm/trade', { ...swap, address: traders })
    expect(open.status, open.text).to.equal(200)
    // The operator's command knows nothing of the devnet that the server runs.
    const { ended, printed } = sluiceWith(
      { SLUICE_DEVNET_ENABLED: 'false' },
      home,
      'plugin',
      'remove',
      'plain-swap',
      '--yes',
      '--url',
      server.url,
    )
    const { code } = await ended
    const said = printed()
    expect(code, said).to.equal(0)
    expect(said).to.match(/^What 0x2c4A\w+ may take on ethereum\/local stays: it is a spender of .*uniswap.* too\.$/m)
    expect(said).to.match(/follows its open transactions to their end.+\nIts folder .+plain-swap was deleted\.$/m)
    await eventually(async () => (await entry()) === undefined, 'its host ended: core reads the open trade')
    expect((await client.get('/amm/price', pair)).body).to.include({ name: 'UNKNOWN_CONNECTOR' })
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    expect(Number((await mined(client, open.body.txHash)).body.fill.amountIn)).to.equal(0.1)
    const { body } = await client.get('/network/poll', { ...local, connector: 'plain-swap', txHash: lastTrade })
    expect(Number(body.fill?.amountIn), JSON.stringify(body)).to.equal(0.1)
    expect((await client.get('/network/poll', { ...local, connector: 'plain-swap', txHash: nobodys })).body).to.include({
      name: 'UNKNOWN_CONNECTOR',
    })
    expect(readdirSync(plugins())).to.deep.equal([])
  })

  it('that does without a spender: what that may take is revoked, and the open trade of the old version has its fill', async () => {
    const rpc = rpcTo(server.rpcUrl)
    const routerCode = await rpc('eth_getCode', uniswapRouter, 'latest')
    for (const each of [oldRouter, newRouter]) await rpc('anvil_setCode', each, routerCode)
    const first = await say('add', await lane('1.0.0', oldRouter), '--yes')
    expect(first.code, first.said).to.equal(0)
    await eventually(async () => (await entry('lane-swap'))?.state === 'loaded', 'it is loaded')
    expect((await approve({ spender: 'lane-swap', token: 'USDC', amount: '10' })).status).to.equal(200)
    await eventually(async () => Number(await allowance(oldRouter, 'USDC')) === 10, 'it is approved')

    const lock = await readFile(path.join(home, 'sluice.lock'), 'utf8')
    const second = await lane('2.0.0', newRouter)
    const without = await say('update', 'lane-swap', second, '--url', server.url)
    expect(without.code, without.said).to.equal(1)
    expect(without.said)
      .to.match(new RegExp(`^\\+ {3}${newRouter} {2}routerAddress, and approve tokens to it$`, 'm'))
      .and.match(/There is no terminal to ask at/)
    nothingLeft()
    expect(await readFile(path.join(home, 'sluice.lock'), 'utf8')).to.equal(lock)
    expect(await entry('lane-swap')).to.include({ state: 'loaded', version: '1.0.0' })
    expect(Number(await allowance(oldRouter, 'USDC'))).to.equal(10)

    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    const open = await client.post('/amm/trade', laneTrade)
    expect(open.status, open.text).to.equal(200)
    // On its way, so that the chain does not have it when the command looks.
    expect((await approve({ spender: 'lane-swap', token: 'DAI', amount: '3' })).status).to.equal(200)
    const update = sluice(home, 'plugin', 'update', 'lane-swap', second, '--yes', '--url', server.url)
    await update.until(/Waiting until the revocation is mined, for 60 seconds at most/)
    expect((await entry('lane-swap')).version).to.equal('2.0.0')
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    const { code } = await update.ended
    expect(code, update.printed()).to.equal(0)
    expect(update.printed())
      .to.match(/Spenders that it has no more:\nRevoked USDC of 0x\w+: 0x\w+\nRevoked DAI of 0x\w+: 0x\w+\nlane-swap 2\.0\.0 is updated/)
      .and.not.contain('Not mined yet')
    for (const token of ['USDC', 'DAI']) expect(Number(await allowance(oldRouter, token)), token).to.equal(0)
    expect(Number((await mined(client, open.body.txHash)).body.fill.amountIn)).to.equal(10)

    await mined(client, (await approve({ spender: 'lane-swap', token: 'USDC', amount: '10' })).body.txHash)
    expect(Number(await allowance(newRouter, 'USDC'))).to.equal(10)
    const trade = await client.post('/amm/trade', laneTrade)
    expect(trade.status, trade.text).to.equal(200)
    expect(Number((await mined(client, trade.body.txHash)).body.fill.amountIn)).to.equal(10)
    expect(Number(await allowance(newRouter, 'USDC'))).to.equal(0)
    await mined(client, (await approve({ spender: 'lane-swap', token: 'USDC', amount: '15' })).body.txHash)
  })

  it('that shares its spender with another one leaves what it may take; the last one that goes has it revoked', async () => {
    const other = await say('add', await lane('1.0.0', newRouter, 'lane-too'), '--yes')
    expect(other.code, other.said).to.equal(0)
    const first = await say('remove', 'lane-swap', '--yes', '--url', server.url)
    expect(first.code, first.said).to.equal(0)
    expect(first.said).to.match(new RegExp(`What ${newRouter} may take on ethereum/local stays: it is a spender of lane-too too`))
    expect(Number(await allowance(newRouter, 'USDC'))).to.equal(15)
    // The operator's command knows nothing of the devnet that the server runs.
    const last = sluiceWith({ SLUICE_DEVNET_ENABLED: 'false' }, home, 'plugin', 'remove', 'lane-too', '--yes', '--url', server.url)
    const { code } = await last.ended
    expect(code, last.printed()).to.equal(0)
    expect(last.printed())
      .to.match(new RegExp(`Looked at .*${traders} on ethereum/local`, 'i'))
      .and.match(/^Revoked USDC of 0x\w+: 0x\w+$/m)
    expect(Number(await allowance(newRouter, 'USDC'))).to.equal(0)
    await eventually(async () => (await entry('lane-too')) === undefined, 'its host ended')
  })

  it('joins from a volume, whether sluice.lock or the folder comes first', async () => {
    await writeFile(path.join(home, 'sluice.lock'), allowed)
    await eventually(async () => (await entry())?.state === 'refused', 'it waits for its folder')
    expect((await entry()).reason).to.match(/^find: Its folder is not there yet/)
    await cp(path.join(folder, '1.0.0', 'plain-swap'), path.join(plugins(), 'plain-swap'), { recursive: true })
    await eventually(async () => (await entry())?.state === 'loaded', 'it is loaded')
    expect(await entry())
      .to.include({ version: '1.0.0' })
      .and.not.have.property('notTakenUp')
    expect((await client.get('/amm/price', pair)).status).to.equal(200)
  })

  it('that is to run in the server waits for a restart, and what ran goes on', async () => {
    await writeFile(path.join(home, 'sluice.lock'), allowed.replace('tier: contained', 'tier: trusted'))
    await eventually(async () => /Restart the server/.test((await entry()).notTakenUp ?? ''), 'it says so')
    expect(await entry()).to.include({ state: 'loaded', tier: 'contained', version: '1.0.0' })
    expect((await client.get('/amm/price', pair)).status).to.equal(200)
    await writeFile(path.join(home, 'sluice.lock'), 'plugins: [')
    await writeFile(path.join(home, 'sluice.lock'), allowed)
    await eventually(async () => (await entry()).notTakenUp === undefined, 'it was taken back')
  })

  it('joins too where it is data alone, and gets its contracts on the running devnet', async () => {
    const rpc = rpcTo(server.rpcUrl)
    const before = Number(await rpc('eth_blockNumber'))
    const { code, said } = await say('add', path.join(templates, '../test/fixtures/rillswap'), '--yes')
    expect(code, said).to.equal(0)
    expect(said).to.match(
      /^rillswap 0\.1\.0 is added, in .+ takes it up by itself\. Where it runs a devnet, its contracts are deployed there\.$/m,
    )
    await eventually(async () => (await entry('rillswap'))?.state === 'loaded', 'it is loaded')
    expect(await entry('rillswap'))
      .to.include({ tier: 'data', allowedBy: 'operator' })
      .and.not.have.property('notTakenUp')
    expect(Number(await rpc('eth_blockNumber'))).to.be.above(before, 'nothing was set back')
    expect((await mined(client, (await approve({ spender: 'rillswap', token: 'USDC', amount: '10' })).body.txHash)).status).to.equal(200)
    const trade = await client.post('/amm/trade', { ...laneTrade, connector: 'rillswap' })
    expect(trade.status, trade.text).to.equal(200)
    expect(Number((await mined(client, trade.body.txHash)).body.fill.amountIn)).to.equal(10)
  })

  it('whose devnet.ts fails is loaded, and says why its contracts are not on the devnet', async () => {
    const rpc = rpcTo(server.rpcUrl)
    const at = await lane('1.0.0', newRouter, 'bare-swap')
    const account = deployerAddress('bare-swap')
    const deploys = 'await site.signer.sendTransaction({ to: site.signer.address, gasLimit: 21000n })'
    await writeFile(
      path.join(at, 'devnet.ts'),
      `export default { name: 'bare-swap', async deploy(site) {\n${deploys}\nthrow new Error('no such pool')\n} }\n`,
    )
    const { code, said } = await say('add', at, '--yes')
    expect(code, said).to.equal(0)
    await eventually(async () => (await entry('bare-swap'))?.notTakenUp !== undefined, 'it says so')
    expect(await entry('bare-swap')).to.include({
      state: 'loaded',
      notTakenUp:
        'Its contracts are not on the devnet: the devnet.ts of bare-swap failed: devnet.ts:3: no such pool. Correct it, and update the plugin.',
    })
    expect(await rpc('eth_getTransactionCount', account, 'latest'), 'what it sent before it failed').to.equal('0x0')
  })

  it('asks no registry for a version of what came from a folder', async () => {
    for (const none of ['3.0.0', 'v3', 'latest']) {
      const { code, said } = await say('update', 'plain-swap', none, '--yes')
      expect(code).to.equal(1)
      expect(said).to.match(/plain-swap came from .*, where no other version can be asked for/)
    }
  })

  it('has the open trade of the version before read after a restart, whose files are gone', async () => {
    const rpc = rpcTo(server.rpcUrl)
    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    const { sha256: first } = await entry()
    const open = await client.post('/amm/trade', { ...swap, address: traders })
    expect(open.status, open.text).to.equal(200)
    const { code, said } = await say('update', 'plain-swap', await version('3.0.0'), '--yes')
    expect(code, said).to.equal(0)
    await eventually(async () => (await entry()).version === '3.0.0', 'the new version is there')
    await events.close()
    await server.kernel.stop()
    // They were read when there was no folder of plugins yet.
    const folders = [...server.settings.plugins.folders, plugins()]
    kernel = await startKernel(
      { ...server.settings, plugins: { ...server.settings.plugins, folders } },
      { print: () => {}, devnet: server.kernel.devnet! },
    )
    client = createClient(kernel.url, server.settings.ssl.certsDir)
    await eventually(async () => (await entry())?.state === 'loaded', 'the new version is there again')
    expect(await entry()).to.include({ state: 'loaded', version: '3.0.0' })
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    expect(Number((await mined(client, open.body.txHash)).body.fill.amountIn)).to.equal(0.1)
    expect(existsSync(path.join(server.settings.data.dir, 'plugins', first))).to.equal(false)
  })
})
