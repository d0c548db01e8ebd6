import { expect } from 'chai'
import path from 'node:path'
import { loadSettings } from '../../core/config/settings.ts'
import { examineHere } from '../../core/plugins/consent/examine-here.ts'
import { findPlugins } from '../../core/plugins/discover/find.ts'
import { loadPlugins, pluginOptions } from '../../core/plugins/load.ts'
import { releasedHolders } from '../../core/wallet/policy-files.ts'
import { builtInPlugins } from '../../core/base/layout.ts'
import { eachWithHome } from '../config/home.ts'
import { keptLog } from './fixtures.ts'

/** Uniswap's own position manager of v4, and that of another deployment, which an operator names. */
const [released, named] = ['0xbD216513d74C8cf14cf4747E6AaA6420FF64ee9e', '0xC36442b4a4522E871399CD717aBDD847Ab11FE99']

const taker = `import { evm } from 'sluice/evm'
import { defineConnector } from 'sluice/plugin'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'taker', apiVersion: '1.0', version: '1.0.0', trading_type: ['AMM'], schema: { type: 'object' },
    available_networks: [{ chain: 'ethereum', networks: ['mainnet'] }],
  },
  create: ({ contracts }) => ({ AMM: { quote() {}, swap() {}, fill() {} }, spenders: { router: contracts.routerAddress } }),
})
`

describe('contracts in which wallets have something by a built-in connector', function () {
  this.timeout(120_000)
  const home = eachWithHome()

  async function plant(address: string) {
    await home.write(
      'conf/connectors/uniswap.yml',
      `contractAddresses: { ethereum_mainnet: { v4PositionManagerAddress: "\${POSITIONS}" } }\n`,
    )
    await home.write('third/taker/index.ts', taker)
    const defaults = `allowedSlippage: 1/100\nttl: 300\ncontractAddresses: { mainnet: { routerAddress: '${address.toLowerCase()}' } }\n`
    await home.write('third/taker/defaults.yml', defaults)
    const { found } = findPlugins([path.join(home.folder, 'third'), path.join(builtInPlugins, 'ethereum')], [])
    return found.map((each) => (each.builtIn ? each : { ...each, tier: 'contained' as const, allowedBy: 'operator' as const }))
  }

  const inConf = async <T>(read: () => Promise<T>): Promise<T> => {
    process.env['POSITIONS'] = named
    try {
      return await read()
    } finally {
      delete process.env['POSITIONS']
    }
  }

  /** Why a start refuses a plugin with this contract. */
  const refusedAtStart = (address: string) =>
    inConf(async () => {
      const found = await plant(address)
      const settings = loadSettings({ confDir: home.confDir, env: {} })
      const log = { ...keptLog().log, child: () => keptLog().log }
      const plugins = { found, refused: [] }
      const { refused } = await loadPlugins(pluginOptions({ settings, plugins, log, devnetUrl: undefined, hosts: 'here' }))
      return refused.find(({ name }) => name === 'taker')?.reason
    })

  const isOfUniswap = /is 0x\w+, in which wallets have what they hold by the built-in connector 'uniswap'/

  it("are refused to a contained plugin, those of the operator's conf and those of the release", async () => {
    for (const address of [named, released]) expect(await refusedAtStart(address), address).to.match(isOfUniswap)
    expect(await refusedAtStart('0x00000000000000000000000000000000000000B1')).to.equal(undefined)
  })

  it('keep a plugin that names one from being allowed', async () => {
    const [plugin, ...chains] = (await plant(named)).toSorted((a, b) => Number(a.builtIn) - Number(b.builtIn))
    if (!plugin) throw new Error('it is not found')
    const holders = await inConf(async () => releasedHolders({ confDir: home.confDir, environment: process.env }))
    const examined = await examineHere({ plugin, chains, budget: { processorMs: 20_000, clockMs: 60_000 }, conf: {}, holders })
    expect(examined.is === 'refused' && examined.reason).to.match(isOfUniswap)
  })
})
