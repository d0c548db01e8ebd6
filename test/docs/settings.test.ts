import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadPluginConfig } from '../../core/config/plugin-config.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { withListenerKeys } from '../../core/plugins/candidate.ts'
import ethereum from '../../plugins/ethereum/index.ts'
import hummingbot from '../../plugins/hummingbot/index.ts'
import quickswap from '../../plugins/quickswap/index.ts'
import uniswap from '../../plugins/uniswap/index.ts'
import { fencesOf, readPage, root } from './page.ts'

/** Every interface has the keys of its listener, too. */
const bots = { ...hummingbot, manifest: { ...hummingbot.manifest, schema: withListenerKeys(hummingbot.manifest.schema) } }
const plugins = [ethereum, quickswap, uniswap, bots]
const env = { INFURA_KEY: 'key' }

for (const [page, shown] of [
  ['docs/operators/going-to-mainnet.md', ['chains/ethereum.yml', 'clients.yml']],
  [
    'docs/operators/configuration.md',
    ['clients.yml', 'chains/ethereum.yml', 'connectors/quickswap.yml', 'connectors/uniswap.yml', 'interfaces/hummingbot.yml'],
  ],
] as const) {
  describe(`the settings that ${page} shows`, () => {
    let folder: string
    const confDir = () => path.join(folder, 'conf')

    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'sluice-settings-'))
      for (const { file = '', text } of await settingsOf(page)) {
        await mkdir(path.join(folder, path.dirname(file)), { recursive: true })
        await writeFile(path.join(folder, file), text)
      }
    })
    after(() => rm(folder, { recursive: true }))

    it('are for files that Sluice reads', async () => {
      expect((await settingsOf(page)).map(({ file }) => file)).to.deep.equal(shown.map((name) => `conf/${name}`))
      expect(loadSettings({ confDir: confDir(), env: {} }).warnings).to.deep.equal([])
    })

    it('let the market maker trade with its wallet and nothing else', () => {
      const client = loadSettings({ confDir: confDir(), env: {} }).clients.find(({ name }) => name === 'market-maker')
      expect(client).to.deep.include({ permissions: ['read', 'trade'], requestsPerSecond: 50 })
      expect(client?.wallets).to.have.length(1)
    })

    for (const {
      kind,
      manifest: { name, schema },
    } of plugins) {
      it(`are in order for ${name}`, () => {
        const { config } = loadPluginConfig({ kind, name, confDir: confDir(), pluginFolder: path.join(root, 'plugins', name), schema, env })
        if (name === 'ethereum') expect(config).to.have.nested.property('mainnet.rpcUrls[0]', 'https://mainnet.infura.io/v3/key')
      })
    }
  })
}

const settingsOf = async (page: string) => fencesOf(await readPage(page)).filter(({ language }) => language === 'yaml')
