// The whole suite: a mocha for each folder of tests, one more at once than there are cores, for servers and nodes wait more than they work; before
// that, what puts the machine itself to the test, a mocha for each file and as many at once as there are cores.
// What each says is printed when it is done, and at the end the sum with all that failed, as mocha itself says it.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const mocha = path.join(root, 'node_modules/mocha/bin/mocha.js')
const cores = Math.min(3, availableParallelism())
/** Rooms with floors of their own: each floor is a folder of tests. */
const houses = ['kits', 'plugins']
/** They put the machine itself to the test, and what they promise is in seconds: each file has a core for itself. The last wants them all. */
const demanding = ['chaos', 'cluster']
/** The longest come first, so that none is left over at the end. */
const long = [
  'http',
  'contracts',
  'docs',
  'loader',
  'start',
  'transactions',
  'plugins/solana',
  'plugins/hyperliquid',
  'build',
  'wallet',
  'kits/uniswap-v3',
  'plugins/exchanges',
]

const foldersIn = (folder) =>
  readdirSync(path.join(root, 'test', folder), { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? [path.posix.join(folder, each.name)] : [],
  )
const testsIn = (folder) =>
  readdirSync(path.join(root, 'test', folder), { recursive: true })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.join('test', folder, file))
    .toSorted()

/** What one mocha runs. */
const folderOf = (name) => ({ name, files: testsIn(name) })
const filesOf = (name) => testsIn(name).map((file) => ({ name: path.posix.join(name, path.basename(file)), files: [file] }))

const folders = foldersIn('').flatMap((folder) => (houses.includes(folder) ? foldersIn(folder) : [folder]))
const rank = (folder) => (long.includes(folder) ? long.indexOf(folder) : long.length)
const others = folders
  .filter((folder) => !demanding.includes(folder))
  .toSorted((a, b) => rank(a) - rank(b))
  .map(folderOf)
  .filter(({ files }) => files.length > 0)

/** @returns all that mocha printed, its exit code, and how long it took */
function run(files) {
  const began = performance.now()
  const child = spawn(process.execPath, [mocha, ...files], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const parts = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part))
  return new Promise((done) =>
    child.on('close', (code) =>
      done({ output: Buffer.concat(parts).toString(), code, seconds: Math.round((performance.now() - began) / 1000) }),
    ),
  )
}

const sum = { passing: 0, pending: 0, failing: 0 }
const failures = []

function note(name, { output, code, seconds }) {
  const text = stripVTControlCharacters(output)
  const count = (word) => Number([...text.matchAll(new RegExp(`^ +(\\d+) ${word}`, 'gm'))].at(-1)?.[1] ?? 0)
  process.stdout.write(`\n=== test/${name} (${seconds} s)\n${output}`)
  for (const word of Object.keys(sum)) sum[word] += count(word)
  // Without its own count of them, so that the sum is the last that is said.
  if (count('failing') > 0)
    failures.push(
      text
        .slice(text.search(/^ +\d+ failing/m))
        .replace(/^ +\d+ failing\s*/, '  ')
        .trimEnd(),
    )
  else if (code !== 0 || count('passing') === 0) {
    sum.failing += 1
    failures.push(`  test/${name} ended with ${code}:\n${text.trimEnd().split('\n').slice(-20).join('\n')}`)
  }
}

async function runAll(groups, lanes) {
  const queue = [...groups]
  const work = async () => {
    for (let group = queue.shift(); group !== undefined; group = queue.shift()) note(group.name, await run(group.files))
  }
  await Promise.all(Array.from({ length: lanes }, work))
}

const startedAt = performance.now()
for (const folder of demanding) await runAll(filesOf(folder), cores)
await runAll(others, cores + 1)

const minutes = Math.round((performance.now() - startedAt) / 60_000)
console.log(`\n  ${sum.passing} passing (${minutes}m)`)
if (sum.pending > 0) console.log(`  ${sum.pending} pending`)
if (sum.failing > 0) console.log(`  ${sum.failing} failing\n\n${failures.join('\n\n')}`)
process.exitCode = sum.failing > 0 ? 1 : 0
