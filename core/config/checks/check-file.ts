import type { ValidateFunction } from 'ajv'
import { checkTree, type Checked } from '../check.ts'
import type { ConfigProblem } from '../problems.ts'
import type { Environment } from '../settings/environment.ts'
import type { Override } from '../settings/overrides.ts'
import { place } from '../yaml/place.ts'
import { upwards } from '../yaml/pointer.ts'
import type { YamlFile } from '../yaml.ts'
import { layOver, type Section } from '../tree.ts'

/** What goes over one another, from lowest to highest: defaults, what the file says, what flags and environment say. */
export interface Layers {
  file: string
  defaults?: Section
  yaml: YamlFile | undefined
  overrides?: readonly Override[]
}

/** Lays the layers over one another and validates; undefined when there is a problem. */
export function checkFile<T>(
  validate: ValidateFunction<T>,
  { file, defaults = {}, yaml, overrides = [] }: Layers,
  env: Environment,
  problems: ConfigProblem[],
): Checked<T> | undefined {
  const checked = checkTree(layOver(defaults, yaml?.value ?? {}), { validate, env, overrides })
  if ('value' in checked) return checked
  for (const { pointer, problem, cure } of checked.troubles) {
    const override = overrides.find((one) => upwards(pointer).includes(one.pointer))
    const where = override ? { file: override.file, path: override.path } : place(pointer, yaml ? [yaml] : [], file)
    problems.push({ ...where, problem, cure })
  }
  return undefined
}
