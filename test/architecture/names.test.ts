import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { filesIn, root } from '../../tools/imports.ts'

/** Names that the interface had before 0.2.0. They stand for nothing that a reader of the field would look for. */
const former =
  'Standing Reception Sighting Look Recall Wanting wish news doubtful least beside mostGas leastRaw mostRaw cure remedied takeUpChanges Way onlyTries digestOnTrial heldRecords Exchange PriceNews tradingVerbs slotsFrom'.split(
    ' ',
  )

/** Without comments and the texts of people; what a key or a literal type is called stays. */
function namesIn(file: string): ReadonlySet<string> {
  const code = readFileSync(path.join(root, file), 'utf8')
    .replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
    .replaceAll(/'[^'\n]*[ .][^'\n]*'|`[^`]*`/g, '')
  return new Set(code.match(/[A-Za-z_$][\w$]*/g))
}

describe('names of the interface', () => {
  for (const folder of ['core/contracts', 'core/api'])
    it(`in ${folder} are none of the former ones`, () => {
      const found = filesIn(folder).flatMap((file) => {
        const names = namesIn(file)
        return former.filter((name) => names.has(name)).map((name) => `${file}: ${name}`)
      })
      expect(found).to.deep.equal([])
    })

  it('of the fields of logs and errors are none of the former ones', () => {
    const fields = /\b(?:log\??\.\w+|log\[\w+\]|details:)\s*\(?\s*\{([^{}]*)\}/g
    const found = filesIn('core').flatMap((file) =>
      [...readFileSync(path.join(root, file), 'utf8').matchAll(fields)].flatMap(([, own = '']) => {
        const names = new Set(own.match(/[A-Za-z_$][\w$]*(?=\s*[:,}]|\s*$)/g))
        return former.filter((name) => names.has(name)).map((name) => `${file}: ${name}`)
      }),
    )
    expect(found).to.deep.equal([])
  })
})
