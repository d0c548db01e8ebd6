// `npm test` and `npm run test:rest`: the two tiers of tests, by the names of their files.
//
//   *.test.ts        quick: needs no process of its own, and one real devnet and server (test/one-trade.test.ts). One mocha, files in parallel.
//   *.rest.test.ts   everything else: a mocha for each folder, the packages and the image beside them, then what tries the machine
//                   itself (cluster, chaos), a mocha for each file.
//                   `npm run test:rest -- --all` leaves nothing out: what takes long and is played in turn, the whole table of the image, all
//                   cards and compilers of the packages.
//
// The output of each mocha is printed when it ends; at the end the sum of all, with every failure.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { buildWhenStale } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const mocha = path.join(root, 'node_modules/mocha/bin/mocha.js')
/** Tests, servers and nodes wait more than they work: more run at once than there are cores. */
const cores = Math.min(3, availableParallelism())

/** These folders hold a folder of tests for each plugin, kit or tool. */
const nested = ['test/kits', 'test/plugins', 'tools']
/** What they test takes a whole machine, and has time limits: they come last. */
const demanding = ['test/cluster', 'tools/chaos']
/** So many small folders are one job. */
const atOnce = 5
/** The folders that take longest begin first, so that none is left over at the end. */
const slowest = [
  'test/http',
  'test/contracts',
  'test/loader',
  'test/cli',
  'test/docs',
  'test/start',
  'test/transactions',
  'test/plugins/solana',
  'test/plugins/hyperliquid',
  'test/build',
  'test/wallet',
  'test/kits/amm',
  'test/devnet',
  'test/events',
]

const isAll = process.argv.includes('--all')
if (isAll) process.env.PACKAGE_TEST_ALL = 'yes'

/**
 * What takes long, in parts that take about as long as each other: each commit plays one of them, so that eight commits play all. All at
 * once: npm run test:rest -- --all.
 * `packages`: which of the tests in tools/package, besides those that every commit plays; `guide`: the one that is followed there.
 * `image`: whether the image is built and run.
 */
const inTurn = [
  {
    files: [
      'test/loader/nodes.rest.test.ts',
      'test/plugins/camelot-v4/memory.rest.test.ts',
      'test/transactions/journal/list-entries.rest.test.ts',
      'test/wallet/wallet-command.rest.test.ts',
    ],
    packages: [],
    image: true,
  },
  {
    files: [
      ...['bursts', 'solana'].map(chaos),
      'test/cli/plugin-dev.rest.test.ts',
      'test/contracts/books.rest.test.ts',
      'test/http/fairness.rest.test.ts',
      'test/plugins/quickswap-v4/memory.rest.test.ts',
      'test/store/kill.rest.test.ts',
    ],
    packages: ['guides'],
    guide: 'your-first-plugin',
  },
  {
    files: [
      ...['full-disk', 'stopped-signer'].map(chaos),
      'test/cli/hostile-plugins.rest.test.ts',
      'test/cli/plugin-add.rest.test.ts',
      'test/cli/plugin-full-disk.rest.test.ts',
      'test/loader/late-plugins.rest.test.ts',
      'test/transactions/archive/killed.rest.test.ts',
    ],
    packages: ['guides'],
    guide: 'writing-a-connector',
  },
  {
    files: [
      ...['hyperliquid', 'node-faults'].map(chaos),
      'test/docs/market-makers.rest.test.ts',
      'test/http/node-bill.rest.test.ts',
      'test/http/trade-from-memory.rest.test.ts',
      'test/plugins/solana/fuzz.rest.test.ts',
      'test/start/local-sites.rest.test.ts',
      'test/store/migrations.rest.test.ts',
    ],
    packages: [],
  },
  {
    files: [
      chaos('long-journal'),
      'test/contracts/forks.rest.test.ts',
      'test/http/client-python.rest.test.ts',
      'test/loader/service.rest.test.ts',
      'test/plugins/quickswap-v3/memory.rest.test.ts',
    ],
    packages: ['author'],
  },
  {
    files: [
      ...['chain-trouble', 'clocks'].map(chaos),
      'test/http/fuzz.rest.test.ts',
      'test/loader/broken-plugins.rest.test.ts',
      'test/loader/hostile-hosts.rest.test.ts',
      'test/loader/hostile-plugins.rest.test.ts',
      'test/plugins/hyperliquid/contract.rest.test.ts',
      'test/transactions/journal/postgres-size.rest.test.ts',
      'test/wallet/ed25519/wallet-command.rest.test.ts',
    ],
    packages: [],
  },
  {
    files: [
      chaos('cluster'),
      'test/build/build.rest.test.ts',
      'test/build/release.rest.test.ts',
      'test/cluster/cluster.rest.test.ts',
      'test/kits/amm/weighted/contracts.rest.test.ts',
      'test/plugins/uniswap/v4-memory.rest.test.ts',
      'test/start/signals.rest.test.ts',
      'test/store/postgres-faults.rest.test.ts',
      'test/testkit/cards.rest.test.ts',
    ],
    packages: [],
  },
  {
    files: [
      chaos('orders'),
      'test/cli/plugin-consent.rest.test.ts',
      'test/devnet/processes.rest.test.ts',
      'test/devnet/start-devnet.rest.test.ts',
      'test/events/cluster.rest.test.ts',
      'test/http/node-trouble.rest.test.ts',
      'test/kits/amm/walk/memory-walk.rest.test.ts',
      'test/loader/busy-machine.rest.test.ts',
      'test/loader/stage.rest.test.ts',
      'test/transactions/leases/leases.rest.test.ts',
    ],
    packages: ['guides'],
    guide: 'writing-a-chain',
  },
]
function chaos(scenario) {
  return `tools/chaos/${scenario}.rest.test.ts`
}

/** The part of this commit. */
const turn = isAll ? undefined : inTurn[commits() % inTurn.length]
function commits() {
  const { stdout } = spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return Number.parseInt(stdout, 10) || 0
}
if (turn?.guide) process.env.PACKAGE_TEST_GUIDES = turn.guide
const otherTurns = new Set(turn ? inTurn.flatMap(({ files }) => (files === turn.files ? [] : files)) : [])

const isRest = (file) => file.endsWith('.rest.test.ts') && !otherTurns.has(file)
const testsIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.posix.join(folder, file))
    .toSorted()
const foldersIn = (folder) =>
  readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.posix.join(folder, entry.name))

/** The files of the tests that are not quick, by folder. Those of small folders are one job for several: to load everything takes each job seconds. */
function restGroups() {
  const folders = [...foldersIn('test'), 'tools']
    .flatMap((folder) => (nested.includes(folder) ? foldersIn(folder) : [folder]))
    .filter((folder) => !demanding.includes(folder))
    .map((name) => ({ name, files: testsIn(name).filter(isRest) }))
    .filter(({ files }) => files.length > 0)
  const small = folders.filter(({ name }) => !slowest.includes(name))
  const together = Array.from({ length: Math.ceil(small.length / atOnce) }, (_, index) => small.slice(index * atOnce, (index + 1) * atOnce))
  return [
    ...slowest.flatMap((name) => folders.find((each) => each.name === name) ?? []),
    ...together.map((each) => ({ name: each.map(({ name }) => name).join(', '), files: each.flatMap(({ files }) => files) })),
  ]
}

/** What Node, V8, libuv and native packages print when they end a process. mocha only says that a worker is gone. */
const lastWords =
  /^.*(?:FATAL ERROR|Fatal error|Assertion.*failed|Check failed|panicked at|terminate called|malloc|free\(\)|corrupted|stack smashing).*$/

/** The lines around the first of them. */
function crashOf(text) {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => lastWords.test(line))
  return at === -1 ? '' : `\n\n  A process ended with:\n${lines.slice(at, at + 25).join('\n')}`
}

/** Processor seconds of all children that have ended and of theirs; 0 where the system does not say. */
function processorSeconds() {
  if (!existsSync('/proc/self/stat')) return 0
  // After the name in brackets, from the third field on: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, cutime and cstime.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** @returns all that Node printed, its exit code, and how long it took */
function run(args, env = built) {
  const began = performance.now()
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  const parts = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part))
  let processor = 0
  child.on('exit', () => {
    const all = processorSeconds()
    processor = Math.round(all - counted)
    counted = all
  })
  return new Promise((done) =>
    child.on('close', (code) => {
      const time = `${Math.round((performance.now() - began) / 1000)} s, ${processor} of a processor`
      done({ output: Buffer.concat(parts).toString(), code, time })
    }),
  )
}
/** Of the jobs that have ended. */
let counted = 0

const mochaOf =
  (name, files, flags = []) =>
  async () =>
    report(name, await run([mocha, ...flags, ...files]))

/** What tests start as processes runs dist/ where that is up to date. */
const built = {}

/** Nine hundred modules, which each process and each thread that runs the sources would load: that takes longer than many tests. */
const manyModules = ['typebox', 'typebox/value', 'typebox/compile', 'kysely']

/** Bundles these packages. Gives the environment in which tsx takes the bundles. */
async function fewModules() {
  const folder = path.join(root, 'dist', '.tests')
  const nameOf = (specifier) => specifier.replace('/', '-')
  const { build, stop } = await import('esbuild')
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(manyModules.map((specifier) => [nameOf(specifier), specifier])),
    outdir: path.join(folder, 'packages'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
  })
  await stop()
  const { compilerOptions, include, exclude } = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8'))
  const here = (file) => path.join(root, file)
  const paths = Object.fromEntries([
    ...Object.entries(compilerOptions.paths).map(([specifier, files]) => [specifier, files.map(here)]),
    ...manyModules.map((specifier) => [specifier, [path.join(folder, 'packages', `${nameOf(specifier)}.js`)]]),
  ])
  const config = path.join(folder, 'tsconfig.json')
  const content = { compilerOptions: { ...compilerOptions, paths }, include: include.map(here), exclude: exclude.map(here) }
  writeFileSync(config, JSON.stringify(content))
  return { TSX_TSCONFIG_PATH: config }
}

const sum = { passing: 0, pending: 0, failing: 0 }
const failures = []

function report(name, { output, code, time }) {
  const text = stripVTControlCharacters(output)
  const count = (word) => Number([...text.matchAll(new RegExp(`^ +(\\d+) ${word}`, 'gm'))].at(-1)?.[1] ?? 0)
  process.stdout.write(`\n=== ${name} (${time})\n${output}`)
  for (const word of Object.keys(sum)) sum[word] += count(word)
  if (count('failing') > 0) {
    // Without the counts of mocha, its own and those of a mocha that a test ran, so that the sum is the last number of the whole output.
    const told = text
      .slice(text.search(/^ +\d+ failing/m))
      .replace(/^ +\d+ failing\s*/, '  ')
      .replace(/^.*\d+ (passing|failing|pending)\b.*\n?/gm, '')
    failures.push(told.trimEnd() + (told.includes('terminated Unexpectedly') ? crashOf(text) : ''))
  } else if (code !== 0 || count('passing') === 0) {
    sum.failing += 1
    failures.push(`  ${name} ended with ${code}:\n${text.trimEnd().split('\n').slice(-20).join('\n')}`)
  }
}

async function runAll(jobs, most) {
  const queue = [...jobs]
  const work = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job()
  }
  await Promise.all(Array.from({ length: most }, work))
}

/** The packages are installed and used with one processor most of the time: this goes beside other tests. */
const runPackages = async () =>
  report(
    'tools/package',
    await run(['tools/package/run.mjs', '--packed', ...(turn ? ['package', 'managers', 'trouble', ...turn.packages] : [])], {}),
  )

/** The image is built and run with tools of Debian's; elsewhere this says what is missing. */
async function runImage() {
  const missing = ['buildah', 'mmdebstrap'].filter((program) => spawnSync('which', [program]).status !== 0)
  if (process.getuid?.() !== 0 || (missing.length > 0 && !process.env.CI)) {
    console.log('\n=== tools/image was left out: it needs root, and buildah and mmdebstrap of Debian. `npm run test:image` runs it alone.')
    return
  }
  const { output, code, time } = await run(['--import', 'tsx', 'tools/image/test-image.mjs', ...(isAll ? [] : ['--short'])])
  process.stdout.write(`\n=== tools/image (${time})\n${output}`)
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(output)?.[1] ?? 0)
  sum.passing += count('passed')
  sum.failing += Math.max(count('failed'), code === 0 ? 0 : 1)
  if (code !== 0) failures.push(`  tools/image ended with ${code}:\n${output.trimEnd().split('\n').slice(-20).join('\n')}`)
}

const startedAt = performance.now()
Object.assign(built, await fewModules())
if (process.argv[2] === 'rest') {
  const missing = inTurn.flatMap(({ files }) => files).filter((file) => !existsSync(path.join(root, file)))
  if (missing.length > 0) throw new Error(`tools/test.mjs names files that do not exist: ${missing.join(', ')}`)
  if (turn)
    console.log(
      `Left to the next commits, or to npm run test:rest -- --all: ${[...(turn.image ? [] : ['tools/image']), ...otherTurns].join(', ')}`,
    )
  // Servers that tests start as processes run dist/, which nothing may write to from here on: packing builds it whole.
  const packed = await run(['tools/pack.mjs'], { SLUICE_CONFIRMED_NAMES: '' })
  if (packed.code !== 0) report('pack', packed)
  await buildWhenStale()
  built.BUILT_SLUICE = 'dist'
  const folders = restGroups().map(({ name, files }) => mochaOf(name, files))
  await runAll(
    [...folders.slice(0, 2), ...(packed.code === 0 ? [...(turn && !turn.image ? [] : [runImage]), runPackages] : []), ...folders.slice(2)],
    cores + 2,
  )
  const alone = demanding.flatMap(testsIn).filter(isRest)
  await runAll(
    alone.map((file) => mochaOf(file, [file])),
    cores,
  )
} else {
  const files = [...testsIn('test'), ...testsIn('tools')].filter((file) => !file.endsWith('.rest.test.ts'))
  await mochaOf('quick tests', files, ['--parallel', '--jobs', String(cores + 1)])()
}

const seconds = Math.round((performance.now() - startedAt) / 1000)
console.log(`\n  ${sum.passing} passing (${Math.floor(seconds / 60)}m ${seconds % 60}s)`)
if (sum.pending > 0) console.log(`  ${sum.pending} pending`)
if (sum.failing > 0) console.log(`  ${sum.failing} failing\n\n${failures.join('\n\n')}`)
process.exitCode = sum.failing > 0 ? 1 : 0
