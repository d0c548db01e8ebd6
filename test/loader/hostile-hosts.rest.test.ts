// What contained plugins of the table do at run time, all beside one server: each is its own trouble and nobody else's.
import { realpathSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import type { Answer } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { local, oneChain } from '../http/shared-server.ts'
import { harmful, harmImports, harms, plantFixture, type Harm } from './hostile-plugins.ts'

/** A plugin that ends five times stays down: so many harms end one. */
const endsOfOne = 3
/** More than any harm's number. */
const honestAmount = '100'

interface Harmed {
  readonly name: string
  readonly harm: Harm
  readonly plugin: string
  /** What it is asked for the price of. */
  readonly amount: string
}

const lasting = Object.entries(harms).filter(([, { ends }]) => !ends)
const ending = Object.entries(harms).filter(([, { ends }]) => ends)
const groups: [string, typeof lasting][] = [['mischief', lasting]]
for (let from = 0; from < ending.length; from += endsOfOne)
  groups.push([`deadly-${from / endsOfOne}`, ending.slice(from, from + endsOfOne)])
const all = groups.flatMap(([plugin, members]) =>
  members.map(([name, harm], index): Harmed => ({ name, harm, plugin, amount: `100.${String(index + 1).padStart(18, '0')}` })),
)

describe('a hostile plugin in its host', function () {
  this.timeout(120_000)
  let folder: string
  let server: TestServer
  const price = (connector: string, amount: string) =>
    server.client.get('/amm/price', { ...local, connector, base: 'DAI', quote: 'WETH', amount, side: 'SELL' })
  const deathsOf = async (plugin: string): Promise<number> =>
    (await server.client.get('/plugins')).body.find((each: { name: string }) => each.name === plugin).host.deaths
  const faultsOf = async (plugin: string): Promise<number> =>
    Number(
      new RegExp(`sluice_plugin_faults_total\\{plugin="${plugin}"\\} (\\d+)`).exec((await server.client.get('/metrics')).text)?.[1] ?? 0,
    )

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-hostile-'))
    const planted = groups.map(([plugin, members]) =>
      plantFixture(folder, plugin, {
        what: 'harms',
        atImport: harmImports,
        connector: harmful(members.map(([, { code }]) => code)),
      }),
    )
    const target = { pid: process.pid, node: realpathSync(process.execPath), home: folder, host: '127.0.0.1', port: 8545 }
    for (const each of planted) await writeFile(path.join(each, 'target.json'), JSON.stringify(target))
    server = await startServer({ plugins: [folder], settings: { ...oneChain.settings, 'limits.pluginStallSeconds': 3 } })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Everybody else is served as ever. */
  async function expectUnharmed(except: string): Promise<void> {
    const other = except === 'mischief' ? 'deadly-0' : 'mischief'
    const [ours, theirs, poll] = await Promise.all([
      price('uniswap', '100'),
      price(other, honestAmount),
      server.client.get('/network/poll', { ...local, txHash: `0x${'1'.repeat(64)}` }),
    ])
    expect([ours.status, theirs.status, poll.status], ours.text + theirs.text + poll.text).to.deep.equal([200, 200, 200])
  }

  const said = ({ status, body }: Answer): string => (status === 200 ? 'a price' : `${body.name} ${body.message}`)

  for (const { name, harm, plugin, amount } of all)
    it(`harms itself alone where it ${harm.what} (${name})`, async () => {
      const [deaths, faults] = [await deathsOf(plugin), await faultsOf(plugin)]
      const answer = await price(plugin, amount)
      if (harm.answer === undefined) expect(said(answer)).to.equal('a price')
      else expect(said(answer)).to.match(harm.answer)
      expect(answer.text).to.have.length.below(20_000)
      await expectUnharmed(plugin)
      if (harm.isFault) while ((await faultsOf(plugin)) === faults) await setTimeout(50)
      if (harm.ends) {
        while ((await deathsOf(plugin)) === deaths) await setTimeout(100)
        while ((await price(plugin, honestAmount)).status !== 200) await setTimeout(100)
      } else expect(await deathsOf(plugin)).to.equal(deaths)
    })

  it('has had nothing signed', async () => {
    const { body } = await server.client.get('/transactions')
    expect(JSON.stringify(body)).to.match(/"transactions":\[\]|^\[\]$/)
  })
})
