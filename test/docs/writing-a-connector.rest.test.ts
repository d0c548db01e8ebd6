import { expect } from 'chai'
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { toBeHex, zeroPadValue } from 'ethers'
import type { PoolProtocol } from '../../kits/amm/index.ts'
import { connectorContract } from '../../testkit/index.ts'
import { type TestServer } from '../../testkit/server.ts'
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

  it('shows a kind of pools that is kept in memory: what was moved by a log is what is read', async () => {
    const { memory } = (await levelProtocol())([level])
    if (!memory) throw new Error('It is asked for.')
    const { calls, pools } = memory.read(memory.places([[level.tokens[0], level.tokens[1]]]), [])
    expect(calls.map((call) => 'to' in call && call.to)).to.deep.equal([level.address, level.address])
    const read = (...raws: readonly bigint[]) => pools(raws.map((raw) => ({ ok: true, data: toBeHex(raw, 32) })))[0] ?? null
    const [topic = ''] = memory.follow
    const log = (raw: bigint) => ({
      address: level.address.toLowerCase(),
      topics: [topic, zeroPadValue(level.tokens[1], 32)],
      data: toBeHex(raw, 32),
      transactionHash: '0x',
      blockNumber: 1,
    })
    const head = { number: 1n, timestamp: 1 }
    expect(memory.poolsOf(log(7n))).to.deep.equal([level.address.toLowerCase()])
    expect(memory.apply(read(5n, 6n), log(7n), head)).to.deep.equal(read(5n, 7n))
    expect(memory.apply(read(0n, 6n), log(0n), head)).to.equal(null)
    expect(memory.apply(read(0n, 0n), log(7n), head)).to.equal('reload')
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

const level = {
  address: '0x00000000000000000000000000000000000000AA',
  tokens: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'],
} as const

/** As it stands there, with the entry points that a server would give it. */
async function levelProtocol(): Promise<(listed: readonly (typeof level)[]) => PoolProtocol<ReadonlyMap<string, bigint>>> {
  const shown = path.join(folder, 'pools', 'level-protocol.ts')
  const runs = path.join(folder, 'pools', 'level-protocol.mts')
  const urlOf = (kit: string) => pathToFileURL(path.join(root, 'kits', kit, 'index.ts')).href
  await writeFile(
    runs,
    (await readFile(shown, 'utf8')).replaceAll(/'sluice\/(evm|pools)'/g, (_, kit: string) => `'${urlOf(kit === 'pools' ? 'amm' : kit)}'`),
  )
  const loaded = await import(pathToFileURL(runs).href)
  await rm(runs)
  return loaded.levelProtocol
}

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
