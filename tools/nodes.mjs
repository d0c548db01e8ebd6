// `npm run test:nodes`: runs what contains plugins, and what they may do wrong, in the other versions of Node that Sluice supports.
//
//   npm run test:nodes                                 all of it, in Node 22 and 24
//   npm run test:nodes -- test/core-plugins/hosts.rest.test.ts   these files alone
//   SLUICE_NODES=24 npm run test:nodes                 in Node 24 alone
//
// The versions come from npm, as packages that hold a binary and no install script.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWhenStale } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const versions = (process.env.SLUICE_NODES ?? '22,24').split(',')
const all = ['containment', 'hosts', 'service', 'harms', 'broken-plugins', 'hostile-plugins', 'hostile-hosts'].map(
  (name) => `test/core-plugins/${name}.rest.test.ts`,
)

const files = process.argv.length > 2 ? process.argv.slice(2) : all
const folder = mkdtempSync(path.join(tmpdir(), 'sluice-nodes-'))
// Hosts of the plugin-host service are other users.
chmodSync(folder, 0o755)
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
await buildWhenStale()

for (const version of versions) {
  const programs = install(version)
  console.log(`\n=== Node ${spawnSync(path.join(programs, 'node'), ['--version'], { encoding: 'utf8' }).stdout.trim()}`)
  const env = { ...process.env, PATH: `${programs}${path.delimiter}${process.env.PATH}` }
  const { status } = spawnSync(path.join(programs, 'node'), ['node_modules/mocha/bin/mocha.js', ...files], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}

/** Gives the folder with the program `node`. */
function install(version) {
  const into = path.join(folder, version)
  mkdirSync(into)
  writeFileSync(path.join(into, 'package.json'), '{"private":true}')
  const name = `node-${process.platform}-${process.arch}`
  const args = ['install', '--silent', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`]
  const { status, stderr } = spawnSync('npm', args, { cwd: into, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm does not give ${name}@${version}:\n${stderr}`)
  return path.join(into, 'node_modules', name, 'bin')
}
