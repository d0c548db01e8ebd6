import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { patches, type Patch } from './patches.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * The files that some patches change, changed and without types.
 * @throws Error where a text that is to be changed is not there once: the source has moved on, and the patch has to follow
 */
export function patchedSources(names: readonly string[]): { file: string; source: string }[] {
  const wanted = names.flatMap((name) => {
    const found = patches[name]
    if (!found) throw new Error(`There is no patch "${name}".`)
    return found
  })
  const files = [...new Set(wanted.map(({ file }) => file))]
  return files.map((file) => {
    const text = wanted.filter((each) => each.file === file).reduce(changed, readFileSync(root + file, 'utf8'))
    return { file: root + file, source: transformSync(text, { loader: 'ts', format: 'esm', target: 'node20' }).code }
  })
}

function changed(text: string, { file, find, put }: Patch): string {
  const times = text.split(find).length - 1
  if (times !== 1) throw new Error(`${file} has this ${times} times, and a patch needs it once: ${find}`)
  return text.replace(find, () => put)
}
