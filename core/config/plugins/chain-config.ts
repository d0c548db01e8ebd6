import { checkTree, type Check } from '../check.ts'
import { suggestion } from '../checks/nearest.ts'
import type { PluginConfig } from '../plugin-config.ts'
import { networkKeys, networkSettings, splitEntry, validateNetwork, type NetworkSettings } from './network-settings.ts'
import { pointerOf } from '../yaml/pointer.ts'
import { shownCopy } from '../mask.ts'
import type { Trouble } from '../yaml/substitute.ts'
import { isSection, type Section } from '../tree.ts'

export interface ChainCheck extends Pick<Check<Section>, 'validate' | 'env'> {
  networks: readonly string[] | undefined
  home: string
}

/** A chain's file: network → entry, in which the kernel's keys and the family's stand side by side. */
export function chainConfig(tree: Section, { validate, env, networks, home }: ChainCheck): PluginConfig | { troubles: readonly Trouble[] } {
  const troubles: Trouble[] = []
  const config: Section = {}
  const shown: Section = {}
  const kernel: Record<string, NetworkSettings> = {}

  for (const network of Object.keys(tree)) {
    if (networks && !networks.includes(network))
      troubles.push({ pointer: pointerOf([network]), problem: 'is not a network of this chain', cure: suggestion(network, networks) })
  }
  for (const network of networks ?? Object.keys(tree)) {
    const at = pointerOf([network])
    const entry = Object.hasOwn(tree, network) ? tree[network] : {}
    if (!isSection(entry)) {
      troubles.push({
        pointer: at,
        problem: 'is of the wrong type',
        cure: "Write the network's settings as a mapping (`key: value` lines).",
      })
      continue
    }
    const parts = splitEntry(entry)
    const own = checkTree(parts.kernel, { validate: validateNetwork, env })
    if ('value' in own) kernel[network] = networkSettings(own.value, home)
    if (kernel[network]?.enabled === false) {
      // Its variables need not be set, and a half-written entry does no harm.
      shown[network] = shownCopy(entry, new Map())
      continue
    }
    const family = checkTree(parts.family, { validate, env, alsoKnown: networkKeys })
    for (const part of [own, family]) if ('troubles' in part) troubles.push(...within(at, part.troubles))
    if ('value' in family) config[network] = family.value
    if ('value' in family && 'value' in own) shown[network] = { ...own.shown, ...family.shown }
  }
  return troubles.length > 0 ? { troubles } : { config, shown, networks: kernel }
}

function within(at: string, troubles: readonly Trouble[]): Trouble[] {
  return troubles.map((trouble) => ({ ...trouble, pointer: at + trouble.pointer }))
}
