import { expect } from 'chai'
import { copyFile, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { connectorContract, type TestServer } from '../../core/testing/index.ts'
import { mined } from '../http/shared-server.ts'
import { printed } from './like.ts'
import { fencesOf, readPage, root } from './page.ts'
import { extractPlugins } from './plugin-pages.ts'
import { readyServer } from './ready-server.ts'
import { run } from './run.ts'

const page = 'docs/writing-a-connector.md'
const names = ['riverswap', 'lakeswap', 'ferryswap']
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const folder = await extractPlugins(page)

describe('docs/writing-a-connector.md', () => {
  after(() => rm(folder, { recursive: true }))

  describe('on a server', onServer)
  for (const name of names) connectorContract({ folder: path.join(folder, name) })

  for (const fork of ['riverswap', 'lakeswap']) {
    it(`shows a fork in under 30 lines: ${fork}`, async () => {
      const code = await readFile(path.join(folder, fork, 'index.ts'), 'utf8')
      expect(code.trim().split('\n').length).to.be.below(30)
    })
  }

  it('shows the cards that its connectors pass', async () => {
    const cards = fencesOf(await readPage(page)).find(({ text }) => text.includes('AMM-05'))?.text ?? ''
    for (const card of ['PLUGIN-01', 'CONFIG-03', 'ADDRESS-01', 'AMM-08']) expect(cards).to.include(card)
  })

  it('shows types that fit, wherever the folder lies', async () => {
    await copyFile(path.join(folder, 'riverswap', 'tsconfig.json'), path.join(folder, 'tsconfig.json'))
    await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder })
  })

  it('shows commands that print what is shown', async () => {
    const fences = fencesOf(await readPage(page))
    const home = path.join(folder, 'home')
    await mkdir(path.join(home, 'plugins'), { recursive: true })
    await symlink(path.join(root, 'plugins'), path.join(folder, 'plugins'))
    await symlink(path.join(root, 'bin'), path.join(folder, 'bin'))
    await mkdir(path.join(home, 'plugins', 'riverswap'))
    for (const file of ['index.ts', 'defaults.yml'])
      await copyFile(path.join(folder, 'riverswap', file), path.join(home, 'plugins', 'riverswap', file))

    const env = { HOME: home, SLUICE_DEVNET_ENABLED: 'true' }
    for (const [index, { language, text }] of fences.entries()) {
      // The contract tests run below.
      if (language !== 'sh' || text.includes('plugin test')) continue
      const output = await run('sh', ['-euc', text], { cwd: folder, env })
      expect(printed(output)).to.equal(printed(fences[index + 1]?.text ?? ''))
      if (text.includes('getCreateAddress')) expect(output).to.equal(fences[index + 1]?.text)
    }
  })
})

function onServer(): void {
  let server: TestServer
  before(async () => {
    server = await readyServer({ plugins: names.map((name) => path.join(folder, name)) })
  })
  after(() => server?.stop())

  for (const name of names) {
    it(`shows ${name}, which loads, quotes and trades as written`, async () => {
      const { client } = server
      const network = { chain: 'ethereum', network: 'local' }
      const swap = { ...network, connector: name, base: 'WETH', quote: 'USDC', amount: '0.5', side: 'SELL' }

      const quote = await client.get('/amm/price', swap)
      expect(quote.status, quote.text).to.equal(200)
      const approval = await client.post('/evm/approve', { ...network, address, spender: name, token: 'WETH', amount: '1' })
      expect(approval.status, approval.text).to.equal(200)
      await mined(client, approval.body.txHash)
      const trade = await client.post('/amm/trade', { ...swap, address, limitPrice: quote.body.slippagePrice })
      expect(trade.status, trade.text).to.equal(200)
      const { fill } = (await mined(client, trade.body.txHash)).body
      expect(fill).to.include({ amountIn: '0.500000000000000000', amountOut: trade.body.expectedAmount })
    })
  }
}
