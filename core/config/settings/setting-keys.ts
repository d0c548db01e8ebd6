import { serverSchema, sslSchema } from '../settings-schema.ts'
import { isSection, type Section } from '../tree.ts'

/** One thing that an operator can set. */
export interface SettingKey {
  /** E.g. `server.port`; those of ssl.yml begin with `ssl.`. */
  name: string
  /** Place inside its file. */
  pointer: string
  environmentName: string
  /** Its piece of JSON Schema. */
  schema: Section
}

export interface SettingsFile {
  file: 'server.yml' | 'ssl.yml'
  keys: readonly SettingKey[]
  /** The tree that holds with an empty file. */
  defaults: Section
}

export const serverFile = settingsFile('server.yml', serverSchema, '')
export const sslFile = settingsFile('ssl.yml', sslSchema, 'ssl.')
export const settingKeys: readonly SettingKey[] = [...serverFile.keys, ...sslFile.keys]

/** `server.requestTimeoutSeconds` → `SLUICE_SERVER_REQUEST_TIMEOUT_SECONDS`. */
export function environmentName(name: string): string {
  return `SLUICE_${name.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`
}

function settingsFile(file: SettingsFile['file'], schema: unknown, prefix: string): SettingsFile {
  return { file, keys: keysOf(schema, '', prefix), defaults: defaultsOf(schema) }
}

function propertiesOf(schema: unknown): [string, Section][] {
  const properties = isSection(schema) && isSection(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).flatMap(([key, value]) => (isSection(value) ? [[key, value]] : []))
}

function keysOf(schema: unknown, pointer: string, prefix: string): SettingKey[] {
  return propertiesOf(schema).flatMap(([key, inner]) => {
    const name = prefix + key
    const at = `${pointer}/${key}`
    return inner['type'] === 'object'
      ? keysOf(inner, at, `${name}.`)
      : [{ name, pointer: at, environmentName: environmentName(name), schema: inner }]
  })
}

function defaultsOf(schema: unknown): Section {
  const defaults: Section = {}
  for (const [key, inner] of propertiesOf(schema)) {
    if (inner['type'] === 'object') defaults[key] = defaultsOf(inner)
    else if ('default' in inner) defaults[key] = structuredClone(inner['default'])
  }
  return defaults
}
