import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform, type TransformFailure, build, type BuildFailure, stop } from 'esbuild'
import { updateHook } from './code-layout.ts'
import { commonJsFault, type FoundPlugin } from './find.ts'
import type { HookUpdate } from './hook.ts'
import { PluginFault } from './refusal.ts'
import { folderUrl } from './uncaught.ts'

/** URL of a plugin's TypeScript file → its JavaScript, or why there is none. */
export type CompiledFiles = Readonly<Record<string, { readonly code: string } | { readonly error: string }>>

const compiled = new Map<string, Promise<CompiledFiles>>()

/**
 * Strips the types of a plugin's files, all at once and once a process: threads that try it get the outcome, and none
 * starts a compiler of its own (esbuild's process outlives the thread that started it).
 */
function compilePlugin(folder: string): Promise<CompiledFiles> {
  const known = compiled.get(folder)
  if (known !== undefined) return known
  const files = withCompiler(async () => {
    const paths = await typeScriptFiles(folder)
    return Object.fromEntries(
      await Promise.all(paths.map(async (file) => [pathToFileURL(file).href, await compileFile(folder, file)] as const)),
    )
  })
  compiled.set(folder, files)
  return files
}

async function compileFile(folder: string, file: string): Promise<{ code: string } | { error: string }> {
  try {
    const { code } = await transform(await readFile(file, 'utf8'), {
      loader: 'ts',
      format: 'esm',
      target: 'node20.19',
      sourcemap: 'inline',
      sourcesContent: false,
      sourcefile: file,
      logLevel: 'silent',
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    })
    return { code }
  } catch (thrown) {
    const first = isTransformFailure(thrown) ? thrown.errors[0] : undefined
    const place = `${path.relative(folder, file)}${first?.location ? `:${first.location.line}` : ''}`
    return { error: `${place}: ${first?.text ?? String(thrown)}` }
  }
}

async function typeScriptFiles(folder: string): Promise<readonly string[]> {
  // What cannot be read is missed when it is imported.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const files = await Promise.all(
    entries.map(async (entry) => {
      const place = path.join(folder, entry.name)
      if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : typeScriptFiles(place)
      return entry.isFile() && /(?<!\.d)\.m?ts$/.test(entry.name) ? [place] : []
    }),
  )
  return files.flat()
}

function isTransformFailure(thrown: unknown): thrown is TransformFailure {
  return thrown instanceof Error && 'errors' in thrown && Array.isArray(thrown.errors)
}

/** Makes these plugin folders' modules importable in the server's main thread, wherever they lie. */
export async function registerHook(folders: readonly string[]): Promise<void> {
  await updateHook(await hookUpdate(folders))
}

/** What a thread's module hook has to know of these plugin folders. */
export async function hookUpdate(folders: readonly string[]): Promise<HookUpdate> {
  return {
    folders: folders.map(folderUrl),
    compiled: Object.assign({}, ...(await Promise.all(folders.map(compilePlugin)))),
  }
}

/**
 * What the syntax of a plugin's entry says about an import that failed, or undefined: the errors in which CommonJS
 * ends look like any other, and those of JavaScript's syntax do not say where.
 */
export async function syntaxFault({ entry }: FoundPlugin): Promise<PluginFault | undefined> {
  // As nameless text, so that no package.json decides what it is.
  const stdin = {
    contents: await readFile(entry, 'utf8'),
    sourcefile: path.basename(entry),
    loader: entry.endsWith('.ts') ? 'ts' : 'js',
  } as const
  try {
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
    const first = isBuildFailure(thrown) ? thrown.errors[0] : undefined
    return first?.location
      ? new PluginFault('import', `${first.location.file}:${first.location.line}: ${first.text}`, 'Correct the syntax.')
      : undefined
  }
}

function isBuildFailure(thrown: unknown): thrown is BuildFailure {
  return thrown instanceof Error && 'errors' in thrown && Array.isArray(thrown.errors)
}

let underWay = 0

/** Does something that needs esbuild. It is a process of its own, and is not kept for a lifetime in which nothing is compiled. */
async function withCompiler<T>(compile: () => Promise<T>): Promise<T> {
  underWay += 1
  try {
    return await compile()
  } finally {
    underWay -= 1
    if (underWay === 0) await stop()
  }
}
