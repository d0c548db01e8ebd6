import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { findContainment, startContained } from '../../core/loader/host/containment.ts'
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

interface Refused {
  readonly name: string
  readonly step: string
  readonly reason: string
  readonly cure: string
}

describe('where a plugin of a third party runs', function () {
  this.timeout(180_000)
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
  function expectAllRefused(refused: readonly Refused[], reason: RegExp, cure: string): void {
    expect(refused.map(({ name }) => name).toSorted()).to.deep.equal(names)
    for (const each of refused) {
      expect(each).to.include({ step: 'find' })
      expect(each.reason, each.name).to.match(reason)
      expect(each.cure, each.name).to.include(cure)
    }
  }

  it('is a host, where the system has namespaces, and before it is allowed a process that reads it', async () => {
    const { loaded, refused, warnings, containedBy, doctor, examined } = await load([], 'examine')
    expect(examined).to.deep.equal(['ethereum/local'])
    expect(containedBy).to.deep.equal(['namespaces of this system'])
    expect(refused).to.deep.equal([])
    expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
    expect(warnings).to.deep.equal([])
    expect(doctor).to.deep.equal([{ state: 'good', what: 'Contained by namespaces of this system: plain-swap.' }])
  })

  it('is nowhere, where the system has none: each is refused with what the operator can do', async () => {
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

  it('is a process of the plugin-host service, where one is named, and nowhere while that is away', async function () {
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    const socket = path.join(folder, 'socket')
    const away = await load(without, 'weak', socket, path.join(folder, 'data'), table)
    expect(away.loaded).to.equal(undefined)
    expectAllRefused(away.refused, /The plugin-host service at .* does not answer/, 'docker compose up -d plugin-host')
    const service = await startPluginHost(socket, path.join(folder, 'data', 'plugins'))
    const { loaded, refused, warnings, containedBy, doctor } = await load(without, '', socket, path.join(folder, 'data'))
    await service.kill()
    expect(containedBy).to.deep.equal([`the plugin-host service at ${socket}`])
    expect(refused).to.deep.equal([])
    expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
    expect(warnings).to.deep.equal([])
    expect(doctor).to.deep.equal([{ state: 'good', what: `Contained by the plugin-host service at ${socket}: plain-swap.` }])
  })

  it('is a process of its own all the same, where the operator accepts that nothing contains it', async () => {
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
