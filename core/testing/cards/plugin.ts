import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { ConfigError, loadPluginConfig } from '../../config/index.ts'
import type { LoadedPlugin } from '../../loader/index.ts'
import { node, type Bench } from './bench.ts'

type Section = Record<string, unknown>

/** What every plugin must hold to, chain or connector. */
export function pluginCards(found: () => { plugin: LoadedPlugin; bench: Bench }): void {
  it('PLUGIN-01 the server loads it and shows it', async () => {
    const { plugin, bench } = found()
    const { body } = await bench.client.get('/plugins')
    expect(body.find((each: { name: string }) => each.name === plugin.name)).to.include({ kind: plugin.kind, state: 'loaded' })
  })
}

/** What every connector's configuration must hold to. */
export function configurationCards(found: () => { plugin: LoadedPlugin; bench: Bench }): void {
  const effective = ({ configuration }: LoadedPlugin) => structuredClone(configuration.config)

  it('CONFIG-01 its own defaults are a complete configuration', async () => {
    const { plugin } = found()
    expect(await problemsWith(plugin, effective(plugin))).to.deep.equal([])
  })

  it('CONFIG-02 each required key that is missing is named', async () => {
    const { plugin } = found()
    const { required = [] } = plugin.manifest.schema as { required?: readonly string[] }
    expect(required).to.include.members(['allowedSlippage', 'ttl', 'contractAddresses'])
    for (const key of required) {
      const { [key]: _, ...rest } = effective(plugin)
      expect(await problemsWith(plugin, rest), key).to.include(key)
    }
  })

  it('CONFIG-03 an unknown key is named, at the top and among the addresses of a network', async () => {
    const { plugin } = found()
    expect(await problemsWith(plugin, { ...effective(plugin), slippage: '1/100' })).to.include('slippage')
    const config = effective(plugin)
    for (const [network, addresses] of Object.entries(config.contractAddresses as Section)) {
      const more = {
        ...config,
        contractAddresses: { ...(config.contractAddresses as Section), [network]: { ...(addresses as Section), ruoterAddress: '0x' } },
      }
      expect(await problemsWith(plugin, more)).to.include(`contractAddresses.${network}.ruoterAddress`)
    }
  })

  it('ADDRESS-01 there is a contract at each of its addresses on the devnet', async () => {
    const { plugin, bench } = found()
    const addresses = plugin.venues.filter(({ network }) => network === bench.network).flatMap(({ contracts }) => Object.values(contracts))
    expect(addresses).to.not.have.length(0)
    for (const address of addresses) expect(await node(bench, 'eth_getCode', address, 'latest'), address).to.not.equal('0x')
  })
}

/** Paths of the keys that are wrong, as the server's own reading of this configuration says. */
async function problemsWith({ name, manifest: { schema } }: LoadedPlugin, config: Section): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-config-'))
  try {
    await writeFile(path.join(folder, 'defaults.yml'), stringify(config))
    loadPluginConfig({ kind: 'connector', name, confDir: path.join(folder, 'conf'), pluginFolder: folder, schema, env: {} })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) => problem.path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
