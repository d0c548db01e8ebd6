import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { endpoints, errorTable, permissions, permissionUses } from '../../core/api/index.ts'
import { rules as alertRules } from '../../core/alerts/index.ts'
import { alertsFile } from '../../core/config/alerts-file.ts'
import { expected } from '../../core/config/problems.ts'
import { defaultOf, describeSettings } from '../../core/config/settings-schema.ts'
import type { Plugin } from '../../core/contracts/index.ts'
import {
  measureApprovals,
  measureClientsFile,
  measureLiveState,
  measureNodes,
  measurePlugins,
  measureQuotes,
  measureSignerCount,
  measureStops,
  measureStore,
  measureTransactions,
} from '../../core/http/gauges.ts'
import { createMetrics } from '../../core/http/metrics.ts'
import { describeKeySource, keySources } from '../../core/keys/sources.ts'

/**
 * What pages have between `<!-- generated: <name> -->` and `<!-- end -->`, by that name; from what the code declares.
 * Words after the name narrow it: `endpoints AMM` has those of one set.
 */
export const tables: Readonly<Record<string, (words: readonly string[]) => string | Promise<string>>> = {
  errors: () =>
    table(
      ['code', 'name', 'HTTP', 'when', 'what to do'],
      Object.entries(errorTable).map(([name, { code, http, when, remedy }]) => [String(code), quoted(name), String(http), when, remedy]),
    ),
  permissions: () =>
    table(
      ['permission', 'what it allows', 'endpoints'],
      permissions.map((each) => [quoted(each), permissionUses[each], pathsOf(each)]),
    ),
  endpoints: (sets) =>
    table(
      ['method', 'path', 'permission', 'what'],
      endpoints
        .filter(({ set }) => sets.includes(set))
        .map((each) => [each.method, quoted(each.path), permissionOf(each) ?? '', each.summary]),
    ),
  settings: () =>
    table(
      ['setting', 'default', 'environment', 'value'],
      describeSettings().map((row) => [quoted(row.name), quoted(row.default), quoted(row.environmentName), row.description]),
    ),
  keys: () =>
    table(
      ['kind', 'what it is', 'options', 'variables that its process gets', 'where it connects to'],
      Object.keys(keySources).flatMap((kind) => {
        const source = describeKeySource({ kind })
        const options = Object.entries(keySources[kind]?.options.properties ?? {})
        if (!source) return []
        const described = options.map(([name, schema]) => `${quoted(name)}: ${expected(schema)}`)
        const variables = Object.entries(source.environment).map(([name, what]) => `${quoted(name)}: ${what}`)
        return [[quoted(kind), source.description, orNone(described), orNone(variables), orNone(source.network)]]
      }),
    ),
  alertRules: () =>
    table(
      ['rule', 'message', 'what it looks at', 'what one is about', 'what to do'],
      Object.entries(alertRules).map(([name, { title, looksAt, about, remedy }]) => [quoted(name), title, looksAt, about, remedy]),
    ),
  alertSettings: () =>
    table(
      ['setting', 'default', 'environment', 'value'],
      alertsFile.keys.map((key) => [
        quoted(key.name.replace(/^alerts\./, '')),
        quoted(defaultOf(key)),
        quoted(key.environmentName),
        expected({ ...key.schema, default: undefined }),
      ]),
    ),
  metrics: () =>
    table(
      ['metric', 'labels', 'what it says'],
      shownMetrics().map(({ name, labels, help }) => [quoted(name), labels.join(', '), help]),
    ),
  supported: () => supportedTable(),
}

// A union of literal types has the key only where it is set.
const permissionOf = (each: (typeof endpoints)[number]) => ('permission' in each ? each.permission : undefined)

const mostNamed = 5

function pathsOf(permission: string): string {
  const paths = endpoints.filter((each) => permissionOf(each) === permission).map((each) => quoted(each.path))
  return paths.length > mostNamed ? `${paths.length} endpoints` : paths.join(', ')
}

const orNone = (items: readonly string[]) => (items.length === 0 ? 'none' : items.join('; '))

const quoted = (text: string) => (text === '' ? '' : `\`${text}\``)

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n')
}

interface ShownMetric {
  readonly name: string
  readonly labels: readonly string[]
  readonly help: string
}

/** Every metric of the server's own. */
export function shownMetrics(): ShownMetric[] {
  const metrics = createMetrics()
  const log = { warn: () => {} }
  measureStore(metrics, { failing: async () => undefined })
  measureSignerCount(metrics, { countProblem: () => undefined })
  measureStops(metrics, { list: async () => [] })
  measureApprovals(metrics, { count: async () => new Map() })
  measureClientsFile(metrics, { isWrong: () => false })
  measureTransactions(metrics, { journal: { openQueues: async () => [], unfinished: async () => [] }, networks: [], log })
  measureNodes(metrics, { networks: [] })
  measureLiveState(metrics, { books: { size: 0 }, quotes: { size: 0 }, following: { all: () => [] } })
  measureQuotes(metrics, { networks: [], venuesOn: () => [] })
  measurePlugins(metrics, { plugins: [] })
  return metrics.registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('sluice_'))
    .map((metric) => ({
      name: metric.name,
      labels: 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [],
      help: metric.help,
    }))
}

const folder = fileURLToPath(new URL('../../plugins', import.meta.url))
const localNetwork = 'local'

/** The exchanges and chains of the built-in plugins, by their manifests. */
async function supportedTable(): Promise<string> {
  const plugins = await loadPlugins()
  const chainNames = plugins.filter(({ kind }) => kind === 'chain').map(({ manifest }) => manifest.name)
  const rows = plugins
    .filter(({ kind }) => kind === 'connector')
    .map(({ manifest: { name, trading_type: types, available_networks: networks } }) => {
      const outside = networks.filter((each) => each.networks.some((network) => network !== localNetwork))
      const chains = outside.length > 0 ? outside.map(({ chain }) => chain) : networks.map(({ chain }) => `${chain} (${localNetwork})`)
      return `| ${name} | ${types.join(', ')} | ${chains.join(', ')} |`
    })
  return ['| exchange | interfaces | chains |', '|---|---|---|', ...rows, '', `Chains: ${chainNames.join(', ')}.`].join('\n')
}

async function loadPlugins(): Promise<Plugin[]> {
  const names = readdirSync(folder).toSorted()
  const modules = await Promise.all(names.map((name) => import(pathToFileURL(path.join(folder, name, 'index.ts')).href)))
  return modules.map(({ default: plugin }) => plugin as Plugin)
}
