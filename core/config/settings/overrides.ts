import type { ConfigProblem } from '../problems.ts'
import { variable, type Environment } from './environment.ts'
import { readTextFile } from '../yaml/read-text-file.ts'
import type { SettingKey } from './setting-keys.ts'
import { resolve } from 'node:path'

/** Values of the command line by the setting's name, e.g. `{ 'server.port': '9000' }`; text is read as the environment's is. */
export type Flags = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** A value that goes over the file's. */
export interface Override {
  pointer: string
  value: unknown
  /** Where it came from, for problems. */
  file: 'environment' | 'command line'
  path: string
  /** Not to be shown. */
  secret: boolean
}

/** What flags and environment say about these keys; the flag wins. */
export function overridesOf(
  keys: readonly SettingKey[],
  flags: Flags,
  env: Environment,
  home: string,
  problems: ConfigProblem[],
): Override[] {
  return keys.flatMap(({ name, pointer, environmentName }): Override[] => {
    const flag = flags[name]
    if (flag !== undefined) return [{ pointer, value: flag, file: 'command line', path: name, secret: false }]
    const value = fromEnvironment(environmentName, env, home, problems)
    return value === undefined ? [] : [{ pointer, value: value.text, file: 'environment', path: value.name, secret: true }]
  })
}

function fromEnvironment(
  name: string,
  env: Environment,
  home: string,
  problems: ConfigProblem[],
): { name: string; text: string } | undefined {
  const text = variable(env, name)
  const fileName = `${name}_FILE`
  if (variable(env, fileName) === undefined) return text === undefined ? undefined : { name, text }
  if (text !== undefined) {
    problems.push({ file: 'environment', path: name, problem: `is set, and so is ${fileName}`, cure: 'Set only one of the two.' })
    return undefined
  }
  const secret = readSecretFile(fileName, env, home, problems)
  return secret === undefined ? undefined : { name: fileName, text: secret }
}

/** What stands in the file that a variable names, without the newline at its end; undefined when there is no such variable, or a problem. */
export function readSecretFile(name: string, env: Environment, home: string, problems: ConfigProblem[]): string | undefined {
  const path = variable(env, name)
  if (path === undefined) return undefined
  const problem = (what: string, cure: string) => void problems.push({ file: 'environment', path: name, problem: what, cure })
  const read = readTextFile(resolve(home, path))
  if (read.is === 'absent') problem(`names ${path}, which does not exist`, 'Make that file, or correct its name.')
  else if (read.is === 'bad') problem(`names ${path}, which ${read.problem}`, read.cure)
  else {
    const text = read.text.replace(/\r?\n$/, '')
    if (text !== '') return text
    problem(`names ${path}, which is empty`, 'Write the value into that file.')
  }
  return undefined
}
