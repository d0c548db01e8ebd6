import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { lockfileProblems } from '../../tools/lockfile.ts'

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
/** What a test changes is its own. */
const checkout = () => ({ manifest: read('package.json'), lock: read('package-lock.json') })

describe('the lockfile', () => {
  it('has what package.json asks for, and the packages of every platform', () => {
    const { manifest, lock } = checkout()
    expect(lockfileProblems(manifest, lock)).to.deep.equal([])
  })

  it('is refused without a package of another platform', () => {
    for (const name of ['@esbuild/win32-x64', '@libsql/darwin-arm64', '@foundry-rs/anvil-linux-arm64', '@oxfmt/binding-android-arm64']) {
      const { manifest, lock } = checkout()
      expect(delete lock.packages[`node_modules/${name}`]).to.equal(true)
      expect(lockfileProblems(manifest, lock).join('\n')).to.match(new RegExp(`^node_modules/.* needs ${name} .*, which has no entry$`))
    }
  })

  it('is refused where a package that all platforms need is missing, below another one, too', () => {
    const packages = {
      '': { dependencies: { a: '^1.0.0' } },
      'node_modules/a': {
        version: '1.2.0',
        dependencies: { b: '^2.0.0' },
        peerDependencies: { c: '*', d: '*' },
        peerDependenciesMeta: { d: { optional: true } },
      },
      'node_modules/a/node_modules/b': { version: '2.0.0', optionalDependencies: { 'b-win32': '2.0.0' } },
    }
    expect(lockfileProblems({ dependencies: { a: '^1.0.0' } }, { packages })).to.have.members([
      'node_modules/a needs c *, which has no entry',
      'node_modules/a/node_modules/b needs b-win32 2.0.0, which has no entry',
    ])
  })

  it('is refused where package.json asks for something else', () => {
    const { manifest, lock } = checkout()
    manifest.devDependencies.koa = '3.2.0'
    expect(lockfileProblems(manifest, lock)).to.deep.equal(['package.json and package-lock.json differ in devDependencies'])
    lock.packages[''].devDependencies.koa = '3.2.0'
    expect(lockfileProblems(manifest, lock)).to.deep.equal([
      `package.json needs koa 3.2.0, and the entry has ${lock.packages['node_modules/koa'].version}`,
    ])
  })
})
