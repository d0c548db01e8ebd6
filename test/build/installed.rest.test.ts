import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const root = fileURLToPath(new URL('../../', import.meta.url))
const lockfile = 'package-lock.json'
const hidden = 'node_modules/.package-lock.json'

interface Entry {
  version?: string
  integrity?: string
  link?: boolean
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
}
type Packages = Record<string, Entry>

const otherPlatform = process.platform === 'win32' ? 'linux' : 'win32'
/** A package of each kind. */
const wanted = (): Packages => ({
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/a/node_modules/b': { version: '2.0.0', integrity: 'sha512-b' },
  'node_modules/tsx': { version: '3.0.0', integrity: 'sha512-tsx', dev: true },
  'node_modules/c-here': { version: '4.0.0', integrity: 'sha512-here', optional: true, os: [process.platform], cpu: [process.arch] },
})
const elsewhere: Packages = {
  'node_modules/c-there': { version: '4.0.0', integrity: 'sha512-there', optional: true, os: [otherPlatform] },
  'node_modules/c-cpu': { version: '4.0.0', integrity: 'sha512-cpu', optional: true, os: [process.platform], cpu: ['mips'] },
  'node_modules/c-not': { version: '4.0.0', integrity: 'sha512-not', optional: true, os: [`!${process.platform}`] },
  'node_modules/c-libc': { version: '4.0.0', integrity: 'sha512-libc', optional: true, os: [process.platform], libc: ['another'] },
  // What only c-there needs.
  'node_modules/d': { version: '5.0.0', integrity: 'sha512-d', optional: true },
}

describe('the first command in a checkout', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-installed-'))
    cpSync(path.join(root, 'bin'), path.join(folder, 'bin'), { recursive: true })
    mkdirSync(path.join(folder, 'tools'))
    mkdirSync(path.join(folder, 'dist/core'), { recursive: true })
    mkdirSync(path.join(folder, 'programs'))
    writeFileSync(path.join(folder, 'tools/build.mjs'), 'export const buildWhenStale = () => {}')
    writeFileSync(path.join(folder, 'dist/core/main.js'), 'console.log("Sluice ran")')
    const npm = path.join(folder, 'programs/npm')
    writeFileSync(npm, '#!/bin/sh\necho "npm $*"\nmkdir -p node_modules\n')
    chmodSync(npm, 0o755)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** What npm has left behind, as its hidden lockfile tells it. */
  function leave(packages: Packages, inLockfile: Packages): void {
    for (const place of Object.keys(packages)) {
      mkdirSync(path.join(folder, place), { recursive: true })
      writeFileSync(path.join(folder, place, 'package.json'), '{}')
    }
    mkdirSync(path.join(folder, 'node_modules'), { recursive: true })
    writeFileSync(path.join(folder, hidden), JSON.stringify({ lockfileVersion: 3, packages }))
    writeFileSync(path.join(folder, lockfile), JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...inLockfile } }))
  }

  /** Whether `bin/sluice version` has run npm first. */
  function installs(): boolean {
    const env = { PATH: `${path.join(folder, 'programs')}:${process.env['PATH']}` }
    const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/launch.mjs', 'version'], { cwd: folder, encoding: 'utf8', env })
    expect(status, stderr).to.equal(0)
    expect(stdout).to.contain('Sluice ran')
    return stderr.includes('npm ci')
  }

  it('installs nothing after npm ci, and says so by the stamp', () => {
    leave(wanted(), { ...wanted(), ...elsewhere })
    expect(installs()).to.equal(false)
    expect(existsSync(path.join(folder, 'node_modules/.installed'))).to.equal(true)
    rmSync(path.join(folder, hidden))
    expect(installs(), 'the second time').to.equal(false)
  })

  it('installs nothing in this checkout after npm ci', () => {
    for (const file of [lockfile, hidden]) cpSync(path.join(root, file), path.join(folder, file))
    for (const name of readdirSync(path.join(root, 'node_modules'))) {
      const place = path.join(folder, 'node_modules', name)
      if (!name.startsWith('.')) symlinkSync(path.join(root, 'node_modules', name), place)
    }
    expect(installs()).to.equal(false)
  })

  const changes: Record<string, (packages: Packages) => unknown> = {
    'a package is missing': (packages) => delete packages['node_modules/a'],
    'a package below another is missing': (packages) => delete packages['node_modules/a/node_modules/b'],
    'a development package is missing': (packages) => delete packages['node_modules/tsx'],
    'a package of this platform is missing': (packages) => delete packages['node_modules/c-here'],
    'a version differs': (packages) => (packages['node_modules/a']!.version = '1.0.1'),
    'an integrity differs': (packages) => (packages['node_modules/a']!.integrity = 'sha512-other'),
    'a package has no integrity': (packages) => delete packages['node_modules/a']!.integrity,
    'a package is a link': (packages) => (packages['node_modules/a']!.link = true),
    'there is a package of no entry': (packages) => (packages['node_modules/e'] = { version: '1.0.0', integrity: 'sha512-e' }),
  }
  for (const [what, change] of Object.entries(changes)) {
    it(`installs where ${what}`, () => {
      const packages = wanted()
      change(packages)
      leave(packages, { ...wanted(), ...elsewhere })
      expect(installs()).to.equal(true)
    })
  }

  it('installs where neither node_modules nor lockfile can tell: without them, and cut short', () => {
    leave(wanted(), wanted())
    rmSync(path.join(folder, 'node_modules'), { recursive: true })
    expect(installs(), 'no node_modules').to.equal(true)
    for (const text of ['', '{}', 'null', '[]', readFileSync(path.join(folder, lockfile), 'utf8').slice(0, 100)]) {
      leave(wanted(), wanted())
      rmSync(path.join(folder, 'node_modules/.installed'), { force: true })
      writeFileSync(path.join(folder, hidden), text)
      expect(installs(), text).to.equal(true)
    }
  })

  it('installs where a folder is gone that the hidden lockfile tells of', () => {
    leave(wanted(), wanted())
    rmSync(path.join(folder, 'node_modules/a/node_modules/b'), { recursive: true })
    expect(installs()).to.equal(true)
  })
})
