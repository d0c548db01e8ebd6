import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { findContainment, startContained, startUncontained } from '../../core/plugins/isolate/containment.ts'
import { createHosts } from '../../core/plugins/isolate/hosts.ts'
import { excessOf, processesBelow } from '../../core/plugins/isolate/process-tree.ts'
import { fixtures, keptLog, load as loadFolders } from './fixtures.ts'
import { plantHarms } from './harmed-hosts.ts'
import { hangingLater, hangingStarts } from './host-harms.ts'
import { harmlessFixtures, plantFixture, refusedFixtures, refusedInHosts } from './hostile-plugins.ts'
import { programArgs } from '../program.ts'
import { startPluginHost } from './plugin-host.ts'

/** As on a system that has no user namespaces to give. */
const without = ['unshare', '--user', '--map-root-user', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh']

async function load(system: readonly string[], ...args: readonly string[]) {
  const program = await programArgs(new URL('hosting-process.ts', import.meta.url))
  const [command = '', ...rest] = [...system, process.execPath, ...program, ...args]
  const { stdout } = await promisify(execFile)(command, rest)
  return JSON.parse(stdout)
}

/** One in its process group, and one that has left it; they hold what it writes to. */
const startsChildren = `for (const detached of [false, true]) spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached, stdio: 'inherit' })`

/** The command lines of the processes of plugins that this one has started, and of theirs. */
const ofPlugins = (): string[] =>
  processesBelow(process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').slice(-200)
      } catch {
        return ''
      }
    })
    .filter((line) => /host-process|setInterval/.test(line))

interface RefusedPlugin {
  readonly name: string
  readonly step: string
  readonly reason: string
  readonly remedy: string
}

describe('where a plugin of a third party runs', function () {
  this.timeout(400_000)
  let folder: string
  /** The whole table of hostile plugins, in one folder. */
  let table: string
  let names: readonly string[]
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-containment-'))
    await chmod(folder, 0o755)
    table = path.join(folder, 'table')
    const fixtures = { ...refusedFixtures, ...refusedInHosts, ...harmlessFixtures }
    for (const [name, fixture] of Object.entries(fixtures)) plantFixture(table, name, fixture)
    const harms = plantHarms(
      table,
      { pid: 1, node: process.execPath, home: folder, host: '127.0.0.1', port: 1, code: '/', plugins: table },
      { ...hangingLater, ...hangingStarts },
    )
    names = [...Object.keys(fixtures), ...harms, 'plain-swap'].toSorted()
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** Every plugin of the table, for this reason, and none of them has run. */
  function expectAllRefused(refused: readonly RefusedPlugin[], reason: RegExp, remedy: string): void {
    expect(refused.map(({ name }) => name).toSorted()).to.deep.equal(names)
    for (const each of refused) {
      expect(each).to.include({ step: 'find' })
      expect(each.reason, each.name).to.match(reason)
      expect(each.remedy, each.name).to.include(remedy)
    }
  }

  /** A plugin with a link to what is none of its business. */
  async function linked(): Promise<string> {
    const plugin = path.join(folder, 'linked')
    await cp(path.join(fixtures, 'contained', 'plain-swap'), plugin, { recursive: true })
    const entry = path.join(plugin, 'index.ts')
    await writeFile(entry, (await readFile(entry, 'utf8')).replaceAll('plain-swap', 'linked'))
    await mkdir(path.join(plugin, 'node_modules'), { recursive: true })
    await symlink('/proc', path.join(plugin, 'node_modules', 'key')).catch(() => {})
    return plugin
  }
  const expectLinkRefused = (refused: readonly RefusedPlugin[]) =>
    expect(refused.map(({ name, step, reason }) => `${name} ${step}: ${reason}`)).to.deep.equal([
      'linked consent: node_modules/key is a link to what is neither a file in its folder nor a package of its workspace',
    ])

  it('becomes a host, where the system has namespaces, and before it is allowed a process that reads it', async () => {
    const { loaded, refused, warnings, containedBy, doctor, examined } = await load([], 'examine', '', '', await linked())
    expect(examined).to.deep.equal(['ethereum/local'])
    expect(containedBy).to.deep.equal(['namespaces of this system'])
    expectLinkRefused(refused)
    expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
    expect(warnings).to.deep.equal([])
    expect(doctor).to.deep.equal([{ state: 'good', what: 'Contained by namespaces of this system: plain-swap.' }])
  })

  it('stays nowhere, where the system has none: each is refused with what the operator can do', async () => {
    const { loaded, refused, doctor } = await load(without, '', '', folder, table)
    expect(loaded).to.equal(undefined)
    expectAllRefused(
      refused,
      /cannot be contained on this system: namespaces are refused here: unshare/,
      'accept with plugins.weakContainment: true',
    )
    expect(doctor[0].state).to.equal('bad')
    expect(doctor[0].what).to.match(/^plain-swap: It cannot be contained on this system/)
  })

  it('becomes a process of the plugin-host service, where one is named, and stays nowhere while that is away', async function () {
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    const socket = path.join(folder, 'socket')
    const away = await load(without, 'weak', socket, path.join(folder, 'data'), table)
    expect(away.loaded).to.equal(undefined)
    expectAllRefused(away.refused, /The plugin-host service at .* does not answer/, 'docker compose up -d plugin-host')
    const service = await startPluginHost(socket, path.join(folder, 'data', 'plugins'))
    const { loaded, refused, warnings, containedBy, doctor } = await load(without, '', socket, path.join(folder, 'data'), await linked())
    await service.kill()
    expect(containedBy).to.deep.equal([`the plugin-host service at ${socket}`])
    expectLinkRefused(refused)
    expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
    expect(warnings).to.deep.equal([])
    expect(doctor).to.deep.equal([{ state: 'good', what: `Contained by the plugin-host service at ${socket}: plain-swap.` }])
  })

  it('becomes a process of its own all the same, where the operator accepts that nothing contains it', async () => {
    const { loaded, refused, warnings, doctor } = await load(without, 'weak')
    expect(doctor[0].state).to.equal('warn')
    expect(refused).to.deep.equal([])
    expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
    // What is contained, and what is not.
    for (const said of [...warnings, doctor[0].what])
      expect(said)
        .to.match(/no environment variable.*ends? alone/)
        .and.match(/can do what this user can: read the keystore.*reach the network/)
    expect(warnings).to.have.length(1)
  })

  it('runs no program of a plugin and loads no library of it, whatever the file is called', async () => {
    const plugin = path.join(folder, 'plug')
    await mkdir(plugin)
    for (const name of ['words.txt', 'words.node']) await copyFile('/bin/true', path.join(plugin, name))
    const code = `
      const { spawnSync } = require('node:child_process')
      const load = (file) => spawnSync(process.execPath, ['-e', 'process.dlopen({ exports: {} }, ' + JSON.stringify(file) + ')']).stderr
      const runs = [spawnSync('/plug/words.txt').error?.code, spawnSync('/lib64/ld-linux-x86-64.so.2', ['/plug/words.txt']).status]
      process.stderr.write(JSON.stringify([...runs, /failed to map segment/.test(load('/plug/words.txt')), /failed to map segment/.test(load('/plug/words.node'))]))`
    const { ended, channel } = startContained(await findContainment(), { args: ['-e', code], binds: [{ from: plugin, to: '/plug' }] })
    channel.resume().on('error', () => {})
    expect((await ended).said).to.equal('["EACCES",127,true,true]')
  })

  it('sees no program but Node, and starts no other one, wherever it lies on this machine', async () => {
    const code = `
      const { readdirSync, writeSync } = require('node:fs')
      const { join } = require('node:path')
      const { spawnSync, execSync } = require('node:child_process')
      const filesIn = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((each) => each.isDirectory() ? filesIn(join(folder, each.name)) : [join(folder, each.name)])
      const programs = filesIn('/').filter((file) => !/\\.so(\\.|$)/.test(file) && !spawnSync(file, ['--version']).error)
      const usual = ['mount', 'umount', 'setpriv', 'sh', 'unshare', 'env', 'nice'].flatMap((name) => ['/bin/', '/usr/bin/', './usr/bin/', '../usr/bin/', '/before/usr/bin/', '/proc/1/root/usr/bin/'].map((at) => at + name))
      const started = usual.filter((file) => !spawnSync(file, ['--version']).error)
      let shell
      try { shell = String(execSync('id')) } catch (error) { shell = error.code }
      writeSync(2, JSON.stringify([programs, started, shell, process.cwd(), readdirSync('..').includes('etc'), process.env]))`
    const { ended, channel } = startContained(await findContainment(), { args: ['-e', code], binds: [] })
    channel.resume().on('error', () => {})
    expect(JSON.parse((await ended).said)).to.deep.equal([[process.execPath], [], 'ENOENT', '/', false, {}])
  })

  it('has sixty-four threads at most, of all its processes', async () => {
    const thread = `process.env.UV_THREADPOOL_SIZE = 20; for (let i = 0; i < 20; i += 1) require('node:crypto').pbkdf2('', '', 1e7, 64, 'sha512', () => {})`
    const code = `for (let i = 0; i < 4; i += 1) require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(thread)}])`
    const child = startContained(await findContainment(), { args: ['-e', code], binds: [] })
    child.channel.resume().on('error', () => {})
    let excess: string | undefined
    for (let tries = 0; tries < 2_000 && excess === undefined; tries += 1) {
      await setTimeout(50)
      excess = excessOf(child.use(), { residentBytes: Infinity, processes: 20 })
    }
    expect(excess).to.equal('it started more than 64 threads')
    child.kill()
    expect(await child.ended).to.include({ reason: 'it was ended by SIGKILL' })
  })

  for (const { what, code, reason } of [
    { what: 'at its import', code: `throw new Error('no luck')`, reason: /no luck/ },
    { what: 'for its manifest', code: '', reason: /apiVersion "none"/ },
  ])
    it(`leaves no process behind where it is refused ${what}`, async () => {
      const plugin = path.join(folder, 'refused', 'plain-swap')
      await cp(path.join(fixtures, 'contained', 'plain-swap'), plugin, { recursive: true })
      const entry = path.join(plugin, 'index.ts')
      const source = await readFile(entry, 'utf8')
      const manifest = code === '' ? source.replace("apiVersion: '1.0'", "apiVersion: 'none'") : source
      await writeFile(entry, `import { spawn } from 'node:child_process'\n${startsChildren}\n${manifest}\n${code}\n`)
      const hosts = createHosts({
        budget: { processorMs: 60_000, clockMs: 60_000 },
        market: { staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 30, checkSeconds: 10, cachedQuotes: 100 },
        stallSeconds: 60,
        containment: { plugins: { weakContainment: false }, data: { dir: path.join(folder, 'data') } },
        logOf: () => keptLog().log,
        webOf: () => ({ named: [], configured: [] }),
        onFault: () => {},
        onDeath: () => {},
      })
      const { refused } = await loadFolders([plugin], { hosts })
      expect(refused[0]?.reason).to.match(reason)
      // Nobody has stopped the hosts.
      expect(ofPlugins()).to.deep.equal([])
      await hosts.stop()
    })

  it('ends with all that it started, also where nothing contains it and they have left its group', async () => {
    const code = `const { spawn } = require('node:child_process'); ${startsChildren}`
    const child = startUncontained({ args: ['-e', `${code}; setInterval(() => {}, 1000)`] })
    child.channel.resume().on('error', () => {})
    while (ofPlugins().length < 3) await setTimeout(20)
    child.kill()
    expect(await child.ended).to.include({ reason: 'it was ended by SIGKILL' })
    expect(ofPlugins()).to.deep.equal([])
  })

  it('has no more memory and open files than its process may have, also where it takes them at once', async () => {
    const code = `
      const fs = require('node:fs')
      const failureOf = (take) => { try { take() } catch (error) { return error.code ?? error.name } }
      const open = []
      const memory = failureOf(() => Buffer.alloc(1.5 * 2 ** 30))
      const files = failureOf(() => { while (open.length < 300) open.push(fs.openSync(process.execPath)) })
      fs.writeSync(2, JSON.stringify([memory, files, open.length < 256]))`
    const { ended, channel } = startContained(await findContainment(), { args: ['-e', code], binds: [] })
    channel.resume().on('error', () => {})
    expect((await ended).said).to.equal('["RangeError","EMFILE",true]')
  })
})
