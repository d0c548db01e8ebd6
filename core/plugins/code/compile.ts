import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildFailure } from 'esbuild'
import { inSource } from '../../base/layout.ts'
import { updateHook } from './module-hook.ts'
import { commonJsFault, type FoundPlugin } from '../discover/find.ts'
import type { CompiledFiles, HookUpdate } from './hook.ts'
import { PluginFault } from '../refusal.ts'
import { folderUrl } from './uncaught.ts'

/** Makes the modules of these plugins importable in the server's main thread, wherever their folders lie. */
export async function registerHook(plugins: readonly Pick<FoundPlugin, 'builtIn' | 'folder'>[]): Promise<void> {
  const folders = plugins.filter(({ builtIn }) => !builtIn).map(({ folder }) => folder)
  if (folders.length > 0 || inSource) await updateHook(await hookUpdate(folders))
}

/** What a thread's module hook has to know of these plugin folders. */
export async function hookUpdate(folders: readonly string[]): Promise<HookUpdate> {
  return {
    folders: folders.map(folderUrl),
    compiled: Object.assign({}, ...(await Promise.all(folders.map(compilePlugin)))),
  }
}

/** By folder. */
const compiled = new Map<string, { readonly stamp: string; readonly files: Promise<CompiledFiles> }>()
const toldOf = new Map<string, CompiledFiles>()

/** Tells what was compiled elsewhere: in a process that sees no compiler. */
export function knowCompiled(folder: string, files: CompiledFiles): void {
  toldOf.set(folder, files)
}

/**
 * Strips the types of all files of a plugin, once per process as long as they are the same: somebody may correct them while the server runs.
 * Trial threads get the outcome: none of them starts a compiler of its own, because esbuild's process outlives the thread that started it.
 */
async function compilePlugin(folder: string): Promise<CompiledFiles> {
  const told = toldOf.get(folder)
  if (told) return told
  const paths = await typeScriptFiles(folder)
  const stamp = (await Promise.all(paths.map(stampOf))).join('\n')
  const known = compiled.get(folder)
  if (known?.stamp === stamp) return known.files
  const compileOne = async (file: string) => [pathToFileURL(file).href, await compileFile(folder, file)] as const
  const files: Promise<CompiledFiles> =
    paths.length === 0 ? Promise.resolve({}) : withCompiler(async () => Object.fromEntries(await Promise.all(paths.map(compileOne))))
  compiled.set(folder, { stamp, files })
  return files
}

/** Differs when the file was changed. One that went away meanwhile is reported when it is imported. */
async function stampOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  return `${file} ${found?.size} ${found?.mtimeNs} ${found?.ino}`
}

/** By the folder of a copy: where its author has it. */
const origins = new Map<string, string>()

/** Names the author's own files in the source maps of a copy, for a debugger. */
export function knowOrigin(copy: string, origin: string): void {
  origins.set(copy, origin)
}

async function compileFile(folder: string, file: string): Promise<CompiledFiles[string]> {
  try {
    const { transform } = await esbuild()
    const { code } = await transform(await readFile(file, 'utf8'), {
      loader: 'ts',
      format: 'esm',
      target: 'node20.19',
      sourcemap: 'inline',
      sourcesContent: false,
      sourcefile: path.join(origins.get(folder) ?? folder, path.relative(folder, file)),
      logLevel: 'silent',
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    })
    return { code }
  } catch (thrown) {
    const first = firstError(thrown)
    const place = `${path.relative(folder, file)}${first?.location ? `:${first.location.line}:${first.location.column + 1}` : ''}`
    return { error: `${place}: ${first?.text ?? String(thrown)}` }
  }
}

async function typeScriptFiles(folder: string): Promise<readonly string[]> {
  // An unreadable folder is reported when a file of it is imported.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const files = await Promise.all(
    entries.map(async (entry) => {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : typeScriptFiles(file)
      return entry.isFile() && /(?<!\.d)\.m?ts$/.test(entry.name) ? [file] : []
    }),
  )
  return files.flat()
}

/**
 * Finds the cause in the syntax of a plugin's entry after its import failed; undefined where the syntax is right. Node's own errors do not
 * help: that of a CommonJS file looks like any other, and that of a syntax error in JavaScript names no line.
 */
export async function syntaxFault({ entry }: FoundPlugin): Promise<PluginFault | undefined> {
  // As standard input, so that no package.json decides whether it is CommonJS.
  const stdin = {
    contents: await readFile(entry, 'utf8'),
    sourcefile: path.basename(entry),
    loader: entry.endsWith('.ts') ? 'ts' : 'js',
  } as const
  try {
    const { build } = await esbuild()
    const { metafile } = await withCompiler(() =>
      build({
        stdin,
        bundle: true,
        external: ['*'],
        write: false,
        metafile: true,
        logLevel: 'silent',
        platform: 'node',
        format: 'esm',
        target: 'node20.19',
      }),
    )
    return Object.values(metafile.inputs).some(({ format }) => format === 'cjs') ? commonJsFault(path.basename(entry)) : undefined
  } catch (thrown) {
    const { location, text } = firstError(thrown) ?? {}
    return location
      ? new PluginFault('import', `${location.file}:${location.line}:${location.column + 1}: ${text}`, 'Correct the syntax.')
      : undefined
  }
}

function firstError(thrown: unknown): BuildFailure['errors'][number] | undefined {
  return thrown instanceof Error && 'errors' in thrown && Array.isArray(thrown.errors) ? thrown.errors[0] : undefined
}

/** Loaded where a plugin has to be compiled: the built-in ones are. */
const esbuild = () => import('esbuild')

let running = 0

/** Runs a compilation, and stops esbuild's process after the last one: later nothing is compiled. */
async function withCompiler<T>(compile: () => Promise<T>): Promise<T> {
  running += 1
  try {
    return await compile()
  } finally {
    running -= 1
    if (running === 0) await (await esbuild()).stop()
  }
}
