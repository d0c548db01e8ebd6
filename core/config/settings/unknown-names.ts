import type { ConfigProblem } from '../problems.ts'
import { variable, type Environment } from './environment.ts'
import { nearest, suggestion } from '../checks/nearest.ts'
import type { Flags } from './overrides.ts'
import { settingKeys } from './setting-keys.ts'
import { passphraseVariable } from './wallet-passphrase.ts'

const knownVariables = [
  'SLUICE_CONF',
  passphraseVariable,
  ...settingKeys.flatMap(({ environmentName }) => [environmentName, `${environmentName}_FILE`]),
]

/** A warning for each variable that looks as if it should set something, and does not. */
export function unknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && variable(env, name) !== undefined && !knownVariables.includes(name))
    .map((name) => {
      const near = nearest(name, knownVariables)
      return `The environment variable ${name} sets nothing.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}

export function unknownFlags(flags: Flags): ConfigProblem[] {
  const known = settingKeys.map(({ name }) => name)
  return Object.keys(flags)
    .filter((name) => !known.includes(name))
    .map((name) => ({ file: 'command line', path: name, problem: 'is not a known setting', cure: suggestion(name, known) }))
}
