import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { errorBody } from '../../core/http/request-steps.ts'
import { forTerminal, named, oneLine, plainJson, printable, quoted, withoutStop } from '../../core/base/printable.ts'
import { filesIn } from '../../tools/imports.ts'

const outlaws: Readonly<Record<string, string>> = {
  escape: '\u001b[2J',
  bell: '\u0007',
  'carriage return': '\r',
  delete: '\u007f',
  'C1 control': '\u009b31m',
  'right to left': '\u202e',
  isolate: '\u2066',
  'zero width': '\u200b',
  'word joiner': '\u2060',
  'byte order mark': '\ufeff',
  'soft hyphen': '\u00ad',
  'line separator': '\u2028',
  'paragraph separator': '\u2029',
  'variation selector': '\ufe0f',
  'tag character': '\u{e0041}',
  'Hangul filler': '\u3164',
  'half a character': '\ud800',
}
const harmless = 'Déjà 42 % → “fine” 取引 🦄'
const isPlain = (text: string) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(text.replaceAll('\n', ''))

describe('text from outside', () => {
  for (const [what, outlaw] of Object.entries(outlaws))
    it(`loses what would change the rest of a line: ${what}`, () => {
      const text = `before${outlaw}after`
      for (const show of [printable, oneLine, quoted, named, forTerminal]) {
        expect(isPlain(show(text)), show.name).to.equal(true)
        expect(show(text)).to.match(/before\ufffd.*after/)
      }
      const json = JSON.stringify({ text })
      expect(isPlain(plainJson(json))).to.equal(true)
      expect(JSON.parse(plainJson(json))).to.deep.equal({ text })
      const error = new SluiceError('PRICE_FAILED', text, { details: { [text]: [text] } })
      expect(isPlain(JSON.parse(JSON.stringify(error.message)))).to.equal(true)
      const { body } = errorBody(error, 'an id')
      expect(isPlain(String(Object.keys(Object(body.details))[0]))).to.equal(true)
      expect(JSON.stringify(body)).to.not.include(text)
    })

  it('stays as it is where it is harmless, with its lines', () => {
    for (const show of [printable, oneLine, forTerminal, plainJson]) expect(show(harmless)).to.equal(harmless)
    expect(printable('one\ntwo')).to.equal('one\ntwo')
    expect(oneLine('one\ntwo')).to.equal('one\ufffdtwo')
  })

  it('stands in quotes where it is more than one plain word, and cannot end its quotes', () => {
    for (const word of ['1.0.0', '2.1.0-rc.1', 'routerAddress', 'api.example.org:8443', 'v3']) expect(named(word)).to.equal(word)
    expect(named('1.0 (signed by Sluice)')).to.equal('"1.0 (signed by Sluice)"')
    expect(named('1.0", allowed by "Sluice')).to.equal(`"1.0', allowed by 'Sluice"`)
    expect(named('')).to.equal('""')
    expect(named('x'.repeat(1_000))).to.have.length.below(110)
  })

  it('keeps the styles of our own commands on a terminal, and no other sequence', () => {
    expect(forTerminal('\u001b[1mbold\u001b[22m')).to.equal('\u001b[1mbold\u001b[22m')
    for (const sequence of ['\u001b[8m', '\u001b[2J', '\u001b]0;title\u0007', '\u001b[31;8m'])
      expect(forTerminal(sequence)).to.match(/^\ufffd/)
  })

  it('reaches a terminal through one door: no command writes past it', () => {
    // `plugin dev` clears its screen and shows what it marked itself. What `tx export`, `tx archive` and `books ledger` write is of plainJson or of csvWriter.
    const doors = new Set(
      ['output', 'dev-report', 'plugin-dev', 'tx-export', 'archive-export', 'books-ledger'].map((name) => `core/cli/${name}.ts`),
    )
    const writers = [...filesIn('core/cli'), 'core/main.ts', 'core/kernel.ts'].filter(
      (file) => !doors.has(file) && /console\.\w+\(|process\.std(?:out|err)\.write/.test(readFileSync(file, 'utf8')),
    )
    expect(writers).to.deep.equal([])
  })
})

describe('when to try again, as an error says it', () => {
  for (const [said, is] of [
    [0.25, 1],
    [3, 3],
    [2.1, 3],
    [1e9, 3_600],
    [Number.POSITIVE_INFINITY, 3_600],
    [-1, undefined],
    [Number.NaN, undefined],
  ] as const)
    it(`is ${is ?? 'not said'} where ${said} was given`, () => {
      expect(new SluiceError('RATE_LIMIT', 'x', { retryAfterSeconds: said }).retryAfterSeconds).to.equal(is)
    })

  it('loses the full stop of a sentence that goes on', () => {
    expect(`The network does not run: ${withoutStop('Try again, or check its rpcUrls.')}. A request starts it.`).to.equal(
      'The network does not run: Try again, or check its rpcUrls. A request starts it.',
    )
  })
})
