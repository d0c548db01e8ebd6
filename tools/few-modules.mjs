// Hundreds of modules of two packages, which each process and each thread that runs the sources would load: that takes longer than many tests.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

export const manyModules = ['typebox', 'kysely']

/** In the folder of the bundles. */
export const bundleName = (specifier) => `${specifier.replace('/', '-')}.js`

/** Bundles these packages into a folder, with what they share beside them. */
export async function bundleModules(outdir, { stops = false } = {}) {
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(manyModules.map((specifier) => [path.parse(bundleName(specifier)).name, specifier])),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
  })
  if (stops) await stop()
}
