import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { circularImports, filesIn, importsPastDoors, loadedWith, root, specifiersOf, upwardImports } from '../../tools/imports.ts'

const page = filesIn('dashboard', root, ['.ts', '.tsx'])
const sources = [...['core', 'kits', 'client', 'testkit', 'plugins'].flatMap((folder) => filesIn(folder)), ...page]

describe('the directions of imports', () => {
  it('run downward only, between the rooms that tools/imports.ts lists', () => {
    expect(upwardImports(sources)).to.deep.equal([])
  })

  it('of a room with a door go through it', () => {
    expect(importsPastDoors(sources)).to.deep.equal([])
  })

  it('make at most two circles, types counted', () => {
    const circular = circularImports(sources)
    expect(circular.length, circular.join('\n')).to.be.at.most(2)
  })

  it('a plugin imports its own files, packages and public entry points, and never another plugin', () => {
    const { exports, dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    const open = [
      ...Object.keys(exports).map((each) => each.replace('.', 'sluice')),
      ...Object.keys({ ...dependencies, ...devDependencies }),
    ]
    const refused = filesIn('plugins').flatMap((file) => {
      const [, plugin = ''] = file.split(path.sep)
      return specifiersOf(file)
        .filter((specifier) => {
          if (specifier.startsWith('.')) return !path.join(path.dirname(file), specifier).startsWith(`plugins/${plugin}/`)
          const isPublic = open.some((each) => specifier === each || (!each.startsWith('sluice') && specifier.startsWith(`${each}/`)))
          return !specifier.startsWith('node:') && !isPublic
        })
        .map((specifier) => `${file} → ${specifier}`)
    })
    expect(refused).to.deep.equal([])
  })

  it('the page at /dashboard takes nothing but types of the server', () => {
    const taken = page.flatMap((file) => {
      const text = readFileSync(path.join(root, file), 'utf8')
      return [...text.matchAll(/^(?:import|export)\s(?!type\b)[^'"]*?\bfrom '(\.\.\/[^']+)'/gm)].map(([, from]) => `${file} → ${from}`)
    })
    expect(page.length).to.be.above(5)
    expect(taken).to.deep.equal([])
  })

  it('core names no exchange, and no chain but that of the devnet', () => {
    // `base` is also a side of a pair.
    const names = readdirSync(path.join(root, 'plugins')).filter((name) => name !== 'base')
    // `perp` is also the prefix of endpoints, which is never a quoted word by itself.
    const mention = (name: string) => new RegExp(name === 'perp' ? `['"\`]perp['"\`]` : `['"\`/]${name}['"\`/]`)
    const withoutComments = (text: string) => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
    // The command for who comes from Hummingbot's Gateway names that one's chains and its interface here.
    const others = filesIn('core').filter((file) => !file.startsWith('core/cli/hummingbot'))
    const naming = others.flatMap((file) => {
      const code = withoutComments(readFileSync(path.join(root, file), 'utf8'))
      return names.filter((name) => mention(name).test(code)).map((name) => `${file}: ${name}`)
    })
    expect(naming.filter((each) => !/^core\/(config|devnet|keys|wallet)\/[\w-]+\.ts: ethereum$/.test(each))).to.deep.equal([])
    expect(naming).to.have.lengthOf.at.most(2)
  })

  it('a start loads nothing that only some starts need', () => {
    const loaded = loadedWith(['core/main.ts', 'core/cli/start.ts', 'core/cli/home.ts', 'core/kernel.ts'])
    expect(loaded).to.include('core/tls/revocation-list.ts').and.to.include('koa')
    const files = ['core/tls/authority.ts', 'core/keys/keystore.ts', 'core/devnet/start-devnet.ts', 'core/http/openapi.ts']
    const packages = ['@peculiar/x509', 'ethers', 'ethers/wallet', 'undici', 'nodemailer', 'pg', 'esbuild']
    const rare = [...files, ...packages]
    expect([...loaded].filter((each) => rare.includes(each))).to.deep.equal([])
  })

  it("the signer's keeper loads no package, for it idles as long as the server runs", () => {
    const loaded = [...loadedWith(['core/wallet/signer-keeper.ts'])]
    const packages = loaded.filter((each) => /^@?[a-z]/.test(each) && !/^(core\/|node:)/.test(each))
    expect(packages).to.deep.equal([])
  })
})
