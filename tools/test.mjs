// `npm test` and `npm run test:rest`: the two tiers of tests, by the names of their files.
//
//   *.test.ts        quick: needs no process of its own, and one real devnet and server (test/one-trade.test.ts). One mocha, files in parallel.
//   *.rest.test.ts   everything else: a mocha for about two minutes of files, the packages and the image beside them, then what tries the machine
//                   itself (cluster, chaos), a mocha for each file. The longest begin first, by the table in tools/test-seconds.json.
//                   `npm run test:rest -- --all` has more: the whole table of the image, all cards and compilers of the packages.
//                   `-- --part 2/4` plays a quarter, for machines side by side. `-- --keep` writes what each file took into the table.
//
// Of the quick tests a line is printed for each file that is done, or one bar on a terminal. Of the others a line is printed when a mocha begins, and its
// output when it ends; at the end the seconds of the longest files, and the sum of all, with every failure.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { buildWhenStale } from './build.mjs'
import { bundleModules, bundleName, manyModules } from './few-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const mocha = path.join(root, 'node_modules/mocha/bin/mocha.js')
/** Tests, servers and nodes wait more than they work: more run at once than there are cores. */
const cores = Math.min(3, availableParallelism())

/** What they test takes a whole machine, and has time limits: they come last. */
const demanding = ['test/cluster/', 'tools/chaos/']

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    part: { type: 'string', default: '1/1' },
  },
})
if (options.all) process.env.PACKAGE_TEST_ALL = 'yes'
const [, part, parts] = (/^([1-9]\d?)\/([1-9]\d?)$/.exec(options.part) ?? []).map(Number)
if (part === undefined || parts === undefined || part > parts) throw new Error('--part takes which part of how many, such as 2/4.')

const testsIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.posix.join(folder, file))
    .toSorted()
const allTests = [...testsIn('test'), ...testsIn('tools')]
const isRest = (file) => file.endsWith('.rest.test.ts')

/** Processor seconds of each file of the second tier, of the packages and of the image, as the last run that kept them measured them. */
const tableFile = path.join(root, 'tools/test-seconds.json')
const table = existsSync(tableFile) ? JSON.parse(readFileSync(tableFile, 'utf8')) : {}
/** Of a file that is in no table yet. */
const usualSeconds = 5
const secondsOf = (name) => table[name] ?? usualSeconds
/** Files that take less are one mocha together: to load everything takes each mocha seconds. */
const secondsOfOneJob = 120

/** A job: its files, in the order of the folders, and how long it takes. */
const jobOf = (files) => ({
  name: files.length === 1 ? files[0] : `${files[0]} to ${files.at(-1)} (${files.length} files)`,
  seconds: files.reduce((sum, file) => sum + secondsOf(file), 0),
  run: mochaOf(files),
})

/** Files beside each other, up to two minutes of them. */
function restJobs(files) {
  const jobs = []
  let together = []
  const close = () => {
    if (together.length > 0) jobs.push(jobOf(together))
    together = []
  }
  for (const file of files) {
    const seconds = [...together, file].reduce((sum, each) => sum + secondsOf(each), 0)
    if (seconds > secondsOfOneJob) close()
    together.push(file)
  }
  close()
  return jobs
}

const longestFirst = (jobs) => jobs.toSorted((a, b) => b.seconds - a.seconds)

/** The jobs of this part: each goes to the part that has least so far. */
function ofThisPart(jobs) {
  const sums = Array.from({ length: parts }, () => 0)
  return longestFirst(jobs).filter(({ seconds }) => {
    const least = sums.indexOf(Math.min(...sums))
    sums[least] += seconds
    return least === part - 1
  })
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

/** Where mocha begins to sum up. */
const summary = /^ +\d+ passing/m

/** @returns all that Node printed, its exit code, and how long it took. With `isShown` it is printed as it comes, too, up to the summary. */
function run(args, { env = built, isShown = false } = {}) {
  const began = performance.now()
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  const said = []
  let isSummed = false
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said.push(chunk)
      isSummed ||= summary.test(Buffer.concat(said.slice(-2)).toString())
      if (isShown && !isSummed) process.stdout.write(chunk)
    })
  let processor = 0
  child.on('exit', () => {
    const all = processorSeconds()
    processor = all - counted
    counted = all
  })
  return new Promise((done) => {
    const end = (code) => {
      for (const stream of [child.stdout, child.stderr]) stream.destroy()
      const time = `${Math.round((performance.now() - began) / 1000)} s, ${Math.round(processor)} of a processor`
      done({ output: Buffer.concat(said).toString(), code, time, processor })
    }
    child.on('close', end)
    // A process that a failed test left behind has its output: nobody waits for that one.
    child.on('exit', (code) => setTimeout(() => end(code), 5_000))
  })
}
/** Of the jobs that have ended. */
let counted = 0

/** What tests of this run share. */
const runFolder = mkdtempSync(path.join(tmpdir(), 'sluice-tests-'))
process.on('exit', () => rmSync(runFolder, { recursive: true, force: true }))
const measured = path.join(runFolder, 'seconds')

function mochaOf(files) {
  const flags = ['--reporter', path.join(root, 'tools/test-seconds.mjs'), '--reporter-option', `file=${measured}`]
  return async (name) => report(name, await run([mocha, ...flags, ...files]))
}

/** What tests start as processes runs dist/ where that is up to date. */
const built = {}

/** Bundles packages of many modules. Gives the environment in which tsx takes the bundles. */
async function fewModules() {
  const folder = path.join(root, 'dist', '.tests')
  const packages = path.join(folder, 'packages')
  await bundleModules(packages, { stops: true })
  const { compilerOptions, include, exclude } = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8'))
  const here = (file) => path.join(root, file)
  const paths = Object.fromEntries([
    ...Object.entries(compilerOptions.paths).map(([specifier, files]) => [specifier, files.map(here)]),
    ...manyModules.map((specifier) => [specifier, [path.join(packages, bundleName(specifier))]]),
  ])
  const config = path.join(folder, 'tsconfig.json')
  const content = { compilerOptions: { ...compilerOptions, paths }, include: include.map(here), exclude: exclude.map(here) }
  writeFileSync(config, JSON.stringify(content))
  return { TSX_TSCONFIG_PATH: config }
}

const sum = { passing: 0, pending: 0, failing: 0 }
const failures = []

function report(name, { output, code, time }, { isShown = false } = {}) {
  const text = stripVTControlCharacters(output)
  const count = (word) => Number([...text.matchAll(new RegExp(`^ +(\\d+) ${word}`, 'gm'))].at(-1)?.[1] ?? 0)
  process.stdout.write(`\n=== ${name} (${time})\n${isShown ? '' : output}`)
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
  const queue = longestFirst(jobs)
  const work = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      console.log(`\n=== begins: ${job.name}`)
      await job.run(job.name)
    }
  }
  await Promise.all(Array.from({ length: most }, work))
}

/** What is not of one file is measured here. */
const timed = {}

/** The packages are installed and used with one processor most of the time: this goes beside other tests. */
async function runPackages(name) {
  const ran = await run(['tools/package/run.mjs', '--packed'], { env: {} })
  timed[name] = ran.processor
  report(name, ran)
}

/** The image is built and run with tools of Debian's; elsewhere this says what is missing. */
async function runImage(name) {
  const missing = ['buildah', 'mmdebstrap'].filter((program) => spawnSync('which', [program]).status !== 0)
  if (process.getuid?.() !== 0 || (missing.length > 0 && !process.env.CI)) {
    console.log('\n=== tools/image was left out: it needs root, and buildah and mmdebstrap of Debian. `npm run test:image` runs it alone.')
    return
  }
  const { output, code, time, processor } = await run([
    '--import',
    'tsx',
    'tools/image/test-image.mjs',
    ...(options.all ? [] : ['--short']),
  ])
  timed[name] = processor
  process.stdout.write(`\n=== ${name} (${time})\n${output}`)
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(output)?.[1] ?? 0)
  sum.passing += count('passed')
  sum.failing += Math.max(count('failed'), code === 0 ? 0 : 1)
  if (code !== 0) failures.push(`  ${name} ended with ${code}:\n${output.trimEnd().split('\n').slice(-20).join('\n')}`)
}

/** Seconds of each file that was played. */
function secondsPlayed() {
  const lines = existsSync(measured) ? readFileSync(measured, 'utf8').trimEnd().split('\n') : []
  const played = { ...timed }
  for (const { file, seconds } of lines.map((line) => JSON.parse(line))) {
    const name = path.relative(root, file)
    played[name] = (played[name] ?? 0) + seconds
  }
  return Object.entries(played).map(([name, seconds]) => [name, Math.round(seconds)])
}

function tellSeconds() {
  const played = secondsPlayed().toSorted(([, a], [, b]) => b - a)
  const all = played.reduce((sum, [, seconds]) => sum + seconds, 0)
  console.log(`\n=== seconds of a processor: ${all}, in ${played.length} files; the longest:`)
  for (const [name, seconds] of played.slice(0, 40)) console.log(`${String(seconds).padStart(6)}  ${name}`)
  if (!options.keep) return
  const known = new Set([...allTests.filter(isRest), ...Object.keys(timed)])
  const next = Object.entries({ ...table, ...Object.fromEntries(played) }).filter(([name]) => known.has(name))
  writeFileSync(tableFile, `${JSON.stringify(Object.fromEntries(next.toSorted(([a], [b]) => (a < b ? -1 : 1))), undefined, 2)}\n`)
}

const startedAt = performance.now()
Object.assign(built, await fewModules())
if (positionals[0] === 'rest') {
  // Servers that tests start as processes run dist/, which nothing may write to from here on: packing builds it whole.
  const packed = await run(['tools/pack.mjs'], { env: { SLUICE_CONFIRMED_NAMES: '' } })
  if (packed.code !== 0) report('pack', packed)
  await buildWhenStale()
  built.BUILT_SLUICE = 'dist'
  built.PATCHED_SERVERS = path.join(runFolder, 'servers')
  const isDemanding = (file) => demanding.some((folder) => file.startsWith(folder))
  const files = allTests.filter(isRest)
  const beside = [
    ...restJobs(files.filter((file) => !isDemanding(file))),
    ...(packed.code === 0 ? ['tools/image', 'tools/package'] : []).map((name) => ({
      name,
      seconds: secondsOf(name),
      run: name === 'tools/image' ? runImage : runPackages,
    })),
  ]
  const alone = files.filter(isDemanding).map((file) => jobOf([file]))
  const jobs = ofThisPart([...beside, ...alone])
  await runAll(
    jobs.filter((job) => !alone.includes(job)),
    cores + 2,
  )
  await runAll(
    jobs.filter((job) => alone.includes(job)),
    cores,
  )
  tellSeconds()
} else {
  const files = allTests.filter((file) => !isRest(file))
  console.log(`=== quick tests: ${files.length} files`)
  const reporter = ['--reporter', path.join(root, 'tools/test-lines.mjs'), '--reporter-option', `files=${files.length}`]
  const bar = process.stdout.isTTY ? ['--reporter-option', 'bar=yes'] : []
  const args = [mocha, '--parallel', '--jobs', String(cores + 1), ...reporter, ...bar, ...files]
  report('quick tests', await run(args, { isShown: true }), { isShown: true })
}

const seconds = Math.round((performance.now() - startedAt) / 1000)
console.log(`\n  ${sum.passing} passing (${Math.floor(seconds / 60)}m ${seconds % 60}s)`)
if (sum.pending > 0) console.log(`  ${sum.pending} pending`)
if (sum.failing > 0) console.log(`  ${sum.failing} failing\n\n${failures.join('\n\n')}`)
process.exitCode = sum.failing > 0 ? 1 : 0
