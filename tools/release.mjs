// `npm run release -- <version|patch|minor|major> [--dry-run]`: makes a version (docs/design/releasing.md). It commits and publishes nothing, and says how to.
//
// All is done in a clone of the commit, with the packages of the lockfile. So a package has nothing that git does not know, and no path of this
// checkout; who makes it again gets the same files. And the checkout changes only when every step was right.
//
// `--quick` is for trying this command: it takes the node_modules that are there, and leaves `npm run test:package` out.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = 'npm run release -- <version|patch|minor|major> [--dry-run]'
const parts = ['major', 'minor', 'patch']

/** What is wrong and what to do, without a stack. */
class ReleaseError extends Error {}

// A child gets Ctrl-C too and ends; then this process removes what it has made.
process.on('SIGINT', () => {})

let copy
try {
  release(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof ReleaseError ? error.message : error)
  console.error('No version was made, and nothing in this checkout was changed.')
  process.exitCode = 1
} finally {
  if (copy !== undefined) rmSync(copy, { recursive: true, force: true })
}

function release(args) {
  const options = args.filter((arg) => arg.startsWith('-'))
  const [asked, ...more] = args.filter((arg) => !arg.startsWith('-'))
  if (asked === undefined || more.length > 0 || options.some((option) => !['--dry-run', '--quick'].includes(option)))
    throw new ReleaseError(`Write: ${usage}`)
  const isQuick = options.includes('--quick')
  // npm keeps an option for itself that stands before `--`, and would hand it on to `npm pack`.
  const isDryRun = options.includes('--dry-run') || process.env.npm_config_dry_run === 'true'
  delete process.env.npm_config_dry_run

  const before = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version
  const version = next(before, asked)
  const commit = cleanCommit()
  if (git(root, 'tag', '--list', `v${version}`) !== '') throw new ReleaseError(`There is a tag v${version}: name a greater version.`)
  changelogOf(root, version)

  console.log(`Version ${version}, from commit ${commit.slice(0, 12)}${isDryRun ? ', as a dry run' : ''}`)
  copy = realpathSync(mkdtempSync(path.join(tmpdir(), 'sluice-release-')))
  git(root, 'clone', '--quiet', '--no-checkout', root, copy)
  git(copy, 'checkout', '--quiet', '--detach', commit)
  for (const [file, text] of filesWith(copy, before, version)) writeFileSync(path.join(copy, file), text)
  const changed = git(copy, 'diff', '--name-only').split('\n')

  if (isQuick) symlinkSync(realpathSync(path.join(root, 'node_modules')), path.join(copy, 'node_modules'))
  else step('install', 'bin/launch.mjs', ['--version'])
  step('build and pack', 'tools/pack.mjs', [], { SLUICE_CONFIRMED_NAMES: '' })
  step('check the packages', 'tools/check-packages.mjs')
  if (!isQuick) {
    step('test the packages', 'tools/package/run.mjs', ['--packed', '--all'])
    // They were private until here, and the tests say so. What is confirmed differs from what was tested by that word alone.
    step('confirm the names', 'tools/pack.mjs', ['--packed'])
  }

  const packages = path.join(copy, 'dist', 'packages')
  const tarballs = readdirSync(packages).toSorted().toReversed()
  if (isDryRun) {
    console.log(`\nVersion ${version} can be made. It would change ${changed.join(', ')}. Nothing in this checkout was changed.`)
    return
  }
  if (cleanCommit() !== commit)
    throw new ReleaseError('The checkout has another commit than at the beginning: make the version of that one.')
  for (const file of changed) cpSync(path.join(copy, file), path.join(root, file))
  const into = path.join(root, 'dist', 'packages')
  rmSync(into, { recursive: true, force: true })
  cpSync(packages, into, { recursive: true })
  console.log(whatNext({ version, changed, tarballs, isPrivate: isPrivate(path.join(into, tarballs[0])), isQuick }))
}

/** @throws ReleaseError where it is no version, or not greater */
function next(before, asked) {
  const old = before.split('.').map(Number)
  const part = parts.indexOf(asked)
  if (part !== -1) return old.map((number, index) => (index < part ? number : index === part ? number + 1 : 0)).join('.')
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(asked)) throw new ReleaseError(`${asked} is no version, such as 1.2.3. Write: ${usage}`)
  const now = asked.split('.').map(Number)
  const differs = old.findIndex((number, index) => number !== now[index])
  if (differs === -1 || now[differs] < old[differs]) throw new ReleaseError(`${asked} is not greater than ${before}, which is there.`)
  return asked
}

/** @returns the commit that the checkout has @throws ReleaseError where there is anything else in it */
function cleanCommit() {
  if (!existsSync(path.join(root, '.git'))) throw new ReleaseError('This is no checkout of git: a version is made of a commit.')
  const uncommitted = git(root, 'status', '--porcelain')
  if (uncommitted !== '') throw new ReleaseError(`Commit these or put them away first: a version is made of a commit.\n${uncommitted}`)
  return git(root, 'rev-parse', 'HEAD')
}

/** The changelog with the version's heading, and an empty section above it. @throws ReleaseError where there is nothing to release */
function changelogOf(folder, version) {
  const text = readFileSync(path.join(folder, 'CHANGELOG.md'), 'utf8')
  const [, above, section] = /^([^]*?^## \[Unreleased\]\n)([^]*?)(?=^## |(?![^]))/m.exec(text) ?? []
  if (section === undefined) throw new ReleaseError('CHANGELOG.md has no heading `## [Unreleased]`: write what is new below it.')
  if (!/^[-*] /m.test(section)) throw new ReleaseError('CHANGELOG.md has nothing below `## [Unreleased]`: write there what is new.')
  if (text.includes(`\n## [${version}]`)) throw new ReleaseError(`CHANGELOG.md has a section of ${version}: name a greater version.`)
  const today = new Date().toISOString().slice(0, 10)
  return `${above}\n## [${version}] - ${today}\n${text.slice(above.length)}`
}

/** Every file that has the version, with the new one. The package sluice-devnet has that of package.json; the two interfaces have their own. */
function filesWith(folder, before, version) {
  const read = (file) => readFileSync(path.join(folder, file), 'utf8')
  const write = (value) => `${JSON.stringify(value, null, 2)}\n`
  const raised = (manifest) => ({
    ...manifest,
    version,
    peerDependencies: { ...manifest.peerDependencies, 'sluice-devnet': version },
  })
  const lock = JSON.parse(read('package-lock.json'))
  // Pages name the files of both packages in commands.
  const packed = new RegExp(`(?<![\\w-])(sluice(?:-devnet)?)-${before.replaceAll('.', '\\.')}\\.tgz`, 'g')
  const pages = git(folder, 'ls-files', '*.md', ':!CHANGELOG.md').split('\n')
  return [
    ['package.json', write(raised(JSON.parse(read('package.json'))))],
    ['package-lock.json', write({ ...lock, version, packages: { ...lock.packages, '': raised(lock.packages['']) } })],
    ['CHANGELOG.md', changelogOf(folder, version)],
    ...pages.map((file) => [file, read(file).replace(packed, `$1-${version}.tgz`)]),
  ]
}

/** Runs a script of the clone. @throws ReleaseError where it fails */
function step(name, script, args = [], env = {}) {
  console.log(`\n=== ${name}`)
  const { status, signal } = spawnSync(process.execPath, [script, ...args], {
    cwd: copy,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  })
  if (status !== 0) throw new ReleaseError(`\nThe step "${name}" failed (${signal ?? status}): see above.`)
}

function git(folder, ...args) {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
  if (error) throw new ReleaseError(`git could not be started: ${error.message}`)
  if (status !== 0) throw new ReleaseError(`git ${args[0]} failed: ${stderr.trim()}`)
  return stdout.trimEnd()
}

function isPrivate(tarball) {
  const { stdout } = spawnSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' })
  return JSON.parse(stdout).private === true
}

function whatNext({ version, changed, tarballs, isPrivate, isQuick }) {
  const undo = `git checkout -- ${changed.join(' ')} && rm -r dist/packages`
  const publish = tarballs.map((file) => `  npm publish dist/packages/${file}`).join('\n')
  return `
Version ${version} is made, in dist/packages and in ${changed.join(', ')}. Nothing is committed, and nothing is published.

${isQuick ? 'It was made with --quick, its packages are not tested and not for publishing. ' : ''}To undo it:
  ${undo}
Next:
  git diff
  git commit -am 'release: ${version}'
  git tag -a v${version} -m 'Sluice ${version}'
${
  isPrivate
    ? `The packages are private, which every registry refuses. Once a maintainer has confirmed both names on it (docs/design/releasing.md), undo this and make it again:
  SLUICE_CONFIRMED_NAMES=sluice,sluice-devnet npm run release -- ${version}`
    : `  git push --follow-tags\n${publish}`
}
To undo the commit and the tag, before they are pushed:
  git tag -d v${version} && git reset --keep HEAD~1`
}
