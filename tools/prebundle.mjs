// `node tools/prebundle.mjs <node_modules>`: makes few files of packages that are made of hundreds, where they lie. Finding, reading and
// linking a module takes Node up to a millisecond, and more from sources: three such packages were a quarter of what a start took.
// Bundlers do it with the packages of what they serve, for the same reason: https://vite.dev/guide/dep-pre-bundling
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

/** In which of their folders their ES modules lie. */
const packages = { ethers: 'lib.esm', kysely: 'dist/esm', typebox: 'build' }

const [, , modules] = process.argv
if (modules === undefined || path.basename(modules) !== 'node_modules' || !existsSync(modules)) {
  console.error('usage: node tools/prebundle.mjs <folder called node_modules>')
  process.exit(1)
}
// Where it is left, the packages are neither what they were nor what they are to be: the launcher installs them anew.
const mark = path.join(modules, '.prebundling')
writeFileSync(mark, '')
for (const [name, folder] of Object.entries(packages)) await prebundle(path.resolve(modules, name), folder)
rmSync(mark)

async function prebundle(place, folder) {
  const { exports } = JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8'))
  const entryPoints = Object.values(exports).flatMap((target) => (target.import ? [path.join(place, target.import)] : []))
  const { metafile } = await build({
    absWorkingDir: place,
    entryPoints,
    outdir: folder,
    outbase: folder,
    allowOverwrite: true,
    outExtension: { '.js': path.extname(entryPoints[0]) },
    bundle: true,
    // What several entry points share is there once.
    splitting: true,
    chunkNames: 'shared-[hash]',
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    metafile: true,
    logLevel: 'warning',
  })
  for (const file of Object.keys(metafile.inputs)) if (!(file in metafile.outputs)) rmSync(path.join(place, file))
}
