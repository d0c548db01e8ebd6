import { expect } from 'chai'
import { readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { rpcTo } from '../../core/devnet/anvil.ts'
import type { TestServer } from '../../testkit/server.ts'
import { booksOf } from './books-of.ts'
import { printed, unlike } from './like.ts'
import { packageJson } from './package-json.ts'
import { fencesOf, readPage, root, type Fence } from './page.ts'
import { readyServer } from './ready-server.ts'
import { run } from './run.ts'
import { typeCommands } from './typed.ts'

describe('the README, the tour, and the pages of swaps and of clients', function () {
  this.timeout(400_000)
  let server: TestServer
  let home: string
  let fences: readonly Fence[]

  before(async () => {
    const pages = await Promise.all(
      ['README.md', 'docs/bots/tour.md', 'docs/bots/swaps.md', 'docs/operators/going-to-mainnet.md', 'docs/bots/clients.md'].map(readPage),
    )
    fences = pages.flatMap(fencesOf)
    server = await readyServer()
    home = server.settings.home
    // What a checkout has besides what the test's home has.
    for (const folder of ['bin', 'examples', 'plugins']) await symlink(path.join(root, folder), path.join(home, folder))
  })
  after(() => server?.stop())

  const environment = () => ({
    HOME: home,
    SLUICE_URL: server.kernel.url,
    PYTHONPATH: path.join(root, 'clients/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  })

  it('has commands that work as typed and answer as shown', async () => {
    await typeCommands(fences, {
      url: server.kernel.url,
      type: (script) => run('sh', ['-euc', script], { cwd: home, env: environment() }),
      poll: async (txHash, network) => (await server.client.get('/network/poll', { ...network, txHash })).body,
    })
  })

  for (const [program, file] of [
    ['node', 'examples/trade.mjs'],
    ['python3', 'examples/trade.py'],
    ['node', 'examples/client.mjs'],
    ['/usr/bin/python3', 'examples/client.py'],
  ] as const) {
    it(`shows ${file} as it is, and what it prints`, async () => {
      const content = await readFile(path.join(root, file), 'utf8')
      const output = await run(program, [file], { cwd: home, env: environment() })
      const shown = fences.flatMap((fence, index) => (fence.file === file ? [{ fence, after: fences[index + 1] }] : []))
      expect(shown.length).to.be.above(0)
      for (const { fence, after } of shown) {
        expect(fence.text).to.equal(content)
        expect(printed(output)).to.equal(printed(after?.text ?? ''))
      }
    })
  }

  it('shows a request from Python, and what it prints', async () => {
    const index = fences.findIndex(({ language, file }) => language === 'py' && file === undefined)
    const program = fences[index]?.text.replace('https://localhost:15888', server.kernel.url) ?? ''
    const output = await run('/usr/bin/python3', ['-c', program], { cwd: home, env: environment() })
    expect(printed(output)).to.equal(printed(fences[index + 1]?.text ?? ''))
  })

  it('leaves no unit of any wallet that its book does not explain', async () => {
    const books = await booksOf(server.client, rpcTo(server.rpcUrl))
    expect(books.flatMap(({ wallet, unexplained }) => unexplained.map((each) => ({ wallet, each })))).to.deep.equal([])
    expect(Math.max(...books.map(({ ownTransactions }) => ownTransactions))).to.be.above(5)
  })

  it('names two commands, which package.json has', async () => {
    const { scripts } = await packageJson()
    const commands = fencesOf(await readPage('README.md'))
      .filter(({ text }) => text.startsWith('npm '))
      .map(({ text }) => text.trim().split(' ')[1] ?? '')
    expect(commands).to.deep.equal(['start', 'test'])
    expect(scripts).to.include.keys(commands)
  })

  it('has fewer than 9,000 bytes', async () => {
    expect(Buffer.byteLength(await readPage('README.md'))).to.be.below(9_000)
  })

  it('has beside it docs/bots/errors.md, which shows an error as it is', async () => {
    const [shown] = fencesOf(await readPage('docs/bots/errors.md'))
    const { body } = await server.client.post('/amm/trade', {
      chain: 'ethereum',
      network: 'local',
      connector: 'sushiswap',
      address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      base: 'WETH',
      quote: 'USDC',
      amount: '1',
      side: 'SELL',
    })
    expect(unlike(JSON.parse(shown?.text ?? ''), body)).to.equal(undefined)
    expect(body.name).to.equal('INSUFFICIENT_ALLOWANCE')
  })
})
