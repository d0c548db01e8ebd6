import { mkdirSync, readdirSync, readFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { applied } from './applied.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const program = 'tools/chaos/servers/server.ts'

const trees = new Map<string, string>()

/**
 * The server's program in JavaScript, as production runs it and so quick to start, with some patches in its source. Made once for a
 * set of patches, and gone when this process ends.
 * @throws Error where a patch does not fit the source any more
 */
export function compiledServer(patches: readonly string[]): string {
  const name = patches.join()
  const tree = trees.get(name) ?? compile(patches)
  trees.set(name, tree)
  return path.join(tree, 'dist', compiledName(program))
}

function compile(patches: readonly string[]): string {
  const tree = mkdtempSync(path.join(tmpdir(), 'sluice-chaos-tree-'))
  process.once('exit', () => rmSync(tree, { recursive: true, force: true }))
  const sources = applied(patches)
  for (const file of ['core', 'kits', 'testkit', 'plugins', path.dirname(program)].flatMap(filesIn)) {
    const to = path.join(tree, 'dist', compiledName(file))
    mkdirSync(path.dirname(to), { recursive: true })
    if (file.endsWith('.ts')) writeFileSync(to, javascript(sources.get(file) ?? readFileSync(root + file, 'utf8')))
    else cpSync(root + file, to)
  }
  // Its entry points are in dist/, where a build puts them too.
  cpSync(`${root}package.json`, path.join(tree, 'package.json'))
  symlinkSync(`${root}node_modules`, path.join(tree, 'node_modules'))
  return tree
}

const filesIn = (folder: string): string[] =>
  readdirSync(root + folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))

const compiledName = (file: string) => file.replace(/\.ts$/, '.js')

/** Without types, and with relative imports that name what is compiled. */
function javascript(source: string): string {
  const { code } = transformSync(source, { loader: 'ts', format: 'esm', target: 'node20', supported: { 'import-attributes': true } })
  return code.replace(/(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.[^"']*)\.ts\2/g, '$1$2$3.js$2')
}
