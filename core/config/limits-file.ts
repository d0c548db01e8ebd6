// Reads `conf/limits.yml`, and holds what it names against what there is.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { checkFile } from './check.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import { spellingProblems, unknownProblems, type SigningNetworks } from './wallet-limit-names.ts'
import { asFarAsRight, validateLimits, type WalletLimits } from './wallet-limits.ts'
import { dottedPath } from './tree.ts'
import { locate, readYaml, withoutEmptyKeys } from './yaml.ts'

export const limitsFile = (confDir: string): string => path.join(confDir, 'limits.yml')
export const shownLimitsFile = (confDir: string): string => path.join(path.basename(confDir), 'limits.yml')

/**
 * Reads what the operator's file says; nothing where there is none. Variables of the environment are not put in: the file alone counts.
 * @param known what it is held against, where there are limits; absent: what it names is not looked up
 * @throws ConfigError with every problem
 */
export function readWalletLimits(confDir: string, known?: () => SigningNetworks): WalletLimits {
  const file = limitsFile(confDir)
  if (!existsSync(file)) return {}
  const shown = shownLimitsFile(confDir)
  const problems: ConfigProblem[] = []
  const yaml = readYaml(file, shown, problems, true)
  const strict = yaml && withoutEmptyKeys(yaml, () => 'Write a value ("0" allows nothing), or remove the key.')
  const checked = yaml && checkFile(validateLimits, { file: shown, yaml: strict }, {}, problems)
  const named = checked?.value.wallets ?? asFarAsRight(yaml?.value ?? {})
  const found = [...spellingProblems(named), ...(known && Object.keys(named).length > 0 ? unknownProblems(named, known()) : [])]
  const told = new Set(problems.map((each) => each.path))
  for (const { pointer, ...why } of found)
    if (!told.has(dottedPath(pointer))) problems.push({ ...locate(pointer, yaml ? [yaml] : [], shown), ...why })
  if (problems.length > 0) throw new ConfigError(problems)
  return checked?.value.wallets ?? {}
}
