// `npm run test:package`: packs both packages and uses them as an operator and an author of plugins do, in empty folders, with this machine's
// Node and npm. `npm run test:package -- --all` also with Node 20.19, 22 and 24 from npm, and with pnpm and yarn. `--packed` takes the packages
// that are there. Names of the tests beside this file choose some: `npm run test:package -- author`.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const node = (...args) =>
  spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, SLUICE_CONFIRMED_NAMES: '' } })

if (!process.argv.includes('--packed')) {
  const packed = node('tools/pack.mjs')
  if (packed.status !== 0) process.exit(packed.status ?? 1)
}
if (process.argv.includes('--all')) process.env.PACKAGE_TEST_ALL = 'yes'
const all = ['package', 'managers', 'trouble', 'author', 'guides']
const named = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const unknown = named.find((name) => !all.includes(name))
if (unknown !== undefined) throw new Error(`There is no test ${unknown} of the packages: ${all.join(', ')}.`)
const tests = (named.length > 0 ? named : all).map((name) => path.join('tools', 'package', `${name}.mjs`))
process.exit(
  node('--import', 'tsx', 'node_modules/mocha/bin/mocha.js', '--no-config', '--no-package', '--timeout', '480000', '--exit', ...tests)
    .status ?? 1,
)
