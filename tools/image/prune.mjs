// Takes out of a production node_modules what a server never loads: `node tools/image/prune.mjs <node_modules>`.
// Licences stay.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'

const [, , folder] = process.argv
if (folder === undefined || path.basename(folder) !== 'node_modules' || !existsSync(folder)) {
  console.error('usage: node tools/image/prune.mjs <folder called node_modules>')
  process.exit(1)
}

/** At the top of any package. */
const folders = ['.github', 'benchmark', 'benchmarks', 'coverage', 'docs', 'example', 'examples', 'test', 'tests', '__tests__']
/** Anywhere; a licence of whatever name is kept. */
const files = /\.(map|md|markdown|tsbuildinfo|flow)$|\.d\.[mc]?ts$|\.[mc]?ts$/i
const kept = /^(licen[cs]e|notice|copying)/i

/** Further formats, bundles for browsers and sources of packages that are loaded in another form. */
const unused = {
  ethers: ['dist', 'lib.commonjs', 'src.ts', 'node_modules/@types', 'node_modules/undici-types'],
  'swagger-ui-dist': ['swagger-ui-es-bundle.js', 'swagger-ui-es-bundle-core.js', 'swagger-ui-standalone-preset.js', 'swagger-ui.js'],
  '@opentelemetry/api': ['build/esm', 'build/esnext'],
  kysely: ['dist/cjs'],
  '@types': ['.'],
  'undici-types': ['.'],
  // Solana's packages want them beside them for their types; nothing loads them.
  typescript: ['.'],
  '@typescript': ['.'],
}

/** Binaries for the other C library: this runs on the base that the image has. */
const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'gnu'
const otherLibc = libc === 'gnu' ? /-musl(eabihf)?$/ : /-gnu(eabihf)?$/

const before = sizeOf(folder)
for (const [name, parts] of Object.entries(unused))
  for (const part of parts) rmSync(path.join(folder, name, part), { recursive: true, force: true })
for (const name of namesIn(path.join(folder, '@libsql')))
  if (otherLibc.test(name)) rmSync(path.join(folder, '@libsql', name), { recursive: true })
prune(folder)
console.log(`node_modules: ${megabytes(before)} MB before pruning, ${megabytes(sizeOf(folder))} MB after`)

function prune(modules) {
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    const place = path.join(modules, entry.name)
    if (entry.name === '.bin' || entry.name === '.package-lock.json') rmSync(place, { recursive: true })
    else if (entry.name.startsWith('@')) prune(place)
    else if (entry.isDirectory()) prunePackage(place)
  }
}

function prunePackage(place) {
  for (const name of folders) rmSync(path.join(place, name), { recursive: true, force: true })
  if (existsSync(path.join(place, 'node_modules'))) prune(path.join(place, 'node_modules'))
  for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && files.test(entry.name) && !kept.test(entry.name)) rmSync(path.join(entry.parentPath, entry.name))
  }
}

function namesIn(place) {
  return existsSync(place) ? readdirSync(place) : []
}

function sizeOf(place) {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0)
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1)
}
