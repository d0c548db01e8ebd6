// The packages as an operator uses them.
import { expect } from 'chai'
import { existsSync, lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  asProject,
  bot,
  environment,
  filesIn,
  folder,
  install,
  installSluice,
  nodeFrom,
  nodes,
  newPlugin,
  putPlugin,
  removePlace,
  sluice,
  start,
  swap,
  tarball,
} from './outside.mjs'

after(removePlace)

const trader = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const megabytes = (cwd) =>
  readdirSync(cwd, { recursive: true })
    .map((name) => lstatSync(path.join(cwd, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0) / 1e6

for (const { name, version } of nodes) {
  describe(`the packages on ${name}`, () => {
    let env = environment()
    let cwd
    const servers = []
    before(() => {
      if (version !== undefined) env = environment(nodeFrom(version))
      cwd = folder(`operator ${version ?? ''}`.trim())
      asProject(cwd)
    })
    afterEach(() => servers.splice(0).forEach((server) => server.kill()))
    const started = async (args, options) => {
      const server = await start(cwd, args, { env, ...options })
      servers.push(server)
      return server
    }

    it('sluice installs with an empty cache, alone', () => {
      installSluice(cwd, { env })
      console.log(`      ${megabytes(path.join(cwd, 'node_modules')).toFixed(1)} MB in node_modules`)
      const { dependencies } = JSON.parse(readFileSync(path.join(cwd, 'package.json'), 'utf8'))
      expect(Object.keys(dependencies)).to.deep.equal(['sluice'])
      for (const absent of ['sluice-devnet', 'ethers', '@foundry-rs', 'koa', 'kysely'])
        expect(existsSync(path.join(cwd, 'node_modules', absent)), absent).to.equal(false)
    })

    it('holds no bytecode of exchanges, and the licences of what is bundled', () => {
      const own = path.join(cwd, 'node_modules', 'sluice')
      expect(readdirSync(own, { recursive: true }).filter((file) => /artifacts|\.sol$/.test(file))).to.deep.equal([])
      expect(existsSync(path.join(own, 'THIRD-PARTY-LICENSES.md'))).to.equal(true)
    })

    it('says in one line what to install for a devnet, and makes nothing', () => {
      const { code, printed } = sluice(cwd, ['start', '--devnet'], { env })
      expect(code).to.equal(1)
      expect(printed.trim().split('\n')).to.have.length(1)
      expect(printed).to.match(/npm install \S*sluice-devnet-\d/)
      expect(filesIn(cwd)).to.deep.equal([])
    })

    it('looks at an empty folder with doctor, and makes nothing', () => {
      const { printed } = sluice(cwd, ['doctor'], { env })
      expect(printed).to.match(
        /^! configuration +There is no folder .*conf, so all settings have their defaults, and certificates may read market data only\. .*--home.*\n! certificates/,
      )
      expect(printed).to.match(/^✓ disk +[\d.]+ GB free in .*data\.$/m)
      expect(filesIn(cwd)).to.deep.equal([])
    })

    it('starts without a devnet, makes conf, certs and data, and ends in order at SIGTERM', async () => {
      const server = await started([])
      expect(filesIn(cwd)).to.deep.equal(['certs', 'conf', 'data'])
      expect(server.printed()).to.not.match(/There is no folder|\bdevnet\b.*block/)
      const plugins = await bot(server.url, cwd).get('/plugins')
      expect(plugins.find((plugin) => plugin.name === 'uniswap')).to.include({ state: 'loaded' })
      expect((await server.stop()).code).to.equal(0)
      expect(server.printed()).to.match(/Stopped\.\s*$/)
    })

    it('keeps a configuration that was changed', async () => {
      const file = path.join(cwd, 'conf', 'server.yml')
      writeFileSync(file, 'log: { level: warn }\n')
      const server = await started([])
      await server.stop()
      expect(readFileSync(file, 'utf8')).to.equal('log: { level: warn }\n')
    })

    it('names the server that has the home to a second one', async () => {
      const first = await started([])
      const { code, printed } = sluice(cwd, ['start', '--port', new URL(first.url).port], { env })
      expect(code).to.equal(1)
      expect(printed.trim().split('\n')).to.have.length(1)
      const { pid } = JSON.parse(readFileSync(path.join(cwd, 'data', 'sluice.holder'), 'utf8'))
      expect(printed).to.include(`in use by process ${pid}`)
      await first.stop()
    })

    it('with sluice-devnet, quotes, trades, polls and reads events in a home elsewhere, with a plugin that was put there', async () => {
      install(cwd, [tarball('sluice-devnet')], { env })
      const devnet = path.join(cwd, 'node_modules', 'sluice-devnet')
      const table = readFileSync(path.join(devnet, 'LICENSES.md'), 'utf8')
      expect(table).to.match(/UniswapV3Factory \| BUSL-1\.1/)
      for (const [, id] of table.matchAll(/^\| (\S+) \| \d+ \|$/gm))
        expect(readFileSync(path.join(devnet, 'LICENSES', `${id}.txt`), 'utf8')).to.match(/licen[cs]e/i)
      const home = folder(`Zuhause ${version ?? ''}`.trim())
      newPlugin(cwd, 'my-exchange', { kind: 'amm' }, { env })
      putPlugin(cwd, 'my-exchange', path.basename(home))
      const server = await started(['--devnet', '--home', home], { env: { ...env, SLUICE_DEVNET_PORT: '0' } })
      expect(filesIn(home)).to.deep.equal(['certs', 'conf', 'data', 'plugins'])
      const client = bot(server.url, home)

      const quote = await client.get('/amm/price', swap)
      expect(Number(quote.expectedAmount), JSON.stringify(quote)).to.be.above(0)
      const trade = await client.post('/amm/trade', { ...swap, base: 'ETH', address: trader })
      expect(trade, JSON.stringify(trade)).to.have.property('txHash')
      let poll
      for (let tries = 0; tries < 600 && poll?.txStatus !== 1; tries++) {
        await sleep(200)
        poll = await client.get('/network/poll', { chain: 'ethereum', network: 'local', txHash: trade.txHash })
      }
      expect(poll?.txReceipt?.status, JSON.stringify(poll)).to.equal(1)
      expect(await client.events({ topics: 'blocks', chain: 'ethereum', network: 'local' }, '"timestamp"')).to.include('event: blocks')

      const own = { ...swap, connector: 'my-exchange', amount: '0.5' }
      const askDropped = () => client.get('/amm/price', own)
      let dropped = await askDropped()
      // It is loaded once the server is ready.
      for (let tries = 0; tries < 600 && dropped.name === 'SERVICE_UNINITIALIZED'; tries++) {
        await sleep(200)
        dropped = await askDropped()
      }
      expect(Number(dropped.expectedAmount), JSON.stringify(dropped)).to.be.above(0)
      const mined = async ({ txHash, ...answer }) => {
        expect(txHash, JSON.stringify(answer)).to.be.a('string')
        let state
        for (let tries = 0; tries < 600 && state?.txStatus !== 1; tries++) {
          await sleep(200)
          state = await client.get('/network/poll', { chain: 'ethereum', network: 'local', txHash })
        }
        return state
      }
      const approval = { chain: 'ethereum', network: 'local', address: trader, spender: 'my-exchange', token: 'WETH', amount: '0.5' }
      await mined(await client.post('/evm/approve', approval))
      const traded = await mined(await client.post('/amm/trade', { ...own, address: trader }))
      expect(traded.fill, JSON.stringify(traded)).to.include({ amountIn: '0.500000000000000000' })

      const [, rpcUrl] = /ethereum\/local\s+block.*(http:\S+)/.exec(server.printed())
      expect((await server.stop()).code).to.equal(0)
      expect(server.printed()).to.match(/Stopped\.\s*$/)
      const answers = await fetch(rpcUrl, { method: 'POST' }).then(
        () => true,
        () => false,
      )
      expect(answers, 'the devnet ended').to.equal(false)
    })
  })
}
