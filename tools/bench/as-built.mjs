// Loads TypeScript as esbuild compiles it for dist/: what is measured in process costs what it costs in the server.
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

// Node loads this file again, in the thread of its loaders.
if (isMainThread) register(import.meta.url)

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const file = fileURLToPath(url)
  const { code } = await transform(await readFile(file, 'utf8'), { loader: 'ts', format: 'esm', target: 'node20.19', sourcefile: file })
  return { format: 'module', source: code, shortCircuit: true }
}
