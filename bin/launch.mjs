// Built-ins only: installs what the lockfile says when node_modules is not that, then runs the command in this same process.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = path.join(root, 'node_modules')
const stamp = path.join(modules, '.installed')

if (existsSync(path.join(root, 'package-lock.json'))) installWhenStale()

const [, , command = 'help', ...args] = process.argv
if (command === 'test' && args.length === 0) process.exit(node('tools/test.mjs', ['quick']))
else if (command === 'test:rest' && args.every((arg) => /^(--all|--keep|--part|\d+\/\d+)$/.test(arg)))
  process.exit(node('tools/test.mjs', ['rest', ...args]))
else if (command === 'test:package') process.exit(node('tools/package/run.mjs', args))
else if (command === 'test' || command === 'test:rest') process.exit(node('node_modules/mocha/bin/mocha.js', testsIn(args)))
else if (command === 'bench') await built().then(() => process.exit(node('tools/bench/run.ts', args, ['--import', 'tsx'])))
else if (command === 'chaos') process.exit(node('tools/chaos/run.ts', args, ['--import', 'tsx']))
else await sluice(command, args)

/** A folder is all tests in it; where neither one nor a file is named, all there are. */
function testsIn(args) {
  const named = args.map((arg) => (existsSync(arg) && statSync(arg).isDirectory() ? path.join(arg, '**', '*.test.ts') : arg))
  return named.some((arg) => arg.endsWith('.ts')) ? named : [...named, 'test/**/*.test.ts']
}

function installWhenStale() {
  const wanted = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .update(process.version + process.platform + process.arch)
    .digest('hex')
  // An `npm install --omit=dev` takes packages away and leaves the stamp.
  const isWhole = existsSync(path.join(modules, 'tsx'))
  if (isWhole && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  if (isInstalled()) return writeFileSync(stamp, wanted)
  console.error('Installing dependencies from package-lock.json ...')
  // A node_modules that was made by other means is made anew; `npm run check` keeps the lockfile whole for every platform.
  const install = ['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const done = spawnSync('npm', install, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
  if (done.status !== 0) {
    console.error(
      `npm ci failed (${done.status ?? done.signal}). Is the npm registry reachable? Run the same command again: what was fetched is not fetched again.`,
    )
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

/** Whether npm's hidden lockfile says what package-lock.json says, as after `npm ci`: in doubt it is not so. */
function isInstalled() {
  try {
    const [wanted, found] = ['', 'node_modules/.'].map(
      (at) => JSON.parse(readFileSync(path.join(root, `${at}package-lock.json`), 'utf8')).packages,
    )
    const libc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl'
    const fits = (here, list = [here]) => list.includes(here) || (list.every((each) => each.startsWith('!')) && !list.includes(`!${here}`))
    // Optional ones of no platform are what those for other platforms need.
    const isForHere = ({ optional, os, cpu, libc: libcs }) =>
      !optional || ((os ?? cpu ?? libcs) !== undefined && fits(process.platform, os) && fits(process.arch, cpu) && fits(libc, libcs))
    const isSame = (a, b) => !b.link && a?.version === b.version && b.integrity !== undefined && a.integrity === b.integrity
    return (
      Object.entries(found).every(([place, b]) => isSame(wanted[place], b) && existsSync(path.join(root, place, 'package.json'))) &&
      Object.entries(wanted).every(([place, a]) => place === '' || place in found || !isForHere(a))
    )
  } catch {
    return false
  }
}

function node(script, args, flags = []) {
  const done = spawnSync(process.execPath, [...flags, path.join(root, script), ...args], { cwd: root, stdio: 'inherit' })
  return done.status ?? 1
}

/** What is run is what is shipped: dist/, built anew where sources changed. */
async function built() {
  const { buildWhenStale } = await import('../tools/build.mjs')
  try {
    await buildWhenStale()
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error
    console.error('dist/ was not built: the sources have the errors above.')
    process.exit(1)
  }
}

async function sluice(command, args) {
  await built()
  const entry = path.join(root, 'dist', 'core', 'main.js')
  process.argv = [process.argv[0], entry, command, ...args]
  await import(pathToFileURL(entry).href)
}
