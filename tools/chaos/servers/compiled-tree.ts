import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { copyFile, rename, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { patches, type Patch } from './patches.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const program = 'tools/chaos/servers/server.ts'

interface Build {
  buildPatched(outdir: string, given: { programs: readonly string[]; patched: ReadonlyMap<string, string> }): Promise<void>
  locked(file: string, work: () => Promise<void>): Promise<void>
}
const { buildPatched, locked }: Build = await import(new URL('../../build.mjs', import.meta.url).href)

const trees = new Map<string, Promise<string>>()

/**
 * The server's program, bundled as a release is and so quick to start, with some patches in its source. Made once for a set of patches, and gone when
 * this process ends; of all tests together, once for all of them. It takes seconds, in which calls to the chain are under way: it blocks the event loop for a moment only.
 * @throws Error where a patch does not fit the source any more
 */
export async function compiledServer(patches: readonly string[]): Promise<string> {
  const name = patches.join()
  const tree = trees.get(name) ?? compile(patches)
  trees.set(name, tree)
  return path.join(await tree, 'dist', program.replace(/\.ts$/, '.js'))
}

async function compile(patches: readonly string[]): Promise<string> {
  // Of a run of all tests, in which no source changes: tools/test.mjs removes it.
  const shared = process.env['PATCHED_SERVERS']
  if (shared === undefined) {
    const tree = mkdtempSync(path.join(tmpdir(), 'sluice-chaos-tree-'))
    process.once('exit', () => rmSync(tree, { recursive: true, force: true }))
    await compileInto(tree, patches)
    return tree
  }
  const tree = path.join(shared, createHash('sha256').update(patches.join()).digest('hex'))
  await locked(`${tree}.building`, async () => {
    if (existsSync(tree)) return
    const made = mkdtempSync(`${tree}.`)
    await compileInto(made, patches)
    await rename(made, tree)
  })
  return tree
}

async function compileInto(tree: string, patches: readonly string[]): Promise<void> {
  await buildPatched(path.join(tree, 'dist'), { programs: [program], patched: applied(patches) })
  // Its entry points are in dist/, where a build puts them too.
  await copyFile(`${root}package.json`, path.join(tree, 'package.json'))
  await symlink(`${root}node_modules`, path.join(tree, 'node_modules'))
}

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
