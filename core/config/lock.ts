// sluice.lock, beside the conf folder: which plugins of third parties may run, with which bytes, and what they may touch.
import { dirname, join } from 'node:path'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import * as Value from 'typebox/value'
import { stringify } from 'yaml'
import { writeWholeFile } from '../whole-file.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import { dottedPath } from './tree.ts'
import { readYaml } from './yaml.ts'

const text = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

const typedData = Type.Object(
  {
    domain: Type.String(),
    primaryType: Type.String(),
    chainId: Type.Optional(Type.Integer({ minimum: 1 })),
    own: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
)

const lockedNetwork = Type.Object(
  {
    /** By their names in the plugin's defaults. */
    contracts: Type.Record(Type.String(), text('an address')),
    /** Those of the contracts that may be given allowances. */
    spenders: Type.Array(text('an address')),
  },
  { additionalProperties: false },
)

export const lockedPlugin = Type.Object(
  {
    version: Type.Optional(text('a version')),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of its files' }),
    tier: Type.Union([Type.Literal('contained'), Type.Literal('trusted')]),
    kind: Type.Union([Type.Literal('chain'), Type.Literal('connector')]),
    /** Of a chain: the curve of its wallets' keys. */
    keys: Type.Optional(Type.Union([Type.Literal('secp256k1'), Type.Literal('ed25519')])),
    /** By `chain/network`. */
    networks: Type.Record(Type.String(), lockedNetwork),
    /** The kinds of typed data that may be signed for it. */
    signs: Type.Array(typedData),
    /** Hosts that its files name. */
    hosts: Type.Array(text('a host')),
  },
  { additionalProperties: false },
)
export type LockedPlugin = Static<typeof lockedPlugin>

const lockSchema = Type.Object(
  { lockVersion: Type.Literal(1), plugins: Type.Record(Type.String(), lockedPlugin) },
  { additionalProperties: false },
)

/** By the names of the plugins' folders. */
export type PluginLock = Readonly<Record<string, LockedPlugin>>

export const lockFile = (confDir: string): string => join(dirname(confDir), 'sluice.lock')

/** The plugins that were allowed; none where there is no file. @throws ConfigError */
export function readLock(confDir: string): PluginLock {
  const problems: ConfigProblem[] = []
  const cure = 'Restore it, or move it away and allow the plugins again: sluice plugin allow <name>.'
  const read = readYaml(lockFile(confDir), 'sluice.lock', problems)
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => ({ ...problem, cure })))
  if (read === undefined) return {}
  if (Value.Check(lockSchema, read.value)) return read.value.plugins
  const [first] = Value.Errors(lockSchema, read.value)
  throw new ConfigError([
    {
      file: 'sluice.lock',
      path: dottedPath(first?.instancePath ?? ''),
      problem: first?.message ?? 'is not what this version writes',
      cure,
    },
  ])
}

const heading = `# Which plugins of third parties may run, with which bytes, and what they may touch.
# Written by \`sluice plugin allow|trust|remove\`. A plugin that is not here, or has other bytes, is not run.
`

/** Writes the whole file, or leaves it as it was. */
export async function writeLock(confDir: string, plugins: PluginLock): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(plugins).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const content = heading + stringify({ lockVersion: 1, plugins: sorted }, { lineWidth: 0 })
  await writeWholeFile(lockFile(confDir), content, 0o644)
}
