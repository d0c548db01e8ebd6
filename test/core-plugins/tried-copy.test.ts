import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect } from 'chai'
import { inspectPlugin } from '../../core/plugins/discover/find.ts'
import { PluginFault } from '../../core/plugins/refusal.ts'
import { triedCopy } from '../../core/plugins/discover/tried-copy.ts'
import { eachWithHome } from '../config/home.ts'

describe('the copy from which a plugin runs that nobody has allowed', () => {
  const home = eachWithHome()
  const inHome = (...parts: string[]) => path.join(home.folder, ...parts)
  const plugin = (...parts: string[]) => inHome('work', 'plugins', 'river', ...parts)
  const write = (files: Readonly<Record<string, string>>, at = '') => {
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(path.dirname(inHome(at, file)), { recursive: true })
      writeFileSync(inHome(at, file), content)
    }
  }
  const link = (target: string, ...at: readonly [string, ...string[]]) => {
    mkdirSync(path.dirname(inHome(...at)), { recursive: true })
    symlinkSync(target, inHome(...at))
  }
  const ofPackage = (name: string, more: object = {}) => ({
    'package.json': JSON.stringify({ name, main: 'index.js', ...more }),
    'index.js': `// ${name}`,
  })
  beforeEach(() => {
    write({ 'index.ts': `import 'sluice/plugin'`, 'defaults.yml': 'a: 1' }, 'work/plugins/river')
    write({ 'secret/key.json': 'a private key', 'secret/package.json': '{"name":"key"}' })
  })

  /** The files of the copy, by name. */
  async function copied(): Promise<Readonly<Record<string, string>>> {
    const copy = await triedCopy(inspectPlugin(plugin()), inHome('data'))
    expect(copy.folder.startsWith(inHome('data', 'plugins'))).to.equal(true)
    expect(copy).to.include({ origin: plugin(), entry: path.join(copy.folder, 'index.ts') })
    const files = readdirSync(copy.folder, { recursive: true, withFileTypes: true }).filter((each) => !each.isDirectory())
    expect(files.filter((each) => !each.isFile())).to.deep.equal([])
    return Object.fromEntries(
      files
        .map((each) => path.join(each.parentPath, each.name))
        .map((file) => [path.relative(copy.folder, file), readFileSync(file, 'utf8')]),
    )
  }
  const own = { 'index.ts': `import 'sluice/plugin'`, 'defaults.yml': 'a: 1' }

  for (const [what, plant] of Object.entries<() => unknown>({
    'an absolute link in node_modules to a folder': () => link(inHome('secret'), 'work/plugins/river/node_modules/key'),
    'a relative link in node_modules to a folder': () => link('../../../../secret', 'work/plugins/river/node_modules/key'),
    'a chain of links': () => {
      link(inHome('secret'), 'work/plugins/second')
      link('../../second', 'work/plugins/river/node_modules/key')
    },
    'a link in a scope': () => link(inHome('secret'), 'work/plugins/river/node_modules/@acme/key'),
    'a link instead of a scope': () => link(inHome('secret'), 'work/plugins/river/node_modules/@acme'),
    'a link instead of node_modules': () => link(inHome('secret'), 'work/plugins/river/node_modules'),
    'a link in a package of its own': () => link(inHome('secret'), 'work/plugins/river/node_modules/lib/node_modules/key'),
    'a link beside its code': () => link(inHome('secret', 'key.json'), 'work/plugins/river/lib/tokens.json'),
    'a link to a folder beside its code': () => link(inHome('secret'), 'work/plugins/river/lib'),
    'a link to a folder that holds it': () => link('../../../..', 'work/plugins/river/node_modules/work'),
    'a link to /proc': () => link('/proc', 'work/plugins/river/node_modules/proc'),
    'a link to a device': () => link('/dev/zero', 'work/plugins/river/node_modules/zero'),
    'a link to a package of somebody else': () => {
      write(ofPackage('lib'), 'elsewhere/lib')
      link(inHome('elsewhere', 'lib'), 'work/plugins/river/node_modules/lib')
    },
    'a link to a package above that its workspace does not name': () => {
      write({ 'package.json': '{"workspaces":["packages/*"]}', 'node_modules/x/package.json': '{"name":"x"}' }, 'work')
      write(ofPackage('lib'), 'work/packages/lib')
      link('../../../packages/lib', 'work/plugins/river/node_modules/lib')
    },
    'a pipe': () => execFileSync('mkfifo', [plugin('pipe')]),
  }))
    it(`refuses ${what}, with its name and a remedy`, async () => {
      plant()
      const fault = await copied().then(
        (files) => expect.fail(Object.keys(files).join()),
        (thrown: unknown) => thrown,
      )
      expect(fault).to.be.instanceOf(PluginFault).and.include({ step: 'consent' })
      expect((fault as PluginFault).message).to.match(/^(node_modules|lib|pipe)\S* is (a link to what is neither|neither a file)/)
      expect(readdirSync(inHome('data', 'plugins'))).to.deep.equal([])
    })

  it('refuses a socket', async () => {
    const server = createServer().listen(plugin('agent'))
    await once(server, 'listening')
    const fault = await copied().catch((thrown: unknown) => thrown)
    server.close()
    expect(fault).to.be.instanceOf(PluginFault).and.include({ message: 'agent is neither a file nor a folder' })
  })

  it('has what lies in its folder, without names that begin with a dot, and as bytes what links there lead to', async () => {
    write({ 'lib/a.ts': 'export {}', '.env': 'KEY=1', 'node_modules/three/index.js': '3' }, 'work/plugins/river')
    link('a.ts', 'work/plugins/river/lib/b.ts')
    link(inHome('nowhere'), 'work/plugins/river/lib/gone.ts')
    link(inHome('secret'), 'work/plugins/river/.hidden')
    link(inHome('secret'), 'work/plugins/river/node_modules/.bin')
    link(inHome('secret'), 'work/plugins/river/node_modules/sluice')
    // A second name of a file is no way to it: it cannot be told from the first.
    linkSync(plugin('defaults.yml'), plugin('second.yml'))
    expect(await copied()).to.deep.equal({
      ...own,
      'lib/a.ts': 'export {}',
      'lib/b.ts': 'export {}',
      'node_modules/three/index.js': '3',
      'second.yml': 'a: 1',
    })
  })

  it('has the packages of an npm workspace that it uses, and theirs, and no others', async () => {
    write({ 'index.ts': `import { x } from '@acme/lib/deep'\nexport * from "node:fs"` }, 'work/plugins/river')
    write(
      { ...ofPackage('@acme/lib', { dependencies: { one: '1', missing: '1' } }), '.env': 'KEY=1', 'deep.js': '', 'index.d.ts': '' },
      'work/packages/lib',
    )
    link(inHome('secret'), 'work/packages/lib/keys')
    link(inHome('secret'), 'work/packages/lib/node_modules/one')
    link('../../packages/lib', 'work/node_modules/@acme/lib')
    write(ofPackage('one'), 'work/node_modules/one')
    write(ofPackage('unused'), 'work/node_modules/unused')
    const files = await copied()
    expect(Object.keys(files).toSorted()).to.deep.equal([
      'defaults.yml',
      'index.ts',
      'node_modules/@acme/lib/deep.js',
      'node_modules/@acme/lib/index.js',
      'node_modules/@acme/lib/package.json',
    ])
  })

  it('has both versions of a package where two of its packages need different ones', async () => {
    write({ 'package.json': JSON.stringify({ dependencies: { one: '1', two: '1' } }) }, 'work/plugins/river')
    write(
      {
        'one/package.json': '{"name":"one","dependencies":{"deep":"1"}}',
        'two/package.json': '{"name":"two","dependencies":{"deep":"2"}}',
      },
      'work/node_modules',
    )
    write(
      { 'deep/package.json': '{"name":"deep","version":"1"}', 'two/node_modules/deep/package.json': '{"name":"deep","version":"2"}' },
      'work/node_modules',
    )
    const files = await copied()
    expect(files['node_modules/deep/package.json']).to.include('"1"')
    expect(files['node_modules/two/node_modules/deep/package.json']).to.include('"2"')
  })

  it('has the packages of a pnpm workspace, whose links are in the folder of the plugin', async () => {
    const store = 'work/node_modules/.pnpm'
    write({ 'package.json': '{"dependencies":{"one":"1","@acme/lib":"workspace:*"}}' }, 'work/plugins/river')
    write({ 'pnpm-workspace.yaml': 'packages:\n  - plugins/*\n  - packages/**\n  - "!packages/private"\n' }, 'work')
    write(ofPackage('one', { dependencies: { two: '2' } }), `${store}/one@1/node_modules/one`)
    write(ofPackage('two'), `${store}/two@2/node_modules/two`)
    link('../../two@2/node_modules/two', `${store}/one@1/node_modules/two`)
    write(ofPackage('@acme/lib'), 'work/packages/lib')
    link('../../../node_modules/.pnpm/one@1/node_modules/one', 'work/plugins/river/node_modules/one')
    link('../../../../packages/lib', 'work/plugins/river/node_modules/@acme/lib')
    const files = await copied()
    expect(files).to.include({
      'node_modules/one/index.js': '// one',
      'node_modules/two/index.js': '// two',
      'node_modules/@acme/lib/index.js': '// @acme/lib',
    })
    write(ofPackage('private'), 'work/packages/private')
    link('../../../packages/private', 'work/plugins/river/node_modules/private')
    expect(await copied().catch((thrown: unknown) => thrown)).to.be.instanceOf(PluginFault)
  })

  it('fails before anything too large is read', async () => {
    writeFileSync(plugin('big.js'), '')
    truncateSync(plugin('big.js'), 500 * 2 ** 20)
    const before = process.memoryUsage.rss()
    const fault = await copied().catch((thrown: unknown) => thrown)
    expect(fault).to.be.instanceOf(PluginFault).and.include({ message: 'It has big.js, which has more than 32 MiB' })
    expect(process.memoryUsage.rss() - before).to.be.below(64 * 2 ** 20)
  })

  it('serves again while it has these bytes, and lies in a folder of its own once they change', async () => {
    const [first, again] = [
      await triedCopy(inspectPlugin(plugin()), inHome('data')),
      await triedCopy(inspectPlugin(plugin()), inHome('data')),
    ]
    expect(again).to.deep.equal(first)
    expect(await triedCopy(first, inHome('data'))).to.equal(first)
    writeFileSync(plugin('defaults.yml'), 'a: 2')
    const changed = await triedCopy(inspectPlugin(plugin()), inHome('data'))
    expect(changed.folder).to.not.equal(first.folder)
    expect(existsSync(first.folder) && statSync(path.join(first.folder, 'index.ts')).mode & 0o777).to.equal(0o444)
  })
})
