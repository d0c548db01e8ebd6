// What a user has: a folder, a package manager, the command, and a client with the certificate that the server made.
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { kinds } from '../../test/docs/kinds.ts'
import { fencesOf, filesOf } from '../../test/docs/page.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = path.join(root, 'dist', 'packages')
export const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
export const tarball = (name) => path.join(packages, `${name}-${version}.tgz`)

/** A folder whose name is not made for shells, outside of the checkout. Everybody may look into it. */
export const place = path.join(mkdtempSync(path.join(tmpdir(), 'sluice-package-')), 'Köln & Zürich')
mkdirSync(place)
chmodSync(path.dirname(place), 0o755)
export function removePlace() {
  endBeside()
  rmSync(path.dirname(place), { recursive: true, force: true })
}

/** Makes a folder there. */
export function folder(...names) {
  const made = path.join(place, ...names)
  mkdirSync(made, { recursive: true })
  return made
}

const { NODE_OPTIONS: _, ...inherited } = process.env
const clean = Object.fromEntries(Object.entries(inherited).filter(([name]) => !/^(SLUICE|npm)_/i.test(name)))

/** The environment of a shell that has this Node; absent: the machine's. */
export function environment(nodeFolder) {
  const [PATH, NO_COLOR] = [nodeFolder ? `${nodeFolder}${path.delimiter}${clean.PATH}` : clean.PATH, '1']
  return { ...clean, PATH, NO_COLOR }
}

/** Runs a program to its end. @returns exit code and all that it printed but npm's own warnings */
export function run(program, args, { cwd, env = environment(), seconds = 400, ...options }) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: seconds * 1000, ...options })
  const printed = `${stdout}${stderr}`.replace(/^npm (warn|notice).*\n/gm, '')
  return { code: status, printed: error ? `${printed}${error.message}` : printed }
}

/** The same beside what this process does. What it prints goes into a file: while this process waits for another program, it reads no pipe. */
export function runBeside(program, args, { cwd, env = environment() }) {
  const file = path.join(folder('printed'), `${randomUUID()}.txt`)
  const printed = openSync(file, 'w')
  // In a group of its own: npx ends without what it has started.
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', printed, printed], detached: true })
  closeSync(printed)
  beside.add(child)
  return new Promise((resolve, reject) =>
    child.once('error', reject).once('close', (code) => {
      beside.delete(child)
      resolve({ code, printed: readFileSync(file, 'utf8') })
    }),
  )
}

const beside = new Set()
process.once('exit', endBeside)
/** Where a test failed, nobody waits for them. */
function endBeside() {
  for (const { pid } of beside) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

/** Installs with npm from an empty cache of its own. */
export function install(cwd, what, { env, cache = path.join(place, 'cache') } = {}) {
  const { code, printed } = run('npm', ['install', '--no-audit', '--no-fund', '--cache', cache, ...what], { cwd, env })
  if (code !== 0) throw new Error(`npm install ${what.join(' ')} ended with ${code}:\n${printed}`)
}

/** A project with Sluice's own package, as npm made it first. */
const firstInstalled = path.join(place, 'as installed')

/** Installs Sluice's own package in an empty project. */
export function installSluice(cwd, options) {
  install(cwd, [tarball('sluice')], options)
  if (!existsSync(firstInstalled)) cpSync(cwd, firstInstalled, { recursive: true, verbatimSymlinks: true })
}

/** The same, without npm where it was done before. */
export function copyInstalled(cwd) {
  if (existsSync(firstInstalled)) return cpSync(firstInstalled, cwd, { recursive: true, verbatimSymlinks: true })
  asProject(cwd)
  installSluice(cwd)
}

export const asProject = (cwd) =>
  writeFileSync(path.join(cwd, 'package.json'), JSON.stringify({ name: 'outside', version: '1.0.0', type: 'module', private: true }))

/** `npx --no-install sluice …`, as the docs say it, without npx, which takes twice as long to start as the command: the commands of the guides have it. */
export const sluice = (cwd, args, options = {}) => run(path.join(cwd, 'node_modules', '.bin', 'sluice'), args, { cwd, ...options })

export const filesIn = (cwd) =>
  readdirSync(cwd)
    .filter((name) => !/^(node_modules|package(-lock)?\.json)$/.test(name))
    .toSorted()

/** What the first server saved of its devnet. Other homes begin with it: to deploy all exchanges takes as long as many tests. */
const keptDevnet = path.join(place, 'the devnet')

/** Starts the server, as a service manager does, and waits until it says that it is ready; with `isReady: false`, that it is up. */
export async function start(
  cwd,
  args,
  { env = environment(), program = path.join(cwd, 'node_modules', '.bin', 'sluice'), before = [], isReady = true } = {},
) {
  const devnet = args.includes('--devnet') && path.resolve(cwd, args[args.indexOf('--home') + 1 || args.length] ?? '', 'data', 'devnet')
  if (devnet && existsSync(keptDevnet) && !existsSync(devnet)) cpSync(keptDevnet, devnet, { recursive: true })
  const child = spawn(program, [...before, 'start', '--port', '0', ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text))
  const ended = new Promise((done) => child.once('close', (code, signal) => done({ code, signal })))
  let isOver = false
  void ended.then(() => (isOver = true))
  const says = isReady ? /is ready at (https:\S+)/ : /is up at (https:[^\s,]+)/
  const isThere = () => says.test(printed) && /Ctrl-C stops the server/.test(printed)
  for (const end = Date.now() + 150_000; !isThere() && !isOver && Date.now() < end;) await sleep(100)
  const [, url] = says.exec(printed) ?? []
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  if (url === undefined) {
    kill()
    throw new Error(`The server did not start:\n${printed}`)
  }
  if (devnet && !existsSync(keptDevnet)) cpSync(devnet, keptDevnet, { recursive: true })
  return {
    url,
    printed: () => printed,
    kill,
    /** @returns how it ended */
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** A bot, with the certificate that the first start made. */
export function bot(url, home) {
  const pem = (name) => readFileSync(path.join(home, 'certs', `${name}.pem`))
  const agent = new https.Agent({ keepAlive: true, ca: pem('ca_cert'), cert: pem('client_cert'), key: pem('client_key') })
  const open = (method, target, body) =>
    new Promise((resolve, reject) =>
      https
        .request(new URL(target, url), { method, agent, headers: { 'content-type': 'application/json' } }, resolve)
        .on('error', reject)
        .end(body && JSON.stringify(body)),
    )
  const answer = async (method, target, body) => {
    const text = (await (await open(method, target, body)).setEncoding('utf8').toArray()).join('')
    return JSON.parse(text)
  }
  return {
    get: (target, query = {}) => answer('GET', `${target}?${new URLSearchParams(query)}`),
    post: (target, body) => answer('POST', target, body),
    /** Reads the stream of events until the text is in it. */
    async events(query, text) {
      const stream = (await open('GET', `/events?${new URLSearchParams(query)}`)).setEncoding('utf8')
      const limit = setTimeout(() => stream.destroy(new Error(`No event with ${text} within 90 s.`)), 90_000)
      let read = ''
      for await (const part of stream) if ((read += part).includes(text)) break
      clearTimeout(limit)
      return read
    },
  }
}

/** A quote and a trade on the devnet. */
export const swap = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }

/** `sluice plugin new`, in this folder. */
export function newPlugin(cwd, name, { kind, family }, options) {
  const args = ['plugin', 'new', name, '--kind', kind, ...(family === undefined ? [] : ['--family', family])]
  const { code, printed } = sluice(cwd, args, options)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${printed}`)
}

/** The pages that show whole plugins. */
export const guides = [
  'writing-a-connector',
  'writing-a-liquidity-connector',
  'writing-a-pool-protocol',
  'writing-an-exchange',
  'writing-an-order-book-connector',
  'writing-a-chain',
  'writing-an-interface',
  'testing-a-plugin',
]
export const page = (name) => readFileSync(path.join(root, 'docs', `${name}.md`), 'utf8')
export const guide = (name) => page(`authors/${name}`)

let author
/** The folder of an author, made once for all tests: both packages, beside them a new plugin of each kind and family, and what the guides show. */
export function authorsFolder() {
  if (author !== undefined) return author
  const cwd = folder('Plugins von mir')
  for (const name of ['sluice', 'sluice-devnet']) copyFileSync(tarball(name), path.join(cwd, path.basename(tarball(name))))
  const [typed] = fencesOf(guide('your-first-plugin'))
  const { code, printed } = run('sh', ['-euc', typed.text], { cwd, env: { ...environment(), npm_config_cache: path.join(place, 'cache') } })
  if (code !== 0) throw new Error(`${typed.text} ended with ${code}:\n${printed}`)
  for (const each of kinds) newPlugin(cwd, each.name, each)
  for (const [file, text] of guides.flatMap((name) => [...filesOf(guide(name))])) {
    mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true })
    writeFileSync(path.join(cwd, file), text)
  }
  author = cwd
  return author
}

/** Its package is what a server loads: without a lock, for servers that only try. */
export function putPlugin(cwd, name, home) {
  const into = folder(home, 'plugins', name)
  for (const [program, ...args] of [
    ['npm', 'pack', '--silent'],
    ['tar', '-xzf', `${name}-0.1.0.tgz`, '-C', into, '--strip-components=1'],
  ]) {
    const { code, printed } = run(program, args, { cwd: path.join(cwd, name) })
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${printed}`)
  }
}

/** Nodes from npm: the folder with the program, by version. The machine's is absent. */
export function nodeFrom(version) {
  const into = folder(`node ${version}`)
  asProject(into)
  const name = `node-${process.platform}-${process.arch}`
  install(into, [`${name}@${version}`])
  return path.join(into, 'node_modules', name, 'bin')
}

export const nodes = [{ name: `Node ${process.versions.node}, this machine's`, version: undefined }]
if (process.env.PACKAGE_TEST_ALL) nodes.push(...['20.19', '22', '24'].map((version) => ({ name: `Node ${version}`, version })))
