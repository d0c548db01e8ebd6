// Takes out of an installed node_modules what a server never loads: `node tools/image/prune.mjs <node_modules>`.
// Licences stay.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'

const [, , folder] = process.argv
if (folder === undefined || path.basename(folder) !== 'node_modules' || !existsSync(folder)) {
  console.error('usage: node tools/image/prune.mjs <folder called node_modules>')
  process.exit(1)
}

/** Types, source maps and readmes. */
const files = /\.(map|md|markdown|tsbuildinfo)$|\.[mc]?ts$/i
// Uniswap's package has the bytecode of these two nowhere else; kits/amm/v4/devnet.ts reads it there.
const kept = /licen[cs]e|notice|copying|^(PoolManager|PositionManager)__factory\.ts$/i

/** Further formats of what only the devnet imports, and packages of types. */
const unused = [
  'ethers/dist',
  'ethers/lib.commonjs',
  'ethers/src.ts',
  'ethers/node_modules/@types',
  '@types',
  // kits/amm/algebra/devnet.ts reads artifacts of five packages, and nothing that they depend on.
  '@cryptoalgebra/integral-base-plugin/node_modules',
  '@cryptoalgebra/integral-core/dist',
  '@cryptoalgebra/periphery/node_modules',
  '@cryptoalgebra/core',
  'undici-types',
  '.bin',
  '.package-lock.json',
]

/** Binaries for the other C library: this runs on the base that the image has. */
const otherLibc = process.report.getReport().header.glibcVersionRuntime === undefined ? /-gnu(eabihf)?$/ : /-musl(eabihf)?$/

const before = sizeOf(folder)
for (const name of unused) rmSync(path.join(folder, name), { recursive: true, force: true })
for (const name of namesIn(path.join(folder, '@libsql')))
  if (otherLibc.test(name)) rmSync(path.join(folder, '@libsql', name), { recursive: true })
for (const entry of filesIn(folder)) if (files.test(entry.name) && !kept.test(entry.name)) rmSync(path.join(entry.parentPath, entry.name))
console.log(`node_modules: ${megabytes(before)} MB before pruning, ${megabytes(sizeOf(folder))} MB after`)

function namesIn(place) {
  return existsSync(place) ? readdirSync(place) : []
}

function filesIn(place) {
  return readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
}

function sizeOf(place) {
  return filesIn(place).reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0)
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1)
}
