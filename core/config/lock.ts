// sluice.lock, beside the conf folder: which plugins of third parties may run, with which bytes, and what they may touch.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { stringify } from 'yaml'
import { firstProblem, fits } from '../base/schema-check.ts'
import { command } from '../base/layout.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import { dottedPath } from './tree.ts'
import { maxTextBytes, readYaml, readYamlText, type YamlFile } from './yaml.ts'

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
    /** Of a chain's network. */
    chainId: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Of a chain's network: the highest price of gas (EVM) or priority fee (Solana), in the smallest unit, unless conf says otherwise. */
    feeCapRaw: Type.Optional(Type.String({ pattern: '^[0-9]{1,40}$', description: 'a number without a sign, as text' })),
    local: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

export const lockedPlugin = Type.Object(
  {
    version: Type.Optional(text('a version')),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of its files' }),
    tier: Type.Union([Type.Literal('contained'), Type.Literal('trusted'), Type.Literal('data')]),
    kind: Type.Union([Type.Literal('chain'), Type.Literal('connector'), Type.Literal('interface')]),
    /** Of a chain: the curve of its wallets' keys. */
    keys: Type.Optional(Type.Union([Type.Literal('secp256k1'), Type.Literal('ed25519')])),
    /** By `chain/network`. */
    networks: Type.Record(Type.String(), lockedNetwork),
    /** The kinds of typed data that may be signed for it. */
    signs: Type.Array(typedData),
    /** The transfers by which deposits reach it from other chains. Absent in records of older versions. */
    deposits: Type.Optional(
      Type.Array(
        Type.Object(
          { chain: Type.String(), network: Type.String(), token: text('an address'), recipient: text('an address') },
          { additionalProperties: false },
        ),
      ),
    ),
    /** Of an interface: the endpoints that each of its paths calls, by method and path. Absent: it does not say. */
    calls: Type.Optional(
      Type.Record(text('a method and a path'), Type.Array(text('an endpoint'), { maxItems: 200 }), { maxProperties: 500 }),
    ),
    /** Of an interface: those of its paths that sign more than what their callers sent. */
    decides: Type.Optional(Type.Array(text('a method and a path'), { maxItems: 500 })),
    /** Hosts that its files name. */
    hosts: Type.Array(text('a host')),
    /** Where it came from, of one that `sluice plugin add` brought. */
    source: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'a source' })),
    /** When it was allowed: an older record never takes the place of a newer one. */
    allowedAt: Type.Optional(text('a time')),
    /**
     * When the first record was made of those that followed each other without the plugin being taken out of the lock. What was in force since then
     * was replaced by the operator, not taken away. Absent in the first record, and in those of older versions.
     */
    since: Type.Optional(text('a time')),
    /** What only somebody with the keystore's passphrase can make of this record: core/wallet/lock-seal.ts. */
    seal: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'HMAC-SHA256' })),
  },
  { additionalProperties: false },
)
export type LockedPlugin = Static<typeof lockedPlugin>

/** How the key of the seals comes of the passphrase. */
const sealing = Type.Object(
  {
    kdf: Type.Literal('scrypt'),
    n: Type.Integer({ minimum: 1024, maximum: 2 ** 20 }),
    r: Type.Literal(8),
    p: Type.Literal(1),
    salt: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  { additionalProperties: false },
)
export type SealParameters = Static<typeof sealing>

const lockSchema = Type.Object(
  { lockVersion: Type.Literal(1), sealing: Type.Optional(sealing), plugins: Type.Record(Type.String(), lockedPlugin) },
  { additionalProperties: false },
)

export interface LockContent {
  readonly plugins: PluginLock
  readonly sealing?: SealParameters
}

/** By the names of the plugins' folders. */
export type PluginLock = Readonly<Record<string, LockedPlugin>>

export const lockFile = (confDir: string): string => join(dirname(confDir), 'sluice.lock')

/** The plugins that were allowed; none where there is no file. @throws ConfigError */
export const readLock = (confDir: string): PluginLock => readLockContent(confDir).plugins

/** The same with how it is sealed. @param from its descriptor, where it is open @throws ConfigError */
export function readLockContent(confDir: string, from: string | number = lockFile(confDir)): LockContent {
  const problems: ConfigProblem[] = []
  return contentOf(readYaml(from, 'sluice.lock', problems), problems, restoreRemedy)
}

const restoreRemedy = `Restore it, or move it away and allow the plugins again: ${command} plugin allow <name>.`

/** @throws ConfigError */
function contentOf(read: YamlFile | undefined, problems: readonly ConfigProblem[], remedy: string): LockContent {
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => ({ ...problem, remedy })))
  if (read === undefined) return { plugins: {} }
  if (fits(lockSchema, read.value)) return read.value
  const first = firstProblem(lockSchema, read.value)
  throw new ConfigError([
    {
      file: 'sluice.lock',
      path: dottedPath(first?.instancePath ?? ''),
      problem: first?.message ?? 'is not what this version writes',
      remedy,
    },
  ])
}

/**
 * The lock as a server that runs sees it. Undefined where it cannot be read, or is away for a moment: `plugin remove` leaves a file.
 * @param hadPlugins whether it had some before: without any there may be no file
 * @param from its descriptor, where it is open
 */
export function readLockAgain(confDir: string, hadPlugins: boolean, from?: number): LockContent | undefined {
  try {
    const content = readLockContent(confDir, from)
    return hadPlugins && !existsSync(lockFile(confDir)) ? undefined : content
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined
    throw thrown
  }
}

// The file is copied to other machines, where another line may be what one types: it has the command's plain name.
const heading = `# Which plugins of third parties may run, with which bytes, and what they may touch.
# Written by \`sluice plugin allow|trust|remove\`. A plugin that is not here, or has other bytes, is not run.
`

/** Writes the whole file, or leaves it as it was. @throws ConfigError for what could not be read again */
export async function writeLock(confDir: string, plugins: PluginLock, sealed?: SealParameters): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(plugins).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const content =
    heading +
    stringify({ lockVersion: 1, ...(sealed && { sealing: sealed }), plugins: sorted }, { lineWidth: 0, aliasDuplicateObjects: false })
  refuseUnreadable(content)
  await writeWholeFile(lockFile(confDir), content, 0o644)
}

/** A lock that cannot be read refuses all plugins of third parties. @throws ConfigError */
function refuseUnreadable(content: string): void {
  const remedy = `Nothing was changed. Take out what is not used: ${command} plugin remove <name>.`
  const bytes = Buffer.byteLength(content)
  const problems: ConfigProblem[] = []
  if (bytes > maxTextBytes)
    problems.push({ file: 'sluice.lock', path: '', problem: `would have ${bytes} bytes, and at most ${maxTextBytes} are read`, remedy })
  contentOf(problems.length > 0 ? undefined : readYamlText(content, 'sluice.lock', problems), problems, remedy)
}
