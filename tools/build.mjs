// `npm run build`: the compiled tree that production runs, in dist/ or the folder named by --out. It is complete but for
// node_modules, which Node finds beside it or above it. --no-devnet leaves out what only the local chain needs.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: { out: { type: 'string', default: path.join(root, 'dist') }, devnet: { type: 'boolean', default: true } },
  allowNegative: true,
})
const out = path.resolve(values.out)

/** What a build makes anew. Whatever else is in the folder stays: conf, data and certs may be somebody's. */
const sources = ['core', 'kits', 'testkit', 'plugins']
const made = [...sources, 'bin', 'package.json']

for (const name of made) rmSync(path.join(out, name), { recursive: true, force: true })
compile()
for (const folder of sources) copyData(folder)
cpSync(path.join(root, 'bin'), path.join(out, 'bin'), { recursive: true })
if (!existsSync(path.join(out, 'conf'))) cpSync(path.join(root, 'conf'), path.join(out, 'conf'), { recursive: true })
writeFileSync(path.join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
console.log(`Compiled to ${path.relative(process.cwd(), out) || '.'}`)

function compile() {
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const done = spawnSync(process.execPath, [compiler, '-p', path.join(root, 'tools', 'build.tsconfig.json'), '--outDir', out], {
    stdio: ['ignore', 2, 2],
  })
  if (done.status !== 0) process.exit(done.status ?? 1)
  if (!values.devnet) for (const file of filesIn(path.join(out, 'plugins'))) if (isDevnetPart(file)) rmSync(path.join(out, 'plugins', file))
}

/** Token lists, defaults, artifacts: what is no code. Artifacts that code imports are there already, put by the compiler; the others are the devnet's. */
function copyData(folder) {
  for (const file of filesIn(path.join(root, folder))) {
    if (/\.m?[jt]s$/.test(file) || (!values.devnet && isDevnetPart(file))) continue
    const to = path.join(out, folder, file)
    mkdirSync(path.dirname(to), { recursive: true })
    cpSync(path.join(root, folder, file), to)
  }
}

function isDevnetPart(file) {
  return path.basename(file).startsWith('devnet.') || path.basename(path.dirname(file)) === 'artifacts'
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
}

/** The package's face, pointing to JavaScript, without what only development needs. */
function manifest() {
  const { name, version, description, license, type, engines, bin, exports, dependencies } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  )
  const compiled = Object.fromEntries(Object.entries(exports).map(([subpath, target]) => [subpath, target.replace(/\.ts$/, '.js')]))
  return {
    name,
    version,
    description,
    license,
    private: true,
    type,
    engines,
    bin,
    exports: compiled,
    scripts: { start: 'exec node bin/sluice start' },
    dependencies,
  }
}
