import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'

interface Licenses {
  bundledFolders(metafile: { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }): string[]
  licensesOf(folders: readonly string[], from?: string): string
}
const tool = new URL('../../tools/licenses.mjs', import.meta.url).href

describe('the licences of what is bundled', () => {
  let licenses: Licenses
  let root: string
  before(async () => {
    licenses = await import(tool)
  })
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'sluice-licenses-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  function addPackage(name: string, files: Record<string, string>, manifest: object = { license: 'MIT' }): string {
    const folder = `node_modules/${name}`
    mkdirSync(path.join(root, folder), { recursive: true })
    writeFileSync(path.join(root, folder, 'package.json'), JSON.stringify({ name: path.basename(folder), version: '1.2.3', ...manifest }))
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(root, folder, file), text)
    return folder
  }

  it('are of the packages that have code in the bundles, scoped and nested ones too', () => {
    const inputs = (...files: [string, number][]) => ({
      inputs: Object.fromEntries(files.map(([file, bytes]) => [file, { bytesInOutput: bytes }])),
    })
    const metafile = {
      outputs: {
        'dist/a.js': inputs(['core/main.ts', 900], ['node_modules/@noble/hashes/esm/index.js', 5], ['node_modules/unused/index.js', 0]),
        'dist/b.js': inputs(['node_modules/accepts/node_modules/mime-db/db.json', 7], ['node_modules/@noble/hashes/esm/sha3.js', 5]),
      },
    }
    expect(licenses.bundledFolders(metafile)).to.deep.equal(['node_modules/@noble/hashes', 'node_modules/accepts/node_modules/mime-db'])
  })

  it('come with version and name, the same text once, and notices', () => {
    const folders = [
      addPackage('one', { LICENSE: 'You may.', NOTICE: 'Made by us.' }, { license: 'Apache-2.0' }),
      addPackage('two', { 'license.md': 'All may.\r\n' }),
      addPackage('three', { LICENCE: 'All may.' }, { license: 'ISC', version: '4.0.0' }),
    ]
    const text = licenses.licensesOf(folders, root)
    expect(text).to.include('| one | 1.2.3 | Apache-2.0 |\n| three | 4.0.0 | ISC |\n| two | 1.2.3 | MIT |')
    expect(text).to.include('You may.\n\nMade by us.')
    expect(text).to.include('## three 4.0.0, two 1.2.3\n\n~~~~text\nAll may.\n~~~~')
  })

  it('are taken from the readme where it has the text', () => {
    const granted = 'Copyright (c) 2013 Somebody\n\nPermission is hereby granted, free of charge'
    const folder = addPackage('pgpass', { 'README.md': `# pgpass\n\nReads.\n\n## License\n\n${granted}\n\n## Thanks\n\nTo all.\n` })
    expect(licenses.licensesOf([folder], root)).to.include(`~~~~text\n${granted}\n~~~~`)
  })

  it('are asked for by one line when a package has no text, or names no licence', () => {
    const folders = [
      addPackage('silent', { 'README.md': '## License\n\nMIT\n' }),
      addPackage('nameless', { LICENSE: 'You may.' }, {}),
      addPackage('fine', { LICENSE: 'You may.' }),
    ]
    expect(() => licenses.licensesOf(folders, root)).to.throw(
      'Bundled without a licence that can be passed on: nameless 1.2.3, silent 1.2.3. Find its text, and name it in tools/licenses.mjs.',
    )
  })

  it('are found for every package of this build', async () => {
    const build: { bundledPackages(): Promise<string[]> } = await import(new URL('../../tools/build.mjs', import.meta.url).href)
    const folders = await build.bundledPackages()
    expect(folders).to.include.members(['node_modules/ethers', 'node_modules/koa', 'node_modules/swagger-ui-dist'])
    expect(folders.filter((folder) => /\/(mocha|libsql|esbuild)$/.test(folder))).to.deep.equal([])
    expect(licenses.licensesOf(folders)).to.match(/^\| ethers \| 6\./m)
  })
})
