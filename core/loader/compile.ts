import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform, type TransformFailure } from 'esbuild'
import { withCompiler } from './with-compiler.ts'

/** URL of a plugin's TypeScript file → its JavaScript, or why there is none. */
export type CompiledFiles = Readonly<Record<string, { readonly code: string } | { readonly error: string }>>

const compiled = new Map<string, Promise<CompiledFiles>>()

/**
 * Strips the types of a plugin's files, all at once and once a process: threads that try it get the outcome, and none
 * starts a compiler of its own (esbuild's process outlives the thread that started it).
 */
export function compilePlugin(folder: string): Promise<CompiledFiles> {
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
