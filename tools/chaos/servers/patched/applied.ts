import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { patches, type Patch } from './patches.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * The sources that some patches change, as they are then.
 * @throws Error where a text that is to be changed is not there once: the source has moved on, and the patch has to follow
 */
export function applied(names: readonly string[]): Map<string, string> {
  const sources = new Map<string, string>()
  for (const name of names) {
    const found = patches[name]
    if (!found) throw new Error(`There is no patch "${name}".`)
    for (const patch of found) sources.set(patch.file, changed(sources.get(patch.file) ?? readFileSync(root + patch.file, 'utf8'), patch))
  }
  return sources
}

function changed(text: string, { file, find, put }: Patch): string {
  const times = text.split(find).length - 1
  if (times !== 1) throw new Error(`${file} has this ${times} times, and a patch needs it once: ${find}`)
  return text.replace(find, () => put)
}
