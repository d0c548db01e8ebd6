import { expect } from 'chai'
import { pages } from '../../tools/docs/pages.ts'

const mostLines = 600

describe('the pages', () => {
  it(`have at most ${mostLines} lines each, besides the tables that the code declares`, () => {
    const long = [...pages()]
      .map(([page, text]) => ({ page, lines: text.replaceAll(/<!-- generated: [^]*?<!-- end -->/g, '').split('\n').length }))
      .filter(({ lines }) => lines > mostLines)
    expect(long).to.deep.equal([])
  })

  it('have no lines that a merge left', () => {
    const left = [...pages()].filter(([, text]) => /^(<{7} |={7}$|>{7} )/m.test(text)).map(([page]) => page)
    expect(left).to.deep.equal([])
  })

  it('are all in the index', () => {
    const index = pages().get('docs/README.md') ?? ''
    const listed = [...index.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, page]) => `docs/${page}`)
    const wanted = [...pages().keys()].filter((page) => page.startsWith('docs/') && !page.includes('/adr/') && page !== 'docs/README.md')
    expect([...new Set(listed)].filter((page) => page !== 'docs/design/adr/README.md')).to.have.members(wanted)
  })
})
