import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { build, type BuildFailure } from 'esbuild'
import { commonJsFault, type FoundPlugin } from './find.ts'
import { PluginFault } from './refusal.ts'
import { withCompiler } from './with-compiler.ts'

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
