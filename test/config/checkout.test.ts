import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { describeSettings } from '../../core/config/settings-schema.ts'
import { loadPluginConfig } from '../../core/config/plugin-config.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { evmChainSchema } from '../../kits/evm/network.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const confDir = `${root}conf`
const read = (file: string) => readFile(`${root}${file}`, 'utf8')

describe('the conf folder of a fresh checkout', () => {
  it('loads without a warning, enables the devnet, and gives the certificate of set-up what an operator needs to try it', () => {
    const settings = loadSettings({ confDir, env: {} })
    expect(settings.warnings).to.deep.equal([])
    expect(settings.devnet.enabled).to.equal(true)
    expect(settings.clients).to.deep.equal([{ name: 'client', permissions: ['read', 'trade', 'admin', 'stop', 'resume'], wallets: 'all' }])
  })

  it('shows every setting with its default', async () => {
    const text = (await read('conf/server.yml')) + (await read('conf/ssl.yml'))
    for (const { name, default: value, file } of describeSettings().filter(({ file }) => file !== 'none')) {
      const key = name.slice(name.indexOf('.') + 1)
      const line = `# ${key}:${value === '' ? '' : ` ${value}`}`
      if (name === 'devnet.enabled') expect(text).to.contain('  enabled: true')
      else
        expect(
          text.split('\n').map((one) => one.trim()),
          `${file} ${name}`,
        ).to.include(line)
    }
  })

  it('requires the local network only', () => {
    const networks = ['mainnet', 'sepolia', 'local']
    const chain = loadPluginConfig({
      kind: 'chain',
      name: 'ethereum',
      confDir,
      pluginFolder: `${root}plugins/ethereum`,
      schema: evmChainSchema,
      env: {},
      networks,
    })
    expect(Object.keys(chain.networks).filter((network) => chain.networks[network]?.required)).to.deep.equal(['local'])
  })

  it('has examples that work without their comment signs', async () => {
    expect(parse(example(await read('conf/chains/ethereum.yml'), 'mainnet')))
      .to.have.nested.property('mainnet.rpcUrls')
      .with.length(2)
    expect(parse(example(await read('conf/clients.yml'), 'market-maker'))).to.have.nested.property('market-maker.requestsPerSecond', 50)
    const uniswap: unknown = parse(example(await read('conf/connectors/uniswap.yml'), 'contractAddresses'))
    expect(uniswap).to.have.nested.property('contractAddresses.ethereum_mainnet')
  })
})

/** What a file says from that commented key on. */
function example(text: string, key: string): string {
  return text.slice(text.indexOf(`# ${key}:`)).replaceAll(/^ *# /gm, '')
}
