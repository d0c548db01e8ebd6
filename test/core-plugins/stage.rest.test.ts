import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { loadSettings, type Settings } from '../../core/config/settings.ts'
import { writeLock, type LockedPlugin } from '../../core/config/lock.ts'
import { readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import { faultOf } from '../../core/plugins/refusal.ts'
import { putBackLeftovers, sourceOf as fetchedFrom, stagePlugin } from '../../core/plugins/discover/stage.ts'
import { eachWithHome } from '../config/home.ts'
import { fixtures } from './fixtures.ts'

/** A registry of packages, judged by npm's own client. */
interface Registry {
  readonly url: string
  publish(name: string, version: string, tarball: Buffer): void
  /** Packages of this name have other bytes than their checksum says, or break off in the middle. */
  readonly broken: Map<string, 'other bytes' | 'breaks off'>
  close(): void
}

async function startRegistry(): Promise<Registry> {
  const packages = new Map<string, Map<string, Buffer>>()
  const broken: Registry['broken'] = new Map()
  const server: Server = createServer((request, response) => {
    const [, name = '', file] = /^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/(.+))?$/.exec(decodeURIComponent(request.url ?? '')) ?? []
    const versions = packages.get(name)
    if (!versions) return void response.writeHead(404).end('{}')
    if (file !== undefined) {
      const tarball = versions.get(file.replace(/\.tgz$/, '')) ?? Buffer.alloc(0)
      if (broken.get(name) === 'breaks off') {
        response.writeHead(200, { 'Content-Length': tarball.length })
        response.write(tarball.subarray(0, tarball.length / 2), () => response.destroy())
        return
      }
      return void response.end(broken.get(name) === 'other bytes' ? Buffer.concat([tarball, Buffer.alloc(8)]) : tarball)
    }
    const listed = [...versions].map(([version, tarball]) => [
      version,
      {
        ...packageIn(tarball),
        dist: { tarball: `${url}/${name}/-/${version}.tgz`, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` },
      },
    ])
    const latest = [...versions.keys()].at(-1)
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(listed) }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    broken,
    publish: (name, version, tarball) => void packages.set(name, new Map([...(packages.get(name) ?? []), [version, tarball]])),
    close: () => void server.close(),
  }
}

const packageIn = (tarball: Buffer): object =>
  JSON.parse(execFileSync('tar', ['-xzOf', '-', 'package/package.json'], { input: tarball, encoding: 'utf8' }))

describe('a plugin that is fetched', function () {
  this.timeout(300_000)
  const home = eachWithHome()
  const inHome = (...parts: string[]) => path.join(home.folder, ...parts)
  const settingsOf = (): Settings => loadSettings({ confDir: home.confDir, env: {} })
  let registry: Registry
  const original: Record<string, string | undefined> = {}
  const setEnvironment = (name: string, value: string | undefined) => {
    if (!Object.hasOwn(original, name)) original[name] = process.env[name]
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }

  beforeEach(async () => {
    registry = await startRegistry()
    setEnvironment('npm_config_registry', registry.url)
    setEnvironment('npm_config_cache', inHome('npm-cache'))
    mkdirSync(inHome('plugins'))
  })
  afterEach(() => {
    registry.close()
    for (const [name, value] of Object.entries(original)) setEnvironment(name, value)
  })

  /** The files of an honest plugin, and others. */
  function source(name: string, more: Record<string, string> = {}): string {
    const folder = inHome('sources', name)
    cpSync(path.join(fixtures, 'contained', 'plain-swap'), folder, { recursive: true })
    for (const [file, content] of Object.entries(more)) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
      writeFileSync(path.join(folder, file), content)
    }
    return folder
  }
  const manifest = (name: string, more: object = {}) => JSON.stringify({ name, version: '1.0.0', type: 'module', ...more })
  const pack = (folder: string): Buffer =>
    execFileSync('tar', ['-czf', '-', '--transform', 's,^\\.,package,', '-C', folder, '.'], { maxBuffer: 2 ** 28 })

  /** What is said where it is refused; and nothing of it is left. */
  async function refusalOf(given: string): Promise<string> {
    const thrown = await stagePlugin(given, { settings: settingsOf() }).catch((error: unknown) => error)
    expect(thrown).to.be.an('error')
    expect(readdirSync(inHome('plugins'))).to.deep.equal([])
    const { message, remedy } = faultOf(thrown, 'create', 'none')
    return `${message} → ${remedy}`
  }
  const staged = async (given: string) => {
    const plugin = await stagePlugin(given, { settings: settingsOf() })
    const files = plugin.onDisk.files.files.map(({ path: file }) => file)
    await plugin.commit(async () => {})
    await plugin.discard()
    return { name: plugin.name, source: plugin.source, files }
  }

  /** An older npm cannot be kept from repositories that packages depend on: plugins that would need that are refused there. */
  const canInstall = execFileSync('npm', ['config', 'get', 'allow-remote'], { encoding: 'utf8' }).trim() !== 'undefined'
  const ifItCan = (context: Mocha.Context) => {
    if (canInstall) return
    console.warn('Not run: this npm is older than 11.15.')
    context.skip()
  }

  it('from a registry comes with the packages that it needs, and without their scripts and its own tests', async function () {
    ifItCan(this)
    const ran = inHome('ran')
    const three = { scripts: { install: `touch ${ran}` } }
    registry.publish('three', '1.0.0', pack(sourceOfPackage('three', three)))
    const needs = { dependencies: { three: '1.0.0' }, devDependencies: { four: '1.0.0' }, peerDependencies: { sluice: '*' } }
    registry.publish('@acme/sluice-river', '1.0.0', pack(source('river', { 'package.json': manifest('@acme/sluice-river', needs) })))
    const { name, source: from, files } = await staged('@acme/sluice-river@1.0.0')
    expect([name, from]).to.deep.equal(['river', 'npm:@acme/sluice-river'])
    expect(files).to.have.members([
      'defaults.yml',
      'index.ts',
      'package.json',
      'node_modules/three/package.json',
      'node_modules/three/index.js',
    ])
    expect([readdirSync(inHome('plugins')), existsSync(ran)]).to.deep.equal([['river'], false])
  })

  it('that depends on a repository or a folder is refused, and nothing of these is run', async function () {
    ifItCan(this)
    const ran = inHome('ran')
    // npm prepares a repository by an installation inside of it, which goes by the settings there.
    const program = path.join(
      sourceOfPackage('evil', { scripts: { prepare: `touch ${ran}` }, dependencies: { more: 'git+file:///nowhere' } }),
      'git.sh',
    )
    writeFileSync(program, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
    writeFileSync(inHome('sources', 'evil', '.npmrc'), 'git=./git.sh\n')
    const repository = committed(inHome('sources', 'evil'))
    for (const spec of [`git+${repository}`, 'https://example.org/evil.tgz', `file:${inHome('sources', 'evil')}`]) {
      const needs = { dependencies: { evil: spec } }
      writeFileSync(inHome('river.tgz'), pack(source('river', { 'package.json': manifest('river', needs) })))
      expect(await refusalOf(inHome('river.tgz')), spec).to.match(/^npm could not fetch it: .*have been disabled/)
    }
    registry.publish('three', '1.0.0', pack(sourceOfPackage('three', { dependencies: { evil: `git+${repository}` } })))
    registry.publish('river', '1.0.0', pack(source('river', { 'package.json': manifest('river', { dependencies: { three: '1.0.0' } }) })))
    expect(await refusalOf('river@1.0.0')).to.match(/^npm could not fetch it: .*have been disabled/)
    expect(existsSync(ran)).to.equal(false)
  })

  it('that brings the packages that it needs is taken as it is, without npm', async () => {
    const needs = { dependencies: { three: '1.0.0' }, bundleDependencies: ['three'] }
    const three = { 'node_modules/three/package.json': manifest('three'), 'node_modules/three/index.js': 'export const three = 3' }
    writeFileSync(inHome('river.tgz'), pack(source('river', { 'package.json': manifest('river', needs), ...three })))
    expect(await refusalOf('nosuch@1.0.0')).to.match(/^npm could not fetch it: Not Found - GET \S+ (?!.*404).*[^.] → See that the package/)
    setEnvironment('npm_config_registry', 'http://127.0.0.1:1')
    expect((await staged(inHome('river.tgz'))).files).to.include('node_modules/three/index.js')
  })

  function committed(folder: string): string {
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'one')
    return pathToFileURL(folder).href
  }

  function sourceOfPackage(name: string, more: object): string {
    const folder = inHome('sources', name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'package.json'), manifest(name, more))
    writeFileSync(path.join(folder, 'index.js'), 'export const three = 3\n')
    return folder
  }

  it('fails where the registry has other bytes, breaks off, has no such version or is not there', async () => {
    registry.publish('river', '1.0.0', pack(source('river', { 'package.json': manifest('river') })))
    registry.broken.set('river', 'other bytes')
    expect(await refusalOf('river@1.0.0')).to.match(/^npm could not fetch it: .*integrity.* → See that the package/i)
    registry.broken.set('river', 'breaks off')
    expect(await refusalOf('river@1.0.0')).to.match(/^npm could not fetch it: .+ → See that the package/)
    registry.broken.clear()
    expect(await refusalOf('river@2.0.0')).to.match(/^npm could not fetch it: .*No matching version.* → /)
    setEnvironment('npm_config_registry', 'http://127.0.0.1:1')
    setEnvironment('npm_config_cache', inHome('other-cache'))
    expect(await refusalOf('river@1.0.0')).to.match(/^npm could not fetch it: .*ECONNREFUSED.* → /)
    setEnvironment('PATH', inHome())
    expect(await refusalOf('river@1.0.0')).to.match(/^npm cannot be started here.* → Install npm/)
  })

  it('fails as a packed package that is cut off, is none, or unpacks to too much', async () => {
    const tarball = pack(source('river', { 'package.json': manifest('river') }))
    writeFileSync(inHome('cut.tgz'), tarball.subarray(0, tarball.length / 2))
    expect(await refusalOf(inHome('cut.tgz'))).to.match(/^cut\.tgz is not a whole packed package/)
    writeFileSync(inHome('text.tgz'), 'text')
    expect(await refusalOf(inHome('text.tgz'))).to.match(/^text\.tgz is not a whole packed package/)
    writeFileSync(inHome('bomb.tgz'), gzipSync(Buffer.alloc(2 ** 28 + 2 ** 16), { level: 1 }))
    expect(await refusalOf(inHome('bomb.tgz'))).to.match(/^bomb\.tgz unpacks to more than 256 MiB/)
    expect(await refusalOf(inHome('nowhere.tgz'))).to.match(/^There is no file or folder .+nowhere\.tgz → Name a folder/)
    expect(await refusalOf('https://example.org/river.tgz')).to.match(/without a checksum → Download it/)
    symlinkSync('/etc/hostname', path.join(source('linked'), 'hostname'))
    writeFileSync(inHome('linked.tgz'), pack(inHome('sources', 'linked')))
    expect(await refusalOf(inHome('linked.tgz'))).to.match(/^It has a link or device: .*hostname/)
    writeFileSync(inHome('river.tgz'), tarball)
    expect(await staged(inHome('river.tgz'))).to.include({ name: 'river', source: 'file:river.tgz' })
  })

  it('fails where it is no plugin, has links, native addons or install scripts, or a name that is taken', async () => {
    const text = inHome('sources', 'text')
    mkdirSync(text, { recursive: true })
    writeFileSync(path.join(text, 'readme.md'), 'text')
    expect(await refusalOf(text)).to.match(/^text is not a plugin: .*neither index\.ts nor index\.js/)
    symlinkSync('/etc/hostname', path.join(source('linked'), 'hostname'))
    expect(await refusalOf(inHome('sources', 'linked'))).to.match(/^hostname is a link/)
    expect(await refusalOf(source('native', { 'addon.node': '' }))).to.match(/^addon\.node is a native addon/)
    const scripts = { scripts: { postinstall: 'node run.js' } }
    expect(await refusalOf(source('scripted', { 'package.json': manifest('scripted', scripts) }))).to.match(/has the script postinstall/)
    expect(await refusalOf(source('uniswap'))).to.match(/^There is a plugin 'uniswap' already/)
    expect(await refusalOf(source('Upper'))).to.match(/^"?Upper"? is not a valid name/)
  })

  it('fails where its folder changes while it is read', async () => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`data/${index}.json`, '{}']))
    const folder = source('river', files)
    const refused = refusalOf(folder)
    const copied = () => readdirSync(inHome('plugins')).some((staging) => existsSync(inHome('plugins', staging, 'river')))
    while (!copied()) await setImmediate()
    writeFileSync(path.join(folder, 'index.ts'), 'export default 1')
    expect(await refused).to.match(/was changed while it was read → Try again/)
  })

  it('comes from a git repository at a tag, without its hooks', async () => {
    const folder = source('river')
    const url = committed(folder)
    execFileSync('git', ['-C', folder, 'tag', 'v1'])
    writeFileSync(path.join(folder, 'index.ts'), 'export default 2')
    committed(folder)
    expect(await refusalOf(`git+${url}#v3`)).to.match(/^git could not fetch it: .*v3.* → See that the URL/)
    expect(await staged(`git+${url}#v1`)).to.include({ name: 'river', source: `git:${url}` })
    expect(readFileSync(inHome('plugins', 'river', 'index.ts'), 'utf8')).to.contain('defineConnector')
  })

  it('fails from a git URL with a login, a token or a query: it would be recorded', () => {
    const secret = [
      'https://me:secret@example.org/river.git',
      'git+https://ghp_token@example.org/river.git',
      'https://me:se/cret@example.org/river.git',
      'git+https://example.org/river?access_token=secret',
      'ssh://git:secret@example.org/river.git',
      'git+ssh://git:se/cret@example.org/river.git',
    ]
    for (const url of secret)
      expect(() => fetchedFrom(url), url)
        .to.throw(/would be recorded/)
        .with.property('message')
        .not.match(/secret|cret@|ghp_/)
    const plain = ['https://example.org/@acme/river.git#v1', 'ssh://git@example.org/river.git', 'git@example.org:acme/river.git']
    for (const url of plain) expect(fetchedFrom(url), url).to.include({ is: 'git', url: url.replace('#v1', '') })
  })

  it('that was put in its place is taken out again where it cannot be recorded, and an update leaves the old one', async () => {
    const options = { settings: settingsOf() }
    const first = await stagePlugin(source('river'), options)
    const fails = async () => {
      throw new Error('sluice.lock is full')
    }
    expect(await first.commit(fails).catch(String)).to.contain('sluice.lock is full')
    await first.discard()
    expect(readdirSync(inHome('plugins'))).to.deep.equal([])
    await staged(source('river'))
    const folder = inHome('plugins', 'river')
    const second = await stagePlugin(source('river', { 'index.ts': 'export default 2' }), {
      ...options,
      replaces: { name: 'river', folder, sha256: readPluginFiles(folder).sha256, source: 'folder:river' },
    })
    expect(await second.commit(fails).catch(String)).to.contain('sluice.lock is full')
    await second.discard()
    expect(readdirSync(inHome('plugins'))).to.deep.equal(['river'])
    expect(readFileSync(path.join(folder, 'index.ts'), 'utf8')).to.contain('defineConnector')
  })

  it('leaves what a killed command had begun to the next one, which clears it away', async () => {
    const dead = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim()
    mkdirSync(inHome('plugins', `.sluice-adding-${dead}-1`))
    await staged(source('river'))
    expect(readdirSync(inHome('plugins'))).to.deep.equal(['river'])
  })

  it('comes back where a killed update had put it aside, also where the new one was not recorded', async () => {
    const dead = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim()
    await staged(source('river'))
    const folder = inHome('plugins', 'river')
    const { sha256 } = readPluginFiles(folder)
    const isAsBefore = () => {
      expect(readdirSync(inHome('plugins'))).to.deep.equal(['river'])
      expect(readPluginFiles(folder).sha256).to.equal(sha256)
    }
    const putAside = () => {
      const aside = inHome('plugins', `.sluice-adding-${dead}-1`, 'before')
      mkdirSync(aside, { recursive: true })
      renameSync(folder, path.join(aside, 'river'))
    }
    putAside()
    await putBackLeftovers(settingsOf())
    isAsBefore()
    const river: LockedPlugin = {
      tier: 'contained',
      kind: 'connector',
      sha256,
      networks: {},
      signs: [],
      hosts: [],
      allowedAt: '2026-01-01T00:00:00.000Z',
    }
    await writeLock(home.confDir, { river })
    putAside()
    cpSync(source('river', { 'index.ts': 'export default 2' }), folder, { recursive: true })
    await putBackLeftovers(settingsOf())
    isAsBefore()
  })

  it('comes back where the next process has the id of the killed one, and not while its own command runs', async function () {
    if (!existsSync('/proc/self/stat')) return this.skip()
    await staged(source('river'))
    const folder = inHome('plugins', 'river')
    const { sha256 } = readPluginFiles(folder)
    const replaces = { name: 'river', folder, sha256, source: 'folder:river' }
    const update = await stagePlugin(source('river', { 'index.ts': 'export default 2' }), { settings: settingsOf(), replaces })
    const ofEarlier = `.sluice-adding-${process.pid}-${randomUUID()}`
    const failed = update.commit(async () => {
      await putBackLeftovers(settingsOf())
      const [own = ''] = readdirSync(inHome('plugins'))
      // Of an earlier process of this id, and of one before the machine was started again.
      for (const killed of [own.replace(/-\d+\./, '-1.'), own.replace(/\.[0-9a-f-]{36}-/, `.${randomUUID()}-`)]) {
        mkdirSync(inHome('plugins', killed, 'before', 'lake'), { recursive: true })
        await putBackLeftovers(settingsOf())
        expect(readdirSync(inHome('plugins'))).to.have.members([own, 'lake', 'river'])
        rmSync(inHome('plugins', 'lake'), { recursive: true })
      }
      // An earlier release wrote the process id alone.
      mkdirSync(inHome('plugins', ofEarlier))
      await putBackLeftovers(settingsOf())
      expect(readdirSync(inHome('plugins'))).to.have.members([own, ofEarlier, 'river'])
      expect(readdirSync(inHome('plugins', own, 'before'))).to.deep.equal(['river'])
      throw new Error('seen')
    })
    expect(await failed.catch(String)).to.equal('Error: seen')
    await update.discard()
    expect(readPluginFiles(folder).sha256).to.equal(sha256)
    expect(readdirSync(inHome('plugins'))).to.have.members(['river', ofEarlier])
  })

  it('takes no file away that somebody put into the folder of the version before', async () => {
    await staged(source('river'))
    const folder = inHome('plugins', 'river')
    const sha256 = () => readPluginFiles(folder).sha256
    const allowed = sha256()
    const newer = source('river', { 'index.ts': 'export default 2' })
    const update = (last: { sha256: string; source?: string }) =>
      stagePlugin(newer, { settings: settingsOf(), replaces: { name: 'river', folder, ...last } }).then(
        (plugin) => plugin.discard(),
        (error: unknown) => {
          const { message, remedy } = faultOf(error, 'create', 'none')
          return `${message} → ${remedy}`
        },
      )
    const made = { sha256: allowed, source: 'folder:river' }
    expect(await update(made)).to.equal(undefined)
    expect(await update({ sha256: allowed })).to.match(
      /^.+river was not made by plugin add.+ → Put the new files there .+plugin allow river/,
    )
    mkdirSync(path.join(folder, 'keep', '.mine'), { recursive: true })
    expect(await update(made)).to.match(/has keep\/\.mine, which an update would take away → Move it out/)
    rmSync(path.join(folder, 'keep'), { recursive: true })
    writeFileSync(path.join(folder, 'notes.txt'), 'mine')
    expect(await update(made)).to.match(/has other files than were allowed.+ → .*plugin show river/)
    expect(readdirSync(inHome('plugins'))).to.deep.equal(['river'])
    expect(existsSync(path.join(folder, 'notes.txt'))).to.equal(true)
  })

  it('fails on a full disk, and takes no room', async function () {
    const small = inHome('plugins')
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', small], { stdio: 'ignore' })
    } catch {
      console.warn('Not run: only root can make a small disk.')
      return this.skip()
    }
    try {
      const large = source('large', { 'data.json': JSON.stringify('x'.repeat(2_000_000)) })
      expect(await refusalOf(large)).to.match(/^There is no room in .+: nothing was changed → Make room/)
      expect(await staged(source('small'))).to.include({ name: 'small' })
    } finally {
      execFileSync('umount', [small])
    }
  })
})
