import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { lockFile, writeLock, type PluginLock } from '../../core/config/lock.ts'
import { readPlainYaml } from '../../core/config/plain-yaml.ts'
import type { ConfigProblem } from '../../core/config/problems.ts'
import { readYaml } from '../../core/config/yaml.ts'
import { builtInPlugins, defaultConf } from '../../core/base/layout.ts'
import { book } from '../wallet/example-files.ts'
import { eachWithHome } from './home.ts'

describe('plain YAML', () => {
  const home = eachWithHome()

  /** What the library reads: it gets every text that has a tab. */
  function byLibrary(text: string) {
    const file = path.join(home.folder, 'whole.yml')
    writeFileSync(file, `${text}\n#\t`)
    const problems: ConfigProblem[] = []
    const read = readYaml(file, 'whole.yml', problems)
    return { problems, value: read?.value, lines: read && new Map(read.lines) }
  }

  const keys = ['a', 'b', 'contracts', 'ethereum/mainnet']
  const values = [
    '',
    '',
    'text',
    'two words',
    '1',
    '1.5',
    'true',
    '1/100',
    "'one'",
    '"two"',
    '{}',
    '[]',
    '[a]',
    '[read, true]',
    '/a/b',
    'a # comment',
  ]
  const oddKeys = [
    '3pool',
    '1e5',
    '0x1f',
    '7n',
    '0b1',
    '0o7',
    '1_0',
    'true',
    'constructor',
    '1',
    "'q'",
    'a b',
    '-',
    '?',
    'x:y',
    'Null',
    '.x',
    'a-',
    'é',
  ]
  const oddTexts = `a - b ¦ a#b ¦ # comment ¦ #c ¦ a: b ¦ a:b ¦ a: ¦ :a ¦ - ¦ - a ¦ -a ¦ null ¦ Null ¦ ~ ¦ True ¦ yes ¦ a  b ¦ é ¦ a # é ¦ %a ¦ @a ¦ &a b ¦ *a ¦ 'it''s'`
  const oddNumbers = `0 ¦ 007 ¦ -1 ¦ +1 ¦ 1. ¦ .5 ¦ 1.10 ¦ 1e3 ¦ 12e34 ¦ 1_000 ¦ 0x1F ¦ 0o17 ¦ .inf ¦ NaN ¦ 9007199254740993 ¦ 123456789012345 ¦ 1.0.0 ¦ 12:30:45`
  const odd = `'a: b # c' ¦ "a\\nb" ¦ "a ¦ 'a ¦ "a" b ¦ 'a' # c ¦ { a: 1 } ¦ [1, 2] ¦ [a,b] ¦ [ a , b ] # c ¦ [a b] ¦ [a, ] ¦ [a: b] ¦ [null] ¦ [a]b ¦ / ¦ // ¦ /: ¦ /a b ¦ /a: b ¦ /a:b ¦ { ¦ | ¦ > ¦ !tag a ¦ 'é' ¦ "a" #b ¦ {} # ¦ []x ¦ 2026-11-22T19:05:00.000Z ¦ https://node.example:8545/v1`
  const oddValues = [
    ...[oddTexts, oddNumbers, odd].flatMap((each) => each.split(' ¦ ')),
    'a\tb',
    '`',
    'a ',
    '0xC36442b4a4522E871399CD717aBDD847Ab11FE88',
  ]
  const lineOf = (indents: number[], dashes: string[], someKeys: (string | null)[], someValues: string[]) =>
    fc
      .tuple(fc.constantFrom(...indents), fc.constantFrom(...dashes), fc.constantFrom(...someKeys), fc.constantFrom(...someValues))
      .map(
        ([indent, dash, key, value]) => `${' '.repeat(indent)}${dash}${key === null ? value : `${key}:${value === '' ? '' : ` ${value}`}`}`,
      )
  const line = fc.oneof(
    { weight: 6, arbitrary: lineOf([0, 0, 2, 2, 4], ['', '', '- '], [...keys, ...keys, null], values) },
    { weight: 2, arbitrary: lineOf([0, 2], ['', '- '], keys, oddValues) },
    { weight: 1, arbitrary: lineOf([0, 1, 3, 6], ['', '-  ', '- - ', '-'], [...keys, ...oddKeys, null], values) },
    { weight: 1, arbitrary: fc.constantFrom('', '   ', '# comment', '  # comment: a', '---', '...', '\t', '\u00a0', 'a: 1\r') },
  )
  const anyText = fc.array(line, { minLength: 1, maxLength: 5 }).map((each) => each.join('\n'))

  it('gives the same values as the library, or is left to the library', () => {
    let plain = 0
    fc.assert(
      fc.property(anyText, (text) => {
        const read = readPlainYaml(text)
        if (read === undefined) return
        plain += 1
        expect({ problems: [], ...read }).to.deep.equal(byLibrary(text))
      }),
      { numRuns: 2_500 },
    )
    expect(plain).to.be.greaterThan(100)
  })

  it('covers what Sluice writes: any sluice.lock reads back as it was', async () => {
    const word = fc.constantFrom(
      'router',
      '0x1234',
      'Order',
      'two words',
      '1.0',
      '1e3',
      'null',
      'ethereum/mainnet',
      'a: b',
      "it's",
      'ü',
      '12',
      'x#y',
      '- a',
    )
    const record = fc.record({ domain: word, primaryType: word }).chain((signs) =>
      fc
        .record({ contracts: fc.dictionary(word, word, { maxKeys: 3 }), hosts: fc.array(word, { maxLength: 2 }), version: fc.option(word) })
        .map(({ contracts, hosts, version }): PluginLock[string] => ({
          ...book,
          ...(version !== null && { version }),
          hosts,
          signs: [signs],
          networks: { 'ethereum/mainnet': { contracts, spenders: Object.values(contracts).slice(0, 1) } },
        })),
    )
    let plain = 0
    await fc.assert(
      fc.asyncProperty(record, async (each) => {
        await writeLock(home.confDir, { one: each, two: book })
        const text = readFileSync(lockFile(home.confDir), 'utf8')
        const read = readPlainYaml(text)
        if (read === undefined) return
        plain += 1
        expect({ problems: [], ...read }).to.deep.equal(byLibrary(text))
        expect(read.value).to.deep.equal({ lockVersion: 1, plugins: { one: each, two: book } })
      }),
      { numRuns: 50 },
    )
    // How many are plain is a matter of chance.
    expect(plain).to.be.greaterThan(0)
  })

  it("covers what a start reads: the configuration that a home begins with, and the defaults of the release's plugins", () => {
    const defaults = readdirSync(builtInPlugins).map((name) => path.join(builtInPlugins, name, 'defaults.yml'))
    const files = [...defaults, ...filesIn(defaultConf)].filter((file) => existsSync(file))
    expect(files).to.have.length.greaterThan(20)
    expect(files.filter((file) => readPlainYaml(readFileSync(file, 'utf8')) === undefined)).to.deep.equal([])
  })
})

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile() && each.name.endsWith('.yml'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
