import { expect } from 'chai'
import type { ConfigProblem } from '../../core/config/problems.ts'
import { readYaml } from '../../core/config/yaml.ts'
import { eachWithHome } from './home.ts'

const lines = (count: number, line: (n: number) => string): string => Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('')

describe('a YAML file of the configuration', () => {
  const home = eachWithHome()
  const read = async (text: string) => {
    const problems: ConfigProblem[] = []
    const yaml = readYaml(await home.write('x.yml', text), 'x.yml', problems)
    return {
      value: yaml?.value,
      problems: problems.map(({ line, path, problem, remedy }) => `${line ?? ''} ${path}: ${problem} → ${remedy}`).join('\n'),
    }
  }

  for (const [what, text, value] of [
    ['that is empty says nothing', '', {}],
    ['of comments says nothing', '# a: 1\n', {}],
    ['may have a byte order mark and Windows line ends', '\uFEFFa: 1\r\nb: x\r\n', { a: 1, b: 'x' }],
    [
      'keeps an address without quotes as text',
      'a: 0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D\n',
      { a: '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D' },
    ],
    [
      'keeps yes, no, on, off and octal digits as text',
      '[{a: yes, b: no, c: off, d: 0o17}]\n'.slice(1, -2) + '\n',
      { a: 'yes', b: 'no', c: 'off', d: '0o17' },
    ],
    ['takes every key for text', '1: a\ntrue: b\n', { 1: 'a', true: 'b' }],
    [
      'reads hexadecimal digits, dates and times as text',
      'a: 0x1F\nb: 2026-11-22\nc: 12:30:45\n',
      { a: '0x1F', b: '2026-11-22', c: '12:30:45' },
    ],
    [
      'knows numbers, words and nothing',
      'a: 1.10\nb: 12e3\nc: -1\nd: True\ne: ~\nf:\ng: 1.0.0\nh: 1_000\n',
      { a: 1.1, b: 12e3, c: -1, d: true, e: null, f: null, g: '1.0.0', h: '1_000' },
    ],
    ['begins a comment only after a space', "a: x#y\nb: x #y\nc: 'x #y'\n", { a: 'x#y', b: 'x', c: 'x #y' }],
    ['may use an anchor', 'a: &x [1, 2]\nb: *x\n', { a: [1, 2], b: [1, 2] }],
    [
      'takes of an anchor that stands twice the one before the alias',
      'a: &x {b: &y 1}\nc: &y 2\nd: *x\ne: *y\nf: &x 3\n&k g: [*x, *k]\n',
      { a: { b: 1 }, c: 2, d: { b: 1 }, e: 2, f: 3, g: [3, 'g'] },
    ],
    ['does not get other types by naming an old version', '%YAML 1.1\n---\na: yes\nb: 0x10\n', { a: 'yes', b: '0x10' }],
  ] as const) {
    it(what, async () => expect(await read(text)).to.deep.equal({ value, problems: '' }))
  }

  for (const [what, text, problem] of [
    ['with a key twice', 'a: 1\na: 2\n', '2 : is not valid YAML: Map keys must be unique → Keep one'],
    ['with a key twice below another', 'a:\n  b: 1\n  c: 2\n  b: 3\n', '4 : is not valid YAML: Map keys must be unique → Keep one'],
    ['with tabs', 'a:\n\tb: 1\n', 'Indent with spaces.'],
    ['with leading zeros', 'a: 1\nb: 017\n', '2 b: is a number with leading zeros'],
    ['with leading zeros in a list', 'a:\n  - b: 1\n    c: 017\n', '3 a[0].c: is a number with leading zeros'],
    ['with a number that is not exact', 'a: [12345678901234567890]\n', '1 a[0]: is a number too large to be exact'],
    ['with an infinite number', 'a: .inf\n', '1 a: is not a finite number'],
    ['that sets __proto__', 'a:\n  __proto__: {x: 1}\n', '2 a.__proto__: is not allowed as a key'],
    ['that sets constructor', 'constructor: 1\n', 'is not allowed as a key'],
    ['that is a list', '- a\n', '1 : is not a mapping'],
    ['that is a word', 'hello\n', 'is not a mapping'],
    ['with a lone star', 'wallets: *\n', 'Put quotes around a value that begins with `*`.'],
    ['with an unknown alias', 'a: *x\n', '1 a: begins with * like an alias'],
    ['with a tag', 'a: !!binary aGk=\n', 'Remove the tag'],
    ['with several documents', 'a: 1\n---\nb: 2\n', 'Remove the line `---`'],
    ['with a list as a key', '? [a]\n: 1\n', 'all keys must be strings'],
    ['with an alias inside of itself', 'a: &a\n  b: *a\n', 'an alias inside of itself'],
    ['with thousands of open brackets', `a: ${'['.repeat(100_000)}\n`, 'is nested more than'],
    ['nested without brackets', `${'- '.repeat(3000)}a\n`, 'is nested more than'],
    ['nested by anchors and lists', `${'- &a '.repeat(30_000)}b\n`, 'is nested more than'],
    ['nested before a line of its top', `${'- '.repeat(3000)}a\nb: 1\n`, 'is nested more than'],
    ['nested by keys and values', `${'? a: '.repeat(3000)}a\nb: 1\n`, 'is nested more than'],
    ['nested by keys', `${'? '.repeat(30_000)}a\n`, 'is nested more than'],
    ['nested by lines', Array.from({ length: 900 }, (_, n) => `${' '.repeat(n)}a:\n`).join(''), 'is nested more than'],
    ['of very many keys', `a: 1\n${lines(60_000, (n) => `k${n}: 1`)}`, 'is too large: it has too many keys, values or comments'],
    ['of very many mistakes', lines(60_000, () => 'a: "b" c'), 'is too large: it has too many keys, values or comments'],
    ['larger than any configuration', `# ${'x'.repeat(1_000_001)}\n`, 'is larger than'],
  ] as const) {
    it(`${what} is refused with its place and remedy`, async () => {
      const { value, problems } = await read(text)
      expect(value).to.equal(undefined)
      expect(problems).to.contain(problem)
    })
  }

  for (const text of ['a: *hunter2\n', 'a: !hunter2 x\n', 'a: |hunter2\n', '%hunter2 x\n---\na: 1\n', 'a: b\n]hunter2\n']) {
    it(`fails without repeating a secret that lacks its quotes: ${JSON.stringify(text)}`, async () => {
      const { problems } = await read(text)
      expect(problems).not.to.equal('')
      expect(problems).not.to.contain('hunter2')
    })
  }

  it('whose aliases expand without bound is refused', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let n = 1; n < 12; n++) lines.push(`a${n}: &a${n} [${Array.from({ length: 10 }, () => `*a${n - 1}`).join(', ')}]`)
    expect((await read(lines.join('\n'))).problems).to.contain('is too large')
  })

  it('has as many keys and aliases as it may have values: each is looked for once', async () => {
    // The library took three minutes for these.
    const { value, problems } = await read(`x: &a 1\n${lines(9_000, (n) => `k${n}: *a`)}`)
    expect(problems).to.equal('')
    expect(value).to.include({ x: 1, k0: 1, k8999: 1 })
  })

  it('may be missing', () => {
    const problems: ConfigProblem[] = []
    expect(readYaml(`${home.folder}/none.yml`, 'none.yml', problems)).to.equal(undefined)
    expect(problems).to.deep.equal([])
  })
})
