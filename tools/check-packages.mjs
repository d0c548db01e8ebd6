// `node tools/check-packages.mjs`: what publint and are-the-types-wrong find in the packages of dist/packages, or in those that are named. An entry
// point without its file or its types, and types that say another kind of module than there is, end it with 1.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = path.join(root, 'dist', 'packages')
/** @type {[string, string, string[]][]} */
const tools = [
  ['publint', 'node_modules/publint/src/cli.js', ['run', '--strict']],
  // Sluice has ES modules only: who uses CommonJS, or TypeScript's resolution of 2012, cannot import it.
  ['are-the-types-wrong', 'node_modules/@arethetypeswrong/cli/dist/index.js', ['--profile', 'esm-only', '--format', 'ascii', '--no-emoji']],
]

const named = process.argv.slice(2)
const tarballs = named.length > 0 ? named : readdirSync(packages).map((file) => path.join(packages, file))
for (const tarball of tarballs)
  for (const [name, file, args] of tools) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, file), ...args, tarball], { encoding: 'utf8' })
    console.log(`${path.basename(tarball)}: ${name} ${status === 0 ? 'finds nothing' : `finds\n${stdout}${stderr}`}`)
    if (status !== 0) process.exitCode = 1
  }
