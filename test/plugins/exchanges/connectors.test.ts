import { expect } from 'chai'
import { getCreateAddress, keccak256 } from 'ethers'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadPluginConfig } from '../../../core/config/plugin-config.ts'
import type { ConnectorConfig, Venue } from '../../../core/contracts/index.ts'
import { deployerAddress, readArtifact } from '../../../core/devnet/build-state.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { algebraDevnetAddresses } from '../../../kits/amm/algebra/devnet.ts'
import { poolAddress as algebraPoolAddress } from '../../../kits/amm/algebra/pools.ts'
import { v3DevnetAddresses as rangeContractsOf } from '../../../kits/amm/v3/devnet.ts'
import { v4DevnetAddresses as keptContractsOf } from '../../../kits/amm/v4/devnet.ts'
import { routerKinds } from '../../../kits/amm/v3/router.ts'
import { contractsOf } from '../../../core/plugins/configuration.ts'
import ethereum from '../../../plugins/ethereum/index.ts'
import { deployments as quickswapV4 } from '../../../plugins/quickswap-v4/index.ts'
import { feeTiers } from '../../../plugins/pancakeswap/index.ts'
import smartRouter from '../../fixtures/published/pancakeswap-smart-router.json' with { type: 'json' }
import pancakeswapV3Sdk from '../../fixtures/published/pancakeswap-v3-sdk.json' with { type: 'json' }
import { exchanges } from './exchanges.ts'

const log = { info() {}, warn() {} }
const { reader, nativeCurrency } = ethereum.create({ chain: 'ethereum', network: 'local', config: {}, log, meter: { rpc() {} } })

for (const { name, plugin, versions } of exchanges) {
  describe(`the connector ${name}`, () => {
    const pluginFolder = fileURLToPath(new URL(`../../../plugins/${name}/`, import.meta.url))
    const places = plugin.manifest.available_networks.flatMap(({ chain, networks }) => networks.map((network) => ({ chain, network })))
    let confDir: string
    let config: ConnectorConfig

    before(async () => {
      confDir = await mkdtemp(path.join(tmpdir(), 'sluice-connectors-'))
      const sources = { kind: 'connector', name, confDir, pluginFolder, schema: plugin.manifest.schema, env: {} } as const
      const { config: checked } = loadPluginConfig(sources)
      if (!isConnectorConfig(checked)) throw new Error('The schema let something else through.')
      config = checked
    })
    after(() => rm(confDir, { recursive: true }))

    const addresses = (place: { chain: string; network: string }) => contractsOf(name, config, place, plugin.manifest)
    const venue = (place: { chain: string; network: string }, contracts = addresses(place)): Venue<Evm, ConnectorConfig> => ({
      ...place,
      config,
      contracts: contracts ?? {},
      reader,
      nativeCurrency,
      tokens: [],
      log,
    })

    /** Not every network has every version. */
    const versionsOn = ({ chain, network }: { chain: string; network: string }) =>
      versions.filter(({ deployments }) => deployments[`${chain}/${network}`] !== undefined)

    it('has deployments and addresses for every network that it names, and for no other', () => {
      const named = places.map(({ chain, network }) => `${chain}/${network}`)
      expect([...new Set(versions.flatMap(({ deployments }) => Object.keys(deployments)))]).to.have.members(named)
      const partly = places.filter((place) => versionsOn(place).length < versions.length).map(({ chain, network }) => `${chain}/${network}`)
      expect(partly).to.deep.equal(name === 'uniswap' ? ['hyperliquid/mainnet'] : [])
      expect(Object.keys(config.contractAddresses)).to.have.length(named.length)
      for (const place of places) {
        const keys = versionsOn(place).flatMap((version) => Object.values(version.keys))
        expect(addresses(place), `${place.chain}/${place.network}`).to.have.all.keys(keys)
      }
    })

    it('has its spenders by name on each of them', () => {
      for (const place of places) {
        const { AMM, spenders, permit2 } = plugin.create(venue(place))
        const there = versionsOn(place)
        expect(AMM.versions).to.deep.equal(versions.length > 1 ? there.map(({ version }) => version) : [])
        const labels = there.flatMap(({ version, keys: { router, positionManager } }) => [
          [version, addresses(place)?.[router]],
          ...(positionManager ? [[version === 'v4' ? 'v4Positions' : 'positions', addresses(place)?.[positionManager]]] : []),
        ])
        expect(spenders).to.deep.equal(Object.fromEntries(labels))
        for (const { version, keys } of there)
          if (keys.permit2 !== undefined)
            expect(permit2).to.deep.include({
              address: addresses(place)?.[keys.permit2],
              spenders: [spenders?.[version], spenders?.['v4Positions']],
              permitSpenders: [spenders?.[version]],
            })
      }
    })

    it('has the addresses of its contracts on the devnet', () => {
      const local = venue({ chain: 'ethereum', network: 'local' }).contracts
      const { v2Factory, factory, router, positionManager } = rangeContractsOf(deployerAddress(name))
      const v2Router = getCreateAddress({ from: deployerAddress(name), nonce: 1 })
      for (const { version, deployments, keys } of versions) {
        const first = version === 'v2'
        const deployment = deployments['ethereum/local']
        if (deployment && 'poolManager' in deployment) {
          const kept = keptContractsOf(deployerAddress(name))
          const configured = [deployment.poolManager, local[keys.router], local[keys.positionManager ?? '']]
          expect(configured).to.deep.equal([kept.poolManager, kept.router, kept.positionManager])
          continue
        }
        if (deployment?.poolDeployer !== undefined) {
          const { factory, poolDeployer, router } = algebraDevnetAddresses(deployerAddress(name))
          expect([deployment.factory, deployment.poolDeployer, local[keys.router]]).to.deep.equal([factory, poolDeployer, router])
          continue
        }
        expect(deployment?.factory).to.equal(first ? v2Factory : factory)
        expect(local[keys.router]).to.equal(first ? v2Router : router)
        if (keys.positionManager) expect(local[keys.positionManager]).to.equal(positionManager)
      }
    })

    it('fails where its constants or its router are missing, and the error says what to do', () => {
      const [router] = versions.map(({ keys }) => keys.router)
      expect(() => plugin.create(venue({ chain: 'ethereum', network: 'nowhere' }))).to.throw(
        /no factory.* and init-code hash.* for ethereum\/nowhere .*add them/,
      )
      expect(() => plugin.create(venue({ chain: 'ethereum', network: 'local' }, {}))).to.throw(`no ${router} for ethereum/local: add it`)
    })

    it('takes no more than 20 lines beside its constants, and seven more for a third kind of pool and its positions', async () => {
      const code = await readFile(path.join(pluginFolder, 'index.ts'), 'utf8')
      const definition = code.slice(code.indexOf('export default'))
      expect(definition.trim().split('\n').length).to.be.at.most(versions.length > 2 ? 27 : 20)
    })
  })
}

describe('the exchanges’ constants', () => {
  it('have the fee tiers of PancakeSwap by their names', () => {
    expect(feeTiers).to.deep.equal(pancakeswapV3Sdk.facts.feeTiers)
  })

  const uniswapPair = async () =>
    (await readArtifact('UniswapV2Pair', new URL('../../../kits/amm/v2/devnet.ts', import.meta.url).href)).bytecode
  const localHash = (name: string) => exchanges.find((each) => each.name === name)?.versions[0]?.deployments['ethereum/local']?.initCodeHash
  const liveHash = (name: string, place: string) =>
    exchanges.find((each) => each.name === name)?.versions[0]?.deployments[place]?.initCodeHash

  it('call SmartRouter by its functions, which are SwapRouter02’s', () => {
    const called = routerKinds.SwapRouter02.functions.fragments.map((each) => each.format())
    expect(smartRouter.facts.functions).to.include.members(called)
  })

  it('equal the hash of the original pairs where the devnet has these', async () => {
    const original = keccak256(await uniswapPair())
    expect(liveHash('uniswap', 'ethereum/mainnet')).to.equal(original)
    expect(liveHash('quickswap', 'polygon/mainnet')).to.equal(original)
    for (const name of ['uniswap', 'sushiswap', 'quickswap']) expect(localHash(name), name).to.equal(original)
  })

  it('lead to the pool of WETH and USDC on base that the tests of https://github.com/VeloraDEX/paraswap-dex-lib read', () => {
    const [weth, usdc] = ['0x4200000000000000000000000000000000000006', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913']
    expect(algebraPoolAddress(quickswapV4['base/mainnet'], [weth, usdc])).to.equal('0x5a9Ad2BB92B0B3E5C571FDD5125114E04E02be1a')
  })

  it('equal the hash of Avalanche’s own pairs for traderjoe on the devnet', () => {
    expect(localHash('traderjoe')).to.equal(liveHash('traderjoe', 'avalanche/mainnet'))
  })
})

function isConnectorConfig(value: object): value is ConnectorConfig {
  return 'allowedSlippage' in value && 'ttl' in value && 'contractAddresses' in value && typeof value.contractAddresses === 'object'
}
