import { serverFile, settingKeys, type SettingKey } from './setting-keys.ts'
import { expected } from '../checks/expected.ts'
import { passphraseVariable } from './wallet-passphrase.ts'

export interface SettingRow {
  name: string
  file: string
  /** As it would be written in the file; empty where there is none. */
  default: string
  environmentName: string
  /** What may be set, and what for. */
  description: string
}

/** Every setting with its default and its name in the environment, from the schemas that validate them. */
export function describeSettings(): SettingRow[] {
  const rows = settingKeys.map((key) => ({
    name: key.name,
    file: serverFile.keys.includes(key) ? 'conf/server.yml' : 'conf/ssl.yml',
    default: defaultOf(key),
    environmentName: key.environmentName,
    description: expected({ ...key.schema, default: undefined }),
  }))
  const passphrase = {
    name: 'wallet.passphrase',
    file: 'none',
    default: '',
    environmentName: passphraseVariable,
    description: 'file that holds the passphrase of the keystore; without it, it is asked for at a terminal',
  }
  const after = rows.findLastIndex(({ name }) => name.startsWith('wallet.')) + 1
  return rows.toSpliced(after, 0, passphrase)
}

/** The same as a table in Markdown. */
export function settingsTable(): string {
  const rows = describeSettings().map(
    (row) => `| \`${row.name}\` | ${code(row.default)} | \`${row.environmentName}\` | ${cell(row.description)} |`,
  )
  return ['| setting | default | environment | value |', '|---|---|---|---|', ...rows].join('\n')
}

function defaultOf({ schema }: SettingKey): string {
  const value = schema['default']
  if (Array.isArray(value)) return `[${value.join(', ')}]`
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}
