// `conf/limits.yml`: what the signer lets each wallet give away on each network, per transaction, hour and day.
import { existsSync } from 'node:fs'
import path from 'node:path'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { walletAddress } from '../keys/curves.ts'
import { checkFile, compile } from './check.ts'
import { amountPattern, networkPattern } from './patterns.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import { locate, readYaml, withoutEmptyKeys } from './yaml.ts'

const amount = Type.Union([Type.String({ pattern: amountPattern }), Type.Number({ minimum: 0 })], {
  description: 'in whole units, in quotes where it is long or very small',
})
const decimals = Type.Integer({ minimum: 0, maximum: 36, description: 'digits after the point of its smallest unit' })
const bounds = {
  perTransaction: Type.Optional(amount),
  perHour: Type.Optional(amount),
  perDay: amount,
}
const row = Type.Object(bounds, { additionalProperties: false })
const rowWithDecimals = Type.Object({ decimals, ...bounds }, { additionalProperties: false })
const counts = Type.Object(
  { perHour: Type.Optional(Type.Integer({ minimum: 0 })), perDay: Type.Integer({ minimum: 0 }) },
  { additionalProperties: false },
)

const networkLimits = Type.Object(
  {
    unreadable: Type.Optional(
      Type.Enum(['refuse', 'allow'], { description: 'What is signed of calls whose amounts the signer cannot read; refuse where absent' }),
    ),
    native: Type.Optional(row),
    gasCost: row,
    transactions: Type.Optional(counts),
    withdrawals: Type.Optional(row),
    tokens: Type.Optional(Type.Record(Type.String(), rowWithDecimals, { description: 'by the address of the token' })),
  },
  { additionalProperties: false },
)

const limitsSchema = Type.Object(
  {
    wallets: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String({ pattern: networkPattern }), networkLimits), {
        description: 'by the address of the wallet, and by chain/network',
      }),
    ),
  },
  { additionalProperties: false },
)
const validate = compile(limitsSchema)

/** Withdrawals from Hyperliquid are signed in dollars with so many decimals. */
export const withdrawalDecimals = 6

export type LimitRow = Static<typeof row> & { readonly decimals?: number }
export type NetworkLimits = Static<typeof networkLimits>
/** By the address of the wallet, and by `chain/network`. */
export type WalletLimits = Readonly<Record<string, Readonly<Record<string, NetworkLimits>>>>

export const limitsFile = (confDir: string): string => path.join(confDir, 'limits.yml')

/**
 * Reads what the operator's file says; nothing where there is none. Variables of the environment are not put in: the file alone counts.
 * @throws ConfigError with every problem
 */
export function readWalletLimits(confDir: string): WalletLimits {
  const file = limitsFile(confDir)
  if (!existsSync(file)) return {}
  const shown = path.join(path.basename(confDir), 'limits.yml')
  const problems: ConfigProblem[] = []
  const yaml = readYaml(file, shown, problems)
  const strict = yaml && withoutEmptyKeys(yaml, () => 'Write a value ("0" allows nothing), or remove the key.')
  const checked = problems.length > 0 ? undefined : checkFile(validate, { file: shown, yaml: strict }, {}, problems)
  const wallets = checked?.value.wallets ?? {}
  if (yaml)
    for (const wallet of Object.keys(wallets).filter(isMistyped))
      problems.push({ ...locate(`/wallets/${wallet}`, [yaml], yaml.file), ...mistyped })
  if (problems.length > 0) throw new ConfigError(problems)
  return wallets
}

/** An address of EVM whose letters, small and large, are not those of its checksum: it would bound nothing. */
const isMistyped = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text) && walletAddress(text) === undefined

const mistyped = {
  problem: 'is no address: its letters do not have the right checksum, so it would bound no wallet',
  remedy: 'Copy the address again.',
}
