import { basename, dirname, join } from 'node:path'
import { chainConfig } from './plugins/chain-config.ts'
import { checkTree } from './check.ts'
import { compilePluginSchema } from './plugins/compile-plugin-schema.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import type { Environment } from './settings/environment.ts'
import type { NetworkSettings } from './plugins/network-settings.ts'
import { place } from './yaml/place.ts'
import { readYaml } from './yaml.ts'
import type { Trouble } from './yaml/substitute.ts'
import { layOver, type Section } from './tree.ts'

export interface PluginConfigSources {
  kind: 'chain' | 'connector'
  /** The plugin's name, which is that of its file in the conf folder. */
  name: string
  confDir: string
  pluginFolder: string
  /** JSON Schema of the manifest; a chain's describes one network's entry. */
  schema: object
  env?: Environment
  /** A chain's networks as its manifest has them: each gets an entry, and no other is known. Absent: those of the files. */
  networks?: readonly string[]
}

export interface PluginConfig {
  /** Checked. A connector's settings; for a chain, those of each enabled network by its name. */
  config: Section
  /** The same with secrets masked. */
  shown: Section
  /** What the kernel reads of a chain's networks; empty for a connector. */
  networks: Readonly<Record<string, NetworkSettings>>
}

/** `defaults.yml` of the plugin's folder with the operator's file laid over it. @throws ConfigError with every problem */
export function loadPluginConfig({
  kind,
  name,
  confDir,
  pluginFolder,
  schema,
  env = process.env,
  networks,
}: PluginConfigSources): PluginConfig {
  if (!/^\w[\w-]*$/.test(name))
    throw new ConfigError([
      { file: pluginFolder, path: 'manifest.name', problem: 'is not a name that a file can have', cure: 'Use letters, digits, - and _.' },
    ])
  const validate = compilePluginSchema(schema, name)
  const file = join(`${kind}s`, `${name}.yml`)
  const shownFile = join(basename(confDir), file)
  const problems: ConfigProblem[] = []
  const layers = [
    readYaml(join(pluginFolder, 'defaults.yml'), join(basename(pluginFolder), 'defaults.yml'), problems),
    readYaml(join(confDir, file), shownFile, problems),
  ].filter((layer) => layer !== undefined)
  if (problems.length > 0) throw new ConfigError(problems)

  const tree = layers.reduce<Section>((below, layer) => layOver(below, layer.value), {})
  const checked =
    kind === 'chain'
      ? chainConfig(tree, { validate, env, networks, home: dirname(confDir) })
      : connectorConfig(checkTree(tree, { validate, env }))
  if ('config' in checked) return checked
  throw new ConfigError(checked.troubles.map(({ pointer, problem, cure }) => ({ ...place(pointer, layers, shownFile), problem, cure })))
}

function connectorConfig(checked: ReturnType<typeof checkTree<Section>>): PluginConfig | { troubles: readonly Trouble[] } {
  return 'value' in checked ? { config: checked.value, shown: checked.shown, networks: {} } : checked
}
