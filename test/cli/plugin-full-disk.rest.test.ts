import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { createSmallDisk, NoSmallDisk, type SmallDisk } from '../../tools/chaos/servers/small-disk.ts'
import { root, twoPlugins } from '../start/command.ts'

const page = 4096
const mostPages = 40

describe('sluice plugin update on a disk that becomes full', function () {
  this.timeout(300_000)
  let disk: SmallDisk
  let newer: string

  before(async function () {
    try {
      disk = await createSmallDisk(4_000_000)
    } catch (error) {
      if (!(error instanceof NoSmallDisk)) throw error
      console.warn(`Not run: ${error.message}`)
      this.skip()
    }
    newer = path.join(mkdtempSync(path.join(tmpdir(), 'sluice-newer-')), 'rillswap')
    const older = path.join(root, 'test/fixtures/rillswap')
    cpSync(older, newer, { recursive: true })
    const declared = readFileSync(path.join(older, 'plugin.yml'), 'utf8')
    writeFileSync(path.join(newer, 'plugin.yml'), declared.replace('version: 0.1.0', 'version: 0.2.0'))
    mkdirSync(at('conf'))
    writeFileSync(
      at('conf', 'server.yml'),
      stringify({ devnet: { enabled: true, port: 0 }, plugins: { folders: [...twoPlugins, 'plugins'] } }),
    )
    mkdirSync(at('plugins'))
    const { code, said } = await sluice('plugin', 'add', older, '--yes')
    expect(code, said).to.equal(0)
  })
  after(async () => {
    await disk?.remove()
    if (newer) rmSync(path.dirname(newer), { recursive: true, force: true })
  })

  const at = (...names: string[]) => path.join(disk.outside, ...names)

  async function sluice(...args: string[]): Promise<{ code: number; said: string }> {
    const [program = '', ...inside] = disk.inside
    const env = { PATH: process.env['PATH'], SLUICE_HOME: disk.folder }
    const ran = promisify(execFile)(program, [...inside, process.execPath, path.join(root, 'bin/launch.mjs'), ...args], { env })
    return ran.then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, said: error.stdout + error.stderr }),
    )
  }

  /** What is recorded, what is there, and how much of it. */
  const state = () => ({
    lock: readFileSync(at('sluice.lock'), 'utf8'),
    declared: readFileSync(at('plugins', 'rillswap', 'plugin.yml'), 'utf8'),
    plugins: readdirSync(at('plugins')),
    kept: readdirSync(at('data', 'plugins')),
  })

  it('changes all or nothing, wherever the room ends, and says so', async () => {
    const before = state()
    let failures = 0
    for (let pages = 0; pages < mostPages; pages += 1) {
      disk.fill(pages * page)
      const { code, said } = await sluice('plugin', 'update', 'rillswap', newer, '--yes')
      disk.free()
      if (code === 0) {
        expect(state().lock).to.include('0.2.0').and.not.equal(before.lock)
        expect(state().declared).to.include('version: 0.2.0')
        expect(state().plugins).to.deep.equal(['rillswap'])
        break
      }
      failures += 1
      expect(said, `${pages} pages: ${said}`).to.match(/There is no room in |see that there is room/)
      expect(said).to.not.match(/^\s+at /m)
      expect(state(), `${pages} pages: ${said}`).to.deep.equal(before)
    }
    // At the copy of the files, and at the record.
    expect(failures).to.be.within(3, mostPages - 1)
    const { code, said } = await sluice('plugin', 'list')
    expect(code, said).to.equal(0)
  })
})
