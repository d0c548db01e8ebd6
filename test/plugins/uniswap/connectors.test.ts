import { expect } from 'chai'
import { getAddress, keccak256 } from 'ethers'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadPluginConfig } from '../../../core/config/plugins/load-plugin-config.ts'
import type { ConnectorConfig, Venue } from '../../../core/contracts/index.ts'
import { readArtifact } from '../../../core/devnet/read-artifact.ts'
import type { Evm } from '../../../core/kits/evm/index.ts'
import ethereum from '../../../plugins/ethereum/index.ts'
import { deployments as sushiswapDeployments } from '../../../plugins/sushiswap/deployments.ts'
import sushiswap from '../../../plugins/sushiswap/index.ts'
import { v2Deployments, v3Deployments } from '../../../plugins/uniswap/deployments.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { addresses } from '../../devnet/addresses.ts'

// `spenders`: the label of each, and the key of its address in the configuration.
const connectors = [
  {
    name: 'uniswap',
    plugin: uniswap,
    deployments: [v2Deployments, v3Deployments],
    spenders: { v2: 'v2RouterAddress', v3: 'v3RouterAddress', positions: 'positionManagerAddress' },
    versions: ['v2', 'v3'],
  },
  { name: 'sushiswap', plugin: sushiswap, deployments: [sushiswapDeployments], spenders: { v2: 'routerAddress' }, versions: [] },
] as const

const artifactsOfKit = new URL('../../../core/kits/uniswap-v2/devnet.ts', import.meta.url).href
const log = { info() {}, warn() {} }
const { reader, nativeCurrency } = ethereum.create({ chain: 'ethereum', network: 'local', config: {}, log, meter: { rpc() {} } })

for (const { name, plugin, deployments, spenders, versions } of connectors) {
  const [v2] = deployments
  describe(`the connector ${name}`, () => {
    const pluginFolder = fileURLToPath(new URL(`../../../plugins/${name}/`, import.meta.url))
    let confDir: string
    let config: ConnectorConfig

    before(async () => {
      confDir = await mkdtemp(path.join(tmpdir(), 'sluice-connectors-'))
      const { config: checked } = loadPluginConfig({
        kind: 'connector',
        name,
        confDir,
        pluginFolder,
        schema: plugin.manifest.schema,
        env: {},
      })
      if (!isConnectorConfig(checked)) throw new Error('The schema let something else through.')
      config = checked
    })
    after(() => rm(confDir, { recursive: true }))

    const venue = (network: string, contracts: Readonly<Record<string, string>>): Venue<Evm, ConnectorConfig> => ({
      chain: 'ethereum',
      network,
      config,
      contracts,
      reader,
      nativeCurrency,
      tokens: [],
      log,
    })

    it('has a router and a deployment for every network that it names, with checksums', () => {
      const named = plugin.manifest.available_networks.flatMap(({ chain, networks }) => networks.map((network) => ({ chain, network })))
      for (const each of deployments) expect(Object.keys(each)).to.deep.equal(named.map(({ chain, network }) => `${chain}/${network}`))
      expect(Object.keys(config.contractAddresses)).to.deep.equal(named.map(({ network }) => network))
      const factories = deployments.flatMap((each) => Object.values(each)).map(({ factory }) => factory)
      const configured = Object.values(config.contractAddresses).flatMap((entry) => Object.values(spenders).map((key) => entry[key]))
      for (const address of [...configured, ...factories]) {
        expect(getAddress(address ?? '')).to.equal(address)
      }
    })

    it('knows the devnet’s contracts', async () => {
      const { factory, initCodeHash } = v2['ethereum/local']
      expect({ factory, router: config.contractAddresses['local']?.[spenders.v2] }).to.deep.equal(addresses.exchanges[name])
      expect(initCodeHash).to.equal(keccak256((await readArtifact('UniswapV2Pair', artifactsOfKit)).bytecode))
    })

    it('is created on every network with its spenders by their labels', () => {
      for (const [network, contracts] of Object.entries(config.contractAddresses)) {
        const created = plugin.create(venue(network, contracts))
        expect(created.AMM.versions).to.deep.equal(versions)
        expect(created.spenders).to.deep.equal(Object.fromEntries(Object.entries(spenders).map(([label, key]) => [label, contracts[key]])))
      }
    })

    it('is refused where its constants or its router are missing, with what to do', () => {
      expect(() => plugin.create(venue('nowhere', {}))).to.throw(/no factory and init-code hash for ethereum\/nowhere .*add them/)
      expect(() => plugin.create(venue('local', {}))).to.throw(`no ${spenders.v2} for ethereum/local: add it`)
    })

    it('takes no more than 25 lines', async () => {
      const code = await readFile(path.join(pluginFolder, 'index.ts'), 'utf8')
      expect(code.trim().split('\n').length).to.be.at.most(25)
    })
  })
}

function isConnectorConfig(value: object): value is ConnectorConfig {
  return 'allowedSlippage' in value && 'ttl' in value && 'contractAddresses' in value && typeof value.contractAddresses === 'object'
}
