import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Checkout } from './checkout.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'sluice-release-test-')))
const { PATH, HOME } = process.env

describe('npm run release', function () {
  // It builds and packs, which a machine that runs other tests beside it does slowly.
  this.timeout(600_000)
  let checkout: Checkout
  let asItWas: string
  const file = (name: string) => path.join(checkout.folder, name)
  const text = (name: string) => readFileSync(file(name), 'utf8')
  const json = (name: string) => JSON.parse(text(name))
  const commit = (...args: string[]) => {
    checkout.git('add', '--all')
    checkout.git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--message', 'a change', ...args)
  }

  before(() => {
    checkout = new Checkout(path.join(folder, 'checkout'))
    for (const name of ['docs', 'examples', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', '.gitignore', '.npmrc'])
      cpSync(path.join(root, name), file(name), { recursive: true })
    // After a version there is nothing new yet.
    writeFileSync(file('CHANGELOG.md'), text('CHANGELOG.md').replace('## [Unreleased]\n', '## [Unreleased]\n\n- New.\n'))
    // .gitignore has the folder, and here it is a link.
    appendFileSync(file('.git/info/exclude'), 'node_modules\n')
    mkdirSync(file('dist/packages'), { recursive: true })
    writeFileSync(file('dist/packages/earlier.tgz'), 'an earlier version')
    commit()
  })
  beforeEach(() => {
    asItWas = everything()
  })
  afterEach(() => {
    checkout.git('reset', '--quiet', '--hard')
    checkout.git('clean', '--quiet', '--force', '-d')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** What is in the checkout, and in the folder of its packages. */
  function everything(): string {
    const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: checkout.folder, encoding: 'utf8' })
    return [stdout, text('package.json'), text('package-lock.json'), text('CHANGELOG.md'), ...readdirSync(file('dist/packages'))].join('\n')
  }

  /** Without installing, and without the tests of the packages, which the suite runs by themselves. */
  function release(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/release.mjs', '--quick', ...args], {
      cwd: checkout.folder,
      encoding: 'utf8',
      env: { PATH, HOME, TMPDIR: folder, SLUICE_CONFIRMED_NAMES: 'sluice,sluice-devnet' },
    })
    expect(readdirSync(folder), 'what is left of it').to.deep.equal(['checkout'])
    return { status, printed: stdout + stderr }
  }

  /** @returns the reason */
  function refused(...args: string[]): string {
    const { status, printed } = release(...args)
    expect(status, printed).to.equal(1)
    expect(everything()).to.equal(asItWas)
    expect(printed).to.include('No version was made, and nothing in this checkout was changed.')
    return printed
  }

  function manifestOf(tarball: string) {
    const { stdout } = spawnSync('tar', ['-xzOf', file(`dist/packages/${tarball}`), 'package/package.json'], { encoding: 'utf8' })
    return JSON.parse(stdout)
  }
  const versionNow = () => json('package.json').version
  const raised = (part: number) =>
    versionNow()
      .split('.')
      .map((each: string, index: number) => (index < part ? each : index === part ? Number(each) + 1 : 0))
      .join('.')

  it('is the way to the packages: npm pack in the checkout makes nothing, and its error names what does', () => {
    const { status, stdout, stderr } = spawnSync('npm', ['pack'], { cwd: checkout.folder, encoding: 'utf8', env: { PATH, HOME } })
    expect(status, stdout).to.not.equal(0)
    expect(stderr).to.match(/no such file or directory, open '.*npm-run-pack/)
    expect(readdirSync(checkout.folder).filter((name) => name.endsWith('.tgz'))).to.deep.equal([])
  })

  it('refuses what is no version, a version that is not greater, and options that it does not know', () => {
    expect(refused('1.0')).to.match(/^1\.0 is no version, such as 1\.2\.3\. Write: npm run release -- </)
    expect(refused('v1.0.0')).to.match(/^v1\.0\.0 is no version/)
    expect(refused('1.0.0-rc.1')).to.match(/^1\.0\.0-rc\.1 is no version/)
    expect(refused(versionNow())).to.include(`${versionNow()} is not greater than ${versionNow()}, which is there.`)
    expect(refused('0.0.99')).to.match(/^0\.0\.99 is not greater than /)
    for (const args of [[], ['minor', 'major'], ['minor', '--force']]) expect(refused(...args)).to.match(/^Write: npm run release -- </)
  })

  it('refuses a checkout with changes, and a tag that is there', () => {
    writeFileSync(file('docs/new.md'), '# New\n')
    appendFileSync(file('README.md'), 'More.\n')
    asItWas = everything()
    expect(refused('minor')).to.match(/^Commit these or put them away first.*\n M README\.md\n\?\? docs\/new\.md\n/)
    checkout.git('reset', '--quiet', '--hard')
    checkout.git('clean', '--quiet', '--force', '-d')
    asItWas = everything()
    checkout.git('tag', `v${raised(0)}`)
    expect(refused('major')).to.include(`There is a tag v${raised(0)}: name a greater version.`)
    checkout.git('tag', '--delete', `v${raised(0)}`)
  })

  it('refuses a changelog that says nothing of what is new', () => {
    const released = text('CHANGELOG.md').slice(text('CHANGELOG.md').indexOf('\n## [', text('CHANGELOG.md').indexOf('## [Unreleased]')))
    const reasons = [
      ['# Changelog\n\n## [Unreleased]\n\n### Added\n', 'CHANGELOG.md has nothing below `## [Unreleased]`'],
      ['# Changelog\n', 'CHANGELOG.md has no heading `## [Unreleased]`'],
      [`# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [${raised(1)}] - 2026-01-01\n`, `CHANGELOG.md has a section of ${raised(1)}`],
    ]
    for (const [changelog = '', reason = ''] of reasons) {
      writeFileSync(file('CHANGELOG.md'), changelog + released)
      commit()
      asItWas = everything()
      expect(refused('minor')).to.include(reason)
      checkout.git('reset', '--quiet', '--hard', 'HEAD~1')
    }
  })

  it('leaves the checkout as it was where a step fails, and says which', () => {
    writeFileSync(file('core/base/errors.ts'), 'export const = 1\n')
    commit()
    asItWas = everything()
    expect(refused('minor')).to.match(/core\/base\/errors\.ts:1[^]*The step "build and pack" failed \(1\): see above\./)
    // npm keeps an option that stands before `--`, and says so to what it runs.
    const { stdout } = spawnSync('npm', ['run', 'release', '--dry-run', 'minor', '--', '--quick'], {
      cwd: checkout.folder,
      encoding: 'utf8',
      env: { PATH, HOME, TMPDIR: folder },
    })
    expect(stdout).to.match(/Version .*, as a dry run$/m)
    checkout.git('reset', '--quiet', '--hard', 'HEAD~1')
  })

  it('finds entry points of packages that have no types, or no file', () => {
    const manifest = {
      name: 'broken',
      version: '1.0.0',
      type: 'module',
      exports: { '.': { types: './index.d.ts', default: './index.js' }, './gone': './gone.js' },
    }
    const source = path.join(folder, 'checkout', 'dist', 'broken')
    mkdirSync(source)
    writeFileSync(path.join(source, 'package.json'), JSON.stringify(manifest))
    writeFileSync(path.join(source, 'index.js'), 'export const one = 1\n')
    writeFileSync(path.join(source, 'index.d.ts'), 'declare const one: 1\nexport = one\n')
    spawnSync('npm', ['pack', '--silent', '--pack-destination', source], { cwd: source })
    const { status, stdout } = spawnSync(process.execPath, ['tools/check-packages.mjs', path.join(source, 'broken-1.0.0.tgz')], {
      cwd: checkout.folder,
      encoding: 'utf8',
    })
    expect(stdout)
      .to.match(/publint finds[^]*gone\.js/)
      .and.match(/are-the-types-wrong finds[^]*broken\/gone/)
    expect(status).to.equal(1)
  })

  it('makes a version: in every file that has one, in the changelog and in the packages, and says what to do next', () => {
    const [old, version] = [versionNow(), raised(1)]
    const news = text('CHANGELOG.md')
    const interfaces = ['core/api/version.ts', 'templates/ferryswap/index.ts', 'core/contracts/index.ts'].map(text)
    const { status, printed } = release('minor')
    expect(status, printed).to.equal(0)
    expect(json('package.json')).to.include({ version }).and.to.have.nested.property('peerDependencies.sluice-devnet', version)
    const lock = json('package-lock.json')
    expect([lock.version, lock.packages[''].version, lock.packages[''].peerDependencies['sluice-devnet']]).to.deep.equal(
      Array.from({ length: 3 }, () => version),
    )
    expect(text('docs/authors/your-first-plugin.md')).to.include(`./sluice-${version}.tgz ./sluice-devnet-${version}.tgz`)
    expect(text('CHANGELOG.md')).to.equal(news.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${today()}\n`))
    // Their versions are their own.
    expect(['core/api/version.ts', 'templates/ferryswap/index.ts', 'core/contracts/index.ts'].map(text)).to.deep.equal(interfaces)

    const tarballs = [`sluice-${version}.tgz`, `sluice-devnet-${version}.tgz`]
    expect(readdirSync(file('dist/packages')).toSorted()).to.deep.equal(tarballs)
    for (const tarball of tarballs) {
      expect(manifestOf(tarball)).to.include({ version, private: true })
      expect(printed).to.include(`${tarball}: publint finds nothing`).and.include(`${tarball}: are-the-types-wrong finds nothing`)
    }
    expect(printed).to.include(`git tag -a v${version}`).and.include('not for publishing').and.not.include('npm publish')

    // What was tested becomes what is published, without being made again.
    const env = { PATH, HOME, SLUICE_CONFIRMED_NAMES: 'sluice,sluice-devnet' }
    spawnSync(process.execPath, ['tools/pack.mjs', '--packed'], { cwd: checkout.folder, env })
    for (const tarball of tarballs) expect(manifestOf(tarball)).to.include({ version }).and.not.have.property('private')

    const [, undo = ''] = /To undo it:\n +(.+)\n/.exec(printed) ?? []
    spawnSync('sh', ['-euc', undo], { cwd: checkout.folder })
    expect(versionNow()).to.equal(old)
    expect(text('CHANGELOG.md')).to.equal(news)
    expect(existsSync(file('dist/packages'))).to.equal(false)
    mkdirSync(file('dist/packages'))
  })

  // It packs everything once more.
  if (process.env['PACKAGE_TEST_ALL'])
    it('changes nothing with --dry-run', () => {
      const { status, printed } = release('major', '--dry-run')
      expect(status, printed).to.equal(0)
      expect(printed).to.include(`Version ${raised(0)} can be made. It would change CHANGELOG.md, `)
      expect(everything()).to.equal(asItWas)
    })
})

const today = () => new Date().toISOString().slice(0, 10)
