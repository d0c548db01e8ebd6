import { mkdtempSync, rmSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { patches, type Patch } from './patches.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const program = 'tools/chaos/servers/server.ts'

interface FewModules {
  readonly manyModules: readonly string[]
  bundleName(specifier: string): string
  bundleModules(outdir: string): Promise<void>
}
const { manyModules, bundleName, bundleModules }: FewModules = await import(new URL('../../few-modules.mjs', import.meta.url).href)
const bundles = 'dist/packages'

const trees = new Map<string, Promise<string>>()

/**
 * The server's program in JavaScript, as production runs it and so quick to start, with some patches in its source. Made once for a
 * set of patches, and gone when this process ends. It takes seconds, in which calls to the chain are under way: it never blocks the event loop.
 * @throws Error where a patch does not fit the source any more
 */
export async function compiledServer(patches: readonly string[]): Promise<string> {
  const name = patches.join()
  const tree = trees.get(name) ?? compile(patches)
  trees.set(name, tree)
  return path.join(await tree, 'dist', compiledName(program))
}

async function compile(patches: readonly string[]): Promise<string> {
  const tree = mkdtempSync(path.join(tmpdir(), 'sluice-chaos-tree-'))
  process.once('exit', () => rmSync(tree, { recursive: true, force: true }))
  const sources = applied(patches)
  for (const folder of ['core', 'kits', 'testkit', 'plugins', path.dirname(program)])
    await Promise.all(
      (await filesIn(folder)).map(async (file) => {
        const to = path.join(tree, 'dist', compiledName(file))
        await mkdir(path.dirname(to), { recursive: true })
        if (file.endsWith('.ts')) await writeFile(to, await javascript(file, sources.get(file) ?? (await readFile(root + file, 'utf8'))))
        else await copyFile(root + file, to)
      }),
    )
  await bundleModules(path.join(tree, bundles))
  // What the signer signs for.
  await copyFile(`${root}signing.json`, path.join(tree, 'dist', 'signing.json'))
  // Its entry points are in dist/, where a build puts them too.
  await copyFile(`${root}package.json`, path.join(tree, 'package.json'))
  await symlink(`${root}node_modules`, path.join(tree, 'node_modules'))
  return tree
}

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(root + folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))

const compiledName = (file: string) => file.replace(/\.ts$/, '.js')

/** Without types, and with imports that name what is compiled, and the bundles of packages that have many modules. */
async function javascript(file: string, source: string): Promise<string> {
  const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'node20', supported: { 'import-attributes': true } })
  const toBundles = path.posix.relative(path.posix.dirname(`dist/${file}`), bundles)
  return code
    .replace(/(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.[^"']*)\.ts\2/g, '$1$2$3.js$2')
    .replace(/(\bfrom\s*|\bimport\s*\(?\s*)(["'])([a-z][^"']*)\2/g, (whole, before, quote, specifier) =>
      manyModules.includes(specifier) ? `${before}${quote}${toBundles}/${bundleName(specifier)}${quote}` : whole,
    )
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
