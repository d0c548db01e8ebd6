// `npm run pack`: builds dist/ whole and packs both packages, sluice and sluice-devnet, into dist/packages/ (docs/design/releasing.md).
//
// Packed packages are private, which every registry refuses, until a maintainer has confirmed on the registry whose the names are and says
// so: SLUICE_CONFIRMED_NAMES=sluice,sluice-devnet npm run pack. `--packed` takes the packages that are there.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { latestChunks, publishedManifest } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = path.join(root, 'dist', 'packages')
const names = ['sluice', 'sluice-devnet']
const confirmed = (process.env.SLUICE_CONFIRMED_NAMES ?? '').split(',').map((name) => name.trim())

/** Those that are packed: in a checkout earlier ones stay, for servers that run. */
let chunks
if (!process.argv.includes('--packed')) {
  run(process.execPath, [path.join(root, 'tools', 'build.mjs')])
  rmSync(packages, { recursive: true, force: true })
  mkdirSync(packages, { recursive: true })
  for (const folder of [root, path.join(root, 'dist', 'sluice-devnet')]) pack(folder, packages)
  chunks = new Set(latestChunks())
}
const isPublic = names.every((name) => confirmed.includes(name))
for (const file of readdirSync(packages)) packAgain(path.join(packages, file))
if (!isPublic)
  console.log(`The packages are private: SLUICE_CONFIRMED_NAMES does not name ${names.join(' and ')} (docs/design/releasing.md).`)

for (const file of readdirSync(packages)) {
  console.log(`dist/packages/${file}  ${(statSync(path.join(packages, file)).size / 1e6).toFixed(2)} MB`)
}

/** Without scripts: what is packed was built above. */
function pack(folder, into) {
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', into], folder)
}

/** With the manifest that is published: the checkout's says what the server is made of, and the package has most of that in its bundle. */
function packAgain(tarball) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-pack-'))
  run('tar', ['-xzf', tarball, '-C', folder])
  const file = path.join(folder, 'package', 'package.json')
  const { private: isPrivate, ...manifest } = publishedManifest(JSON.parse(readFileSync(file, 'utf8')))
  writeFileSync(file, `${JSON.stringify(isPublic ? manifest : { ...manifest, private: isPrivate }, null, 2)}\n`)
  const chunkFolder = path.join(folder, 'package', 'dist', 'chunks')
  if (chunks && existsSync(chunkFolder))
    for (const name of readdirSync(chunkFolder)) if (!chunks.has(name)) rmSync(path.join(chunkFolder, name))
  rmSync(tarball)
  pack(path.join(folder, 'package'), packages)
  rmSync(folder, { recursive: true })
  if (!existsSync(tarball)) throw new Error(`${tarball} was not packed again.`)
}

function run(program, args, cwd = root) {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}
