import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { startPluginHost } from './plugin-host.ts'

const program = fileURLToPath(new URL('hosting-process.ts', import.meta.url))
/** As on a system that has no user namespaces to give. */
const without = ['unshare', '--user', '--map-root-user', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh']

async function load(system: readonly string[], ...args: readonly string[]) {
  const [command = '', ...rest] = [...system, process.execPath, '--import', 'tsx/esm', program, ...args]
  const { stdout } = await promisify(execFile)(command, rest)
  return JSON.parse(stdout)
}

describe('where a plugin of a third party runs', function () {
  this.timeout(180_000)

  it('is a host, where the system has namespaces', async () => {
    const { loaded, refused, warnings, containedBy, doctor } = await load([])
    expect(containedBy).to.deep.equal(['namespaces of this system'])
    expect(refused).to.deep.equal([])
    expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
    expect(warnings).to.deep.equal([])
    expect(doctor).to.deep.equal([{ state: 'good', what: 'Contained by namespaces of this system: plain-swap.' }])
  })

  it('is nowhere, where the system has none: it is refused with what the operator can do', async () => {
    const { loaded, refused, doctor } = await load(without)
    expect(loaded).to.equal(undefined)
    expect(refused).to.have.length(1)
    expect(refused[0]).to.include({ name: 'plain-swap', step: 'find' })
    expect(refused[0].reason).to.match(/cannot be contained on this system: namespaces are refused here: unshare/)
    expect(doctor[0].state).to.equal('bad')
    expect(doctor[0].what).to.match(/^plain-swap: It cannot be contained on this system/)
    expect(refused[0].cure).to.include('plugins.weakContainment: true')
  })

  it('is a process of the plugin-host service, where one is named, and nowhere while that is away', async function () {
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    const folder = await mkdtemp(path.join(tmpdir(), 'sluice-service-'))
    await chmod(folder, 0o755)
    const socket = path.join(folder, 'socket')
    try {
      const away = await load(without, 'weak', socket, path.join(folder, 'data'))
      expect(away.loaded).to.equal(undefined)
      expect(away.refused[0].reason).to.include(`The plugin-host service at ${socket} does not answer`)
      expect(away.refused[0].cure).to.include('docker compose up -d plugin-host')
      const service = await startPluginHost(socket, path.join(folder, 'data', 'plugins'))
      const { loaded, refused, warnings, containedBy, doctor } = await load(without, '', socket, path.join(folder, 'data'))
      await service.kill()
      expect(containedBy).to.deep.equal([`the plugin-host service at ${socket}`])
      expect(refused).to.deep.equal([])
      expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
      expect(warnings).to.deep.equal([])
      expect(doctor).to.deep.equal([{ state: 'good', what: `Contained by the plugin-host service at ${socket}: plain-swap.` }])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('is a process of its own all the same, where the operator accepts that nothing contains it', async () => {
    const { loaded, refused, warnings, doctor } = await load(without, 'weak')
    expect(doctor[0].state).to.equal('warn')
    expect(refused).to.deep.equal([])
    expect(loaded).to.deep.equal({ name: 'plain-swap', inHost: true })
    expect(warnings).to.deep.equal(['host of a plugin is not contained (plugins.weakContainment): it can read the files of this user'])
  })
})
