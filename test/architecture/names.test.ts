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

/** Nouns that look like participles. */
const nouns = new Set(
  'Closing Encoding Feed Filling Finding Funding Holding Listing Meaning Need Pricing Ranking Reading Ring Rounding Seed Setting Spending Trading'.split(
    ' ',
  ),
)
/** Promised to authors since 0.2.0. */
const promised = new Set(['Checked', 'Followed', 'Missing', 'Passed', 'Prepared', 'Sealed', 'Sent', 'Synced'])
const participle =
  /(ed|ing|own)$|^(Built|Begun|Chosen|Done|Found|Given|Gone|Held|Kept|Left|Lost|Made|Paid|Said|Seen|Sent|Spent|Taken|Told|Written)$/

describe('names of types', () => {
  it('end with a noun and not with a participle', () => {
    const found = ['core', 'kits', 'plugins', 'testkit', 'client', 'templates', 'tools', 'test']
      .flatMap((folder) => filesIn(folder))
      .flatMap((file) =>
        [...readFileSync(path.join(root, file), 'utf8').matchAll(/^\s*(?:export )?(?:interface|type|class) ([A-Z]\w*)(?=[ <])/gm)].flatMap(
          ([, name = '']) => {
            const [last = ''] = name.match(/[A-Z][a-z\d]*$/) ?? []
            return participle.test(last) && !nouns.has(last) && !promised.has(name) ? [`${file}: ${name}`] : []
          },
        ),
      )
    expect(found).to.deep.equal([])
  })
})
