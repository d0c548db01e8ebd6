import { expect } from 'chai'
import path from 'node:path'
import { loadSettings, type Settings } from '../../core/config/settings.ts'
import { allowedPlugins } from '../../core/loader/consent.ts'
import { tryPlugins } from '../../core/loader/load.ts'
import { signerBounds, signerPolicy } from '../../core/signing.ts'
import { boundPolicy } from '../../core/wallet/policy-bounds.ts'
import { eachWithHome } from '../config/home.ts'

describe('the bounds of what the signer signs', function () {
  this.timeout(120_000)
  const home = eachWithHome()
  const own = '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D'

  async function refusedWith(settings: Settings): Promise<readonly string[] | undefined> {
    const allowed = await allowedPlugins(settings)
    const bounds = signerBounds(settings, allowed)
    const { loaded } = await tryPlugins(settings, allowed)
    return bounds && boundPolicy(signerPolicy(loaded, settings.wallet.allowedSpenders), undefined, bounds).refused
  }

  it("hold everything that the release's plugins declare, with what conf changes, and nothing more is needed of the operator", async () => {
    await home.write('conf/server.yml', `devnet: { enabled: true }\nwallet: { allowedSpenders: ["${own.toLowerCase()}"] }\n`)
    await home.write(
      'conf/connectors/uniswap.yml',
      `contractAddresses: { ethereum_mainnet: { v2RouterAddress: "${own.toLowerCase()}" } }\n`,
    )
    const settings = loadSettings({ confDir: home.confDir, env: {} })
    expect(await refusedWith(settings)).to.deep.equal([])
    const bounds = signerBounds(settings, await allowedPlugins(settings))
    expect(bounds?.contracts['ethereum_mainnet']).to.include(own.toLowerCase())
  })

  it('are not there where a plugin runs that nobody allowed, which is where a server only tries', async () => {
    await home.write('plugins/fresh/index.ts', 'export default {}\n')
    const settings = loadSettings({
      confDir: home.confDir,
      env: {},
      flags: { 'devnet.enabled': true, 'plugins.folders': [path.join(home.folder, 'plugins')] },
    })
    expect(signerBounds(settings, await allowedPlugins(settings))).to.equal(undefined)
  })
})
