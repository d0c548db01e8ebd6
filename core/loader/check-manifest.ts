import { Ajv, type ErrorObject } from 'ajv'
import { apiVersion as ours, tradingVerbs, type Manifest } from '../contracts/index.ts'
import { deepFreeze } from './deep-freeze.ts'
import { namePattern, type FoundPlugin } from './find.ts'
import type { Description } from './import-plugin.ts'
import { PluginFault } from './refusal.ts'

const tradingTypes = Object.keys(tradingVerbs)

const manifestSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: namePattern.source },
    apiVersion: { type: 'string' },
    trading_type: { type: 'array', items: { enum: tradingTypes }, uniqueItems: true },
    available_networks: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          chain: { type: 'string', pattern: namePattern.source },
          networks: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', pattern: '^\\w{1,64}$' } },
        },
        required: ['chain', 'networks'],
        additionalProperties: false,
      },
    },
    schema: { type: 'object' },
    version: { type: 'string', minLength: 1, maxLength: 64 },
    signs: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          domain: { type: 'string' },
          primaryType: { type: 'string' },
          chainId: { type: 'integer', minimum: 1 },
          own: { type: 'array', minItems: 1, items: { type: 'string' } },
        },
        required: ['domain', 'primaryType'],
        additionalProperties: false,
      },
    },
  },
  required: ['name', 'apiVersion', 'trading_type', 'available_networks', 'schema'],
  additionalProperties: false,
}

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false })
const isManifest = ajv.compile<Manifest>(manifestSchema)

/** The manifest as data that cannot change any more. Throws PluginFault. */
export function checkManifest(found: FoundPlugin, { kind, manifest }: Description): Manifest {
  checkApiVersion(manifest)
  if (!isManifest(manifest)) {
    throw new PluginFault('manifest', (isManifest.errors ?? []).map(describe).join('; '), "Correct these keys of the plugin's manifest.")
  }
  if (manifest.name !== found.name && !isNamesakeChain(kind, manifest.name, found.name)) {
    throw new PluginFault(
      'manifest',
      `The manifest's name '${manifest.name}' is not the folder's, '${found.name}'`,
      'Give both the same name.',
    )
  }
  checkNetworks(kind, manifest)
  return deepFreeze(manifest)
}

/** An exchange that runs a chain of its own has two plugins of one name: the chain's folder has more to its name. */
const isNamesakeChain = (kind: 'chain' | 'connector', name: string, folder: string): boolean =>
  kind === 'chain' && folder === `${name}-chain`

/** First of all: what a later version may have more would only confuse the other checks. */
function checkApiVersion(manifest: unknown): void {
  const theirs = typeof manifest === 'object' && manifest !== null && 'apiVersion' in manifest ? manifest.apiVersion : undefined
  const [major, minor] =
    /^(\d{1,6})\.(\d{1,6})$/
      .exec(typeof theirs === 'string' ? theirs : '')
      ?.slice(1)
      .map(Number) ?? []
  const [ourMajor = 0, ourMinor = 0] = ours.split('.').map(Number)
  if (major === undefined || minor === undefined) {
    throw new PluginFault(
      'manifest',
      `apiVersion ${JSON.stringify(theirs)} is no 'major.minor'; this server's is '${ours}'`,
      `Write apiVersion: '${ours}' when the plugin was made for this version.`,
    )
  }
  if (major !== ourMajor || minor > ourMinor) {
    const cure =
      major > ourMajor || (major === ourMajor && minor > ourMinor)
        ? 'Use a newer server, or a version of the plugin that was made for this one.'
        : 'Use a version of the plugin that was made for this server.'
    throw new PluginFault('manifest', `The plugin is written for plugin interface ${major}.${minor}, this server has ${ours}`, cure)
  }
}

function checkNetworks(kind: 'chain' | 'connector', { name, trading_type, available_networks }: Manifest): void {
  const chains = available_networks.map(({ chain }) => chain)
  const twice = chains.find((chain, index) => chains.indexOf(chain) !== index)
  if (twice !== undefined)
    throw new PluginFault('manifest', `available_networks has '${twice}' twice`, 'List all networks of a chain in one entry.')
  if (kind === 'connector' && trading_type.length === 0) {
    throw new PluginFault('manifest', 'trading_type is empty', `Name at least one of ${tradingTypes.join(', ')}.`)
  }
  if (kind === 'chain' && trading_type.length > 0)
    throw new PluginFault('manifest', "A chain's trading_type is empty", 'Write trading_type: [].')
  if (kind === 'chain' && (chains.length !== 1 || chains[0] !== name)) {
    throw new PluginFault(
      'manifest',
      `A chain's available_networks are its own, this one has ${chains.join(', ')}`,
      `Write available_networks: [{ chain: '${name}', networks: [ … ] }].`,
    )
  }
}

function describe({ instancePath, keyword, message = keyword, params }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll('/', '.') || 'manifest'
  if (keyword === 'additionalProperties') return `${place}: unknown key '${String(params.additionalProperty)}'`
  if (keyword === 'enum') return `${place}: must be one of ${tradingTypes.join(', ')}`
  return `${place}: ${message}`
}
