import { expect } from 'chai'
import { longFunctions } from '../../tools/code-measures.ts'
import { filesIn, root } from '../../tools/imports.ts'

describe('functions', () => {
  it('have fewer than 200 lines, and all but five of them fewer than 150', () => {
    const files = ['core', 'kits', 'client', 'testkit', 'plugins'].flatMap((folder) => filesIn(folder))
    const long = longFunctions(files, root, 150)
    const shown = long.map(({ lines, name, file }) => `${lines} lines: ${name} in ${file}`).join('\n')
    expect(long.length, shown).to.be.at.most(5)
    expect(long[0]?.lines, shown).to.be.below(200)
  })
})
