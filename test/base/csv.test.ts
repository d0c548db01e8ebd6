import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { csvWriter } from '../../core/base/csv.ts'

/** What Python's reader makes of it: of another author, and used everywhere. */
function readByPython(text: string): string[][] {
  const read = 'import csv, io, json, sys; print(json.dumps(list(csv.reader(io.TextIOWrapper(sys.stdin.buffer, "utf-8", newline="")))))'
  const { stdout, stderr } = spawnSync('python3', ['-c', read], { input: text, encoding: 'utf8' })
  expect(stderr).to.equal('')
  return JSON.parse(stdout)
}

describe('CSV', () => {
  const odd = ['a,b', 'say "x"', 'one\ntwo', 'ü €', '', ' x ', "'x", 'a\r\nb']

  it('gives every text back but its line breaks, and has a line for each record', async () => {
    const { header, lines } = await csvWriter<readonly string[]>(odd.map((_, index) => [`c${index}`, (record) => record[index]]))
    const text = `${header}${lines([odd, odd])}`
    const shown = ['a,b', 'say "x"', 'one two', 'ü €', '', ' x ', "'x", 'a\u{fffd} b']
    expect(readByPython(text)).to.deep.equal([odd.map((_, index) => `c${index}`), shown, shown])
    expect(text.split('\r\n')).to.have.lengthOf(4)
    expect(text.replaceAll('\r\n', '')).to.not.match(/[\r\n]/)
  })

  it('makes a formula a text, and leaves numbers below zero as they are', async () => {
    const formulas = ['=1+1', '+1', '-1+1', '-cmd', '@SUM(A1)', '＝1', '=HYPERLINK("http://x";"y")', '-', '-1e5', '--1', '-.5']
    // A character that no reader sees may not come before one.
    const hidden = ['\t=1', '\r=1', '\u{200b}=1']
    const numbers = ['-1', '-0.000001', '-123456789012345678901234567890.5', '0', '12.5']
    const { lines } = await csvWriter<string>([['value', (record) => record]])
    expect(readByPython(lines([...formulas, ...hidden, ...numbers])).flat()).to.deep.equal([
      ...formulas.map((each) => `'${each}`),
      ...hidden.map(() => '\u{fffd}=1'),
      ...numbers,
    ])
  })

  it('makes a text of what is a formula where lines are split at semicolons', async () => {
    const { lines } = await csvWriter<string>([
      ['time', () => '2026'],
      ['value', (record) => record],
    ])
    const texts = ['a;=1+1', ';+1', 'x; -1', 'x;@SUM(A1)', 'x;"=1"', 'x;;=1', 'x;＝1', 'a;b', "x;'=1"]
    // As Excel in German does: a quote keeps semicolons together only where a cell begins with it.
    const cells = lines(texts)
      .split('\r\n')
      .flatMap((line) => line.split(';'))
    expect(cells.filter((cell) => /^["\s]*[=+\-@＝]/.test(cell))).to.deep.equal([])
    expect(readByPython(lines(texts)).map(([, value]) => value)).to.deep.equal([
      "a;'=1+1",
      ";'+1",
      "x;' -1",
      "x;'@SUM(A1)",
      `x;'"=1"`,
      "x;;'=1",
      "x;'＝1",
      'a;b',
      "x;'=1",
    ])
  })

  it('writes nothing where a record has nothing', async () => {
    const { header, lines } = await csvWriter<object>([
      ['one', () => undefined],
      ['two', () => 0],
    ])
    expect(`${header}${lines([{}])}${lines([])}`).to.equal('one,two\r\n,0\r\n')
  })
})
