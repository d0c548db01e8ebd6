import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { ConfigError } from '../../config/problems.ts'
import { loadPluginConfig } from '../../config/plugin-config.ts'
import type { LoadedPlugin } from '../../loader/loaded-plugin.ts'
import { node, type Bench } from '../../../testkit/cards/venue.ts'

type Section = Record<string, unknown>

/** What every plugin must hold to, chain or connector. */
export function pluginCards(found: () => { plugin: LoadedPlugin; bench: Bench }): void {
  it('PLUGIN-01 the server loads it and shows it', async () => {
    const { plugin, bench } = found()
    const { body } = await bench.client.get('/plugins')
    // An exchange and its own chain may have one name.
    const shown = body.find(({ name, kind }: { name: string; kind: string }) => name === plugin.name && kind === plugin.kind)
    expect(shown).to.include({ state: 'loaded' })
  })

  it('PLUGIN-02 what it says of itself in its manifest is what the server shows', async () => {
    const { plugin, bench } = found()
    const { name, trading_type, available_networks } = plugin.manifest
    expect(name).to.equal(path.basename(plugin.folder))
    const { body } = await bench.client.get('/connector/config', { connector: name })
    expect(body).to.deep.include({ name, trading_type, available_networks })
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
    for (const key of required) expect(await problemsWith(plugin, changed(effective(plugin), [key])), key).to.include(key)
    for (const [name, key] of innerSections(effective(plugin))) {
      const place = `${name}.${key}`
      // Whoever has addresses needs some of them; a version needs all that it has.
      if (Object.keys(valueAt(effective(plugin), [name, key])).length === 0) continue
      const problems = await problemsWith(plugin, changed(effective(plugin), [name, key], {}))
      expect(problems, place).to.satisfy((paths: readonly string[]) => paths.some((path) => path.startsWith(`${place}.`)))
      if (name === 'versions') expect(problems).to.include.members([`${place}.allowedSlippage`, `${place}.ttl`])
    }
  })

  it('CONFIG-03 an unknown key is named, at the top, among the addresses of a network and in a version', async () => {
    const { plugin } = found()
    for (const place of [[], ...innerSections(effective(plugin))]) {
      const path = [...place, 'slipage']
      expect(await problemsWith(plugin, changed(effective(plugin), path, '1/100'))).to.include(path.join('.'))
    }
  })
}

/** Of exchanges that are on the devnet. */
export function addressCards(found: () => { plugin: LoadedPlugin; bench: Bench }): void {
  it('ADDRESS-01 there is a contract at each of its addresses on the devnet', async () => {
    const { plugin, bench } = found()
    const addresses = plugin.venues.filter(({ network }) => network === bench.network).flatMap(({ contracts }) => Object.values(contracts))
    expect(addresses).to.not.have.length(0)
    for (const address of addresses) expect(await node(bench, 'eth_getCode', address, 'latest'), address).to.not.equal('0x')
  })
}

/** Where a configuration has keys of its own below the top: each network's addresses, each version. */
const innerSections = (config: Section): readonly (readonly [string, string])[] =>
  ['contractAddresses', 'versions'].flatMap((name) => Object.keys(valueAt(config, [name])).map((key): [string, string] => [name, key]))

/** The section at a path; empty where there is none. */
const valueAt = (config: Section, path: readonly string[]): Section => path.reduce<Section>((section, key) => Object(section[key]), config)

/** The same configuration with another value at a path, or without what is there. */
function changed(config: Section, path: readonly string[], value?: unknown): Section {
  const section = valueAt(config, path.slice(0, -1))
  const key = path.at(-1) ?? ''
  if (value === undefined) delete section[key]
  else section[key] = value
  return config
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
