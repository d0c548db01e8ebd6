import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What each room of core may import of the others. Nothing imports upward. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  api: [],
  contracts: ['api'],
  config: ['api', 'contracts'],
  tls: ['api'],
  wallet: ['api', 'contracts'],
  store: ['api'],
  transactions: ['api', 'contracts', 'store'],
  kits: ['contracts', 'testing/devnet-plugin'],
  market: ['api', 'contracts'],
  loader: ['api', 'contracts', 'config'],
  devnet: ['config', 'loader', 'testing/devnet-plugin'],
  verbs: ['api', 'contracts', 'config', 'market', 'transactions'],
  http: ['api', 'contracts', 'config', 'market', 'store', 'tls', 'transactions', 'verbs', 'start-error'],
  boot: [
    'api',
    'contracts',
    'config',
    'devnet',
    'http',
    'loader',
    'market',
    'start-error',
    'store',
    'transactions',
    'verbs',
    'version',
    'wallet',
  ],
  doctor: ['api', 'boot', 'config', 'devnet', 'http', 'loader', 'store', 'tls', 'wallet'],
}
/** They stand above the others, and may import them all. */
const above = ['cli', 'testing']

const sources = (folder: string): string[] =>
  readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sources(file)
    return file.endsWith('.ts') ? [file] : []
  })

const importsOf = (file: string): string[] =>
  [...readFileSync(path.join(root, file), 'utf8').matchAll(/(?:\bfrom|\bimport\(|^import) ?'([^']+)'/gm)].map(
    ([, specifier = '']) => specifier,
  )

/** The file that a relative import means, from the root. */
const resolved = (file: string, specifier: string) => path.join(path.dirname(file), specifier)

describe('the directions of imports', () => {
  it('are known of every room', () => {
    const folders = readdirSync(path.join(root, 'core'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => name)).to.have.members([...Object.keys(rooms), ...above])
  })

  for (const [room, allowed] of Object.entries(rooms)) {
    it(`core/${room} imports of core only ${allowed.join(', ') || 'itself'}`, () => {
      const upward = sources(`core/${room}`).flatMap((file) =>
        importsOf(file)
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => resolved(file, specifier))
          .filter((target) => ![room, ...allowed].some((each) => target.startsWith(`core/${each}/`) || target === `core/${each}.ts`))
          .map((target) => `${file} → ${target}`),
      )
      expect(upward).to.deep.equal([])
    })
  }

  it('a plugin imports its own files, packages and public entry points, and never another plugin', () => {
    const { exports, dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    const open = [...Object.keys(exports).map((each) => each.replace('.', 'sluice')), ...Object.keys(dependencies)]
    const strange = sources('plugins').flatMap((file) => {
      const [, plugin = ''] = file.split(path.sep)
      return importsOf(file)
        .filter((specifier) => {
          if (specifier.startsWith('.')) return !resolved(file, specifier).startsWith(`plugins/${plugin}/`)
          return (
            !specifier.startsWith('node:') &&
            !open.some((each) => specifier === each || (!each.startsWith('sluice') && specifier.startsWith(`${each}/`)))
          )
        })
        .map((specifier) => `${file} → ${specifier}`)
    })
    expect(strange).to.deep.equal([])
  })

  it('core names no exchange, and no chain but the one that the devnet is', () => {
    // A chain is called as one side of a pair is.
    const names = readdirSync(path.join(root, 'plugins')).filter((name) => name !== 'base')
    // And a connector as the prefix of endpoints is, which is no quoted name by itself.
    const mention = (name: string) => new RegExp(name === 'perp' ? `['"\`]perp['"\`]` : `['"\`/]${name}['"\`/]`)
    const inCode = (text: string) => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
    const naming = sources('core')
      .filter((file) => !file.startsWith('kits/'))
      .flatMap((file) =>
        names.filter((name) => mention(name).test(inCode(readFileSync(path.join(root, file), 'utf8')))).map((name) => `${file}: ${name}`),
      )
    expect(naming).to.deep.equal(['core/config/settings.ts: ethereum', 'core/wallet/key-source.ts: ethereum'])
  })
})
