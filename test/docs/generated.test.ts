import { expect } from 'chai'
import { endpoints } from '../../core/api/index.ts'
import { outdated, pages, withTables } from '../../tools/docs/pages.ts'

describe('the tables on pages that the code declares', () => {
  it('are what npm run docs writes', async () => {
    expect([...(await outdated()).keys()]).to.deep.equal([])
  })

  it('have each endpoint once', () => {
    const rows = [...pages().values()].flatMap((text) => text.match(/^\| (GET|POST|DELETE) \| `\/[^`]*`/gm) ?? [])
    expect(rows.toSorted()).to.deep.equal(endpoints.map(({ method, path }) => `| ${method} | \`${path}\``).toSorted())
  })

  it('replace what stands between two marks, and nothing else', async () => {
    const page = 'Above.\n\n<!-- generated: permissions -->\nold\n<!-- end -->\n\nBelow.\n'
    const written = await withTables(page)
    expect(written).to.match(
      /^Above\.\n\n<!-- generated: permissions -->\n\n\| permission \|[^]*\| `admin` \|[^]*\|\n\n<!-- end -->\n\nBelow\.\n$/,
    )
    expect(await withTables(written)).to.equal(written)
  })

  it('refuse a mark that names no table, and one without an end', async () => {
    expect(await messageOf(withTables('<!-- generated: prices -->\n<!-- end -->'))).to.match(/^There is no table prices: errors, /)
    expect(await messageOf(withTables('<!-- generated: errors -->\n'))).to.match(/^1 marks .* begin a table, and 0 have an end\.$/)
  })
})

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    ({ message }: Error) => message,
  )
