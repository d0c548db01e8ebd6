// Every kind of key source, and what their declarations say of a setting.
import * as Type from 'typebox'
import { devnetKeys } from './devnet-keys.ts'
import type { KeySource, KeySourceContext, KeySourceSetting, OpenedKeys } from './key-source.ts'
import { keystoreSource } from './keystore-source.ts'

export type KeySources = Readonly<Record<string, KeySource>>

/** By the `kind` of the setting `wallet.keySources`. */
export const keySources: KeySources = {
  keystore: keystoreSource,
  devnet: devnetKeys,
}

/** Where the setting is absent. */
export const defaultKeySources: readonly KeySourceSetting[] = [{ kind: 'keystore' }]

const kindOf = (sources: KeySources, kind: string): KeySource | undefined => (Object.hasOwn(sources, kind) ? sources[kind] : undefined)

/**
 * JSON Schema of one entry of `wallet.keySources`: a mapping with `kind` and the options of that kind, or the kind alone as text. It is written
 * with `if`, so that what is wrong is said of the kind that is meant.
 */
export function keySourceSchema(sources: KeySources = keySources) {
  const kinds = Object.keys(sources)
  const needsOptions = (kind: string) => sources[kind]?.options.required?.length
  const onlySo = kinds.filter(needsOptions).map((kind) => `"${kind}"`)
  const options = Object.entries(sources).map(([name, source]) => ({
    if: { type: 'object', required: ['kind'], properties: { kind: { const: name } } },
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema
    then: { ...source.options, properties: { kind: {}, ...source.options.properties } },
  }))
  return Type.Unsafe<string | KeySourceSetting>({
    anyOf: [
      { type: 'string', enum: kinds.filter((kind) => !needsOptions(kind)), description: 'the kind of a key source alone' },
      {
        type: 'object',
        description: `kind and its options: { kind: …, … }${onlySo.length > 0 ? `; only so ${onlySo.join(', ')}` : ''}`,
        required: ['kind'],
        properties: { kind: { type: 'string', enum: kinds, description: 'Kind of key source' } },
        allOf: options,
      },
    ],
  })
}

/** The setting in its long form. */
export const keySourceSetting = (given: string | KeySourceSetting): KeySourceSetting =>
  typeof given === 'string' ? { kind: given } : given

/** An unknown kind may be anything. */
const isReal = ({ kind }: KeySourceSetting): boolean => kindOf(keySources, kind)?.signsFor !== 'devnet'

/** Whether there may be keys that are worth something: a source has some, or some are on this disk that no source opens now. */
export function mayHaveRealKeys(settings: readonly KeySourceSetting[], dataDir: string): boolean {
  const mayHave = settings.some((each) => isReal(each) && (kindOf(keySources, each.kind)?.hasKeys?.(dataDir) ?? true))
  return mayHave || Object.values(keySources).some(({ signsFor, hasKeys }) => signsFor === 'real' && hasKeys?.(dataDir) === true)
}

/** Whether a source opens keys that are worth something without the keystore's passphrase. */
export const opensRealKeys = (settings: readonly KeySourceSetting[]): boolean =>
  settings.some((each) => isReal(each) && kindOf(keySources, each.kind)?.needsPassphrase !== true)

/** Whether a source has keys that the keystore's passphrase opens. */
export const needsPassphrase = (settings: readonly KeySourceSetting[], dataDir: string): boolean =>
  settings.some(({ kind }) => {
    const source = kindOf(keySources, kind)
    return source?.needsPassphrase === true && (source.hasKeys?.(dataDir) ?? true)
  })

/** The variables that the signer's process gets for these sources. */
export const variablesOf = (settings: readonly KeySourceSetting[], sources: KeySources = keySources): readonly string[] => [
  ...new Set(settings.flatMap(({ kind }) => Object.keys(kindOf(sources, kind)?.environment ?? {}))),
]

/** What a source is and needs, for people. @returns undefined for an unknown kind */
export function describeKeySource({ kind, ...options }: KeySourceSetting, sources: KeySources = keySources) {
  const source = kindOf(sources, kind)
  return source && { kind, description: source.description, environment: source.environment, network: source.network(options) }
}

/** Opens one source, in the signer's process. @returns why keys cannot be opened, too */
export async function openKeySource(
  { kind, ...options }: KeySourceSetting,
  context: Omit<KeySourceContext, 'environment'>,
  { sources = keySources, env = process.env }: { sources?: KeySources; env?: Readonly<Record<string, string | undefined>> } = {},
): Promise<OpenedKeys & { readonly problems: readonly string[] }> {
  const source = kindOf(sources, kind)
  if (!source) {
    const problem = `wallet.keySources names "${kind}", which is not a source of keys: use ${Object.keys(sources).join(' or ')}.`
    return { wallets: [], locked: [], problems: [problem] }
  }
  const environment = Object.fromEntries(
    Object.keys(source.environment).flatMap((name): [string, string][] => (env[name] === undefined ? [] : [[name, env[name]]])),
  )
  const opened = await source.open(options, { ...context, environment })
  return { ...opened, problems: opened.locked.map(({ problem }) => problem) }
}
