import type { ConfigProblem } from '../problems.ts'
import { variable, type Environment } from './environment.ts'
import { place } from '../yaml/place.ts'
import type { YamlFile } from '../yaml.ts'
import { isSection } from '../tree.ts'

/** The only way in for the passphrase besides a terminal: files can be kept from others, variables and settings are copied about. */
export const passphraseVariable = 'SLUICE_WALLET_PASSPHRASE_FILE'

const cure = `Write it into a file that only the user of Sluice can read, and name that file in ${passphraseVariable}.`

/** Reports a passphrase in a place where it must not stand, and takes it out of what was read. */
export function refusePassphrase(yaml: YamlFile | undefined, env: Environment, problems: ConfigProblem[]): void {
  const wallet = yaml?.value['wallet']
  if (yaml && isSection(wallet) && wallet['passphrase'] !== undefined) {
    const pointer = '/wallet/passphrase'
    problems.push({ ...place(pointer, [yaml], yaml.file), problem: 'may not stand in a file of settings', cure })
    delete wallet['passphrase']
  }
  const name = passphraseVariable.replace(/_FILE$/, '')
  if (variable(env, name) !== undefined)
    problems.push({ file: 'environment', path: name, problem: 'may not hold the passphrase itself', cure })
}
