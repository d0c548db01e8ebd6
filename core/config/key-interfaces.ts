// Interfaces whose clients may send private keys: the operator says so in their files.
import { join } from 'node:path'
import type { ConfigProblem } from './problems.ts'
import { readYaml } from './yaml.ts'

/**
 * Those of these interfaces that listen and have `keys: accept` in `conf/interfaces/<name>.yml`. It is read before code of plugins runs, and as
 * it is written. A file that is wrong accepts none; the loader says what is wrong.
 */
export function keyInterfaces(confDir: string, plugins: readonly { readonly name: string }[]): readonly string[] {
  return plugins.flatMap(({ name }) => {
    const problems: ConfigProblem[] = []
    const file = readYaml(join(confDir, 'interfaces', `${name}.yml`), name, problems)
    return file !== undefined && problems.length === 0 && file.value['keys'] === 'accept' && (file.value['port'] ?? null) !== null
      ? [name]
      : []
  })
}
