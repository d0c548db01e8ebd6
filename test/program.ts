import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { writeWholeFile } from '../core/base/whole-file.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** In dist/, so that the core in them finds what belongs to it there; the name begins with a dot because it is not shipped. */
const bundles = path.join(root, 'dist', '.tests')

const made = new Map<string, Promise<readonly string[]>>()

/**
 * The arguments with which Node runs a program that tests start as a process again and again. From TypeScript each start loads a thousand modules
 * and takes a second of processor time. Where `dist/` is up to date the program is bundled once and runs with it.
 */
export function programArgs(file: URL): Promise<readonly string[]> {
  const source = fileURLToPath(file)
  const args = made.get(source) ?? (process.env['BUILT_SLUICE'] === 'dist' ? built(source) : fromSource(source))
  made.set(source, args)
  return args
}

const fromSource = async (source: string): Promise<readonly string[]> => ['--import', import.meta.resolve('tsx/esm'), source]

/** The server's own programs are in dist/ already. */
async function built(source: string): Promise<readonly string[]> {
  const name = path.relative(root, source).replace(/ts$/, 'js')
  if (name.startsWith('core')) return [path.join(root, 'dist', name)]
  const {
    outputFiles: [bundle],
  } = await build({
    absWorkingDir: root,
    entryPoints: [source],
    outdir: bundles,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['libsql', 'pg-native', 'esbuild', 'mocha', 'tsx'],
    // Packages that are CommonJS call `require` for what Node has.
    banner: { js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);` },
    plugins: [testsInPlace],
  })
  const file = path.join(bundles, name.replaceAll(path.sep, '-'))
  if (!bundle) throw new Error(`${source} gave no bundle.`)
  await mkdir(bundles, { recursive: true })
  await writeWholeFile(file, bundle.contents, 0o644)
  return [file]
}

/** Files of the tests find their fixtures beside themselves. */
const testsInPlace: Plugin = {
  name: 'tests-in-place',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]test[\\/].*\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)),
      loader: 'ts',
    }))
  },
}
