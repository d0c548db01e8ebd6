import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { readPage, root } from './page.ts'

/** A row of a table of troubles, under its heading. */
interface Row {
  section: string
  trouble: string
  /** The last cell. */
  said: string
  tests: readonly string[]
}

describe('the page about failures', () => {
  let rows: readonly Row[]
  let files: ReadonlySet<string>
  before(async () => {
    rows = rowsOf(await readPage('docs/operators/failures.md'))
    files = new Set((await Promise.all(['test', 'tools/chaos'].map(testsIn))).flat())
  })

  it('names the test of each trouble, or says why there is none', () => {
    expect(rows.filter(({ said }) => said === '').map(({ section, trouble }) => `${section}: ${trouble}`)).to.deep.equal([])
  })

  it('names tests that are there', () => {
    const named = rows.flatMap(({ tests }) => tests)
    expect(named.filter((name) => !filesOf(name).some((file) => files.has(file)))).to.deep.equal([])
  })

  it('has a trouble for each scenario of chaos', () => {
    const named = new Set(rows.flatMap(({ tests }) => tests.flatMap(filesOf)))
    // That one is about the seed of the others.
    const scenarios = [...files].filter(
      (file) => /^tools\/chaos\/[^/]+\.rest\.test\.ts$/.test(file) && !file.endsWith('/random.rest.test.ts'),
    )
    expect(scenarios.filter((file) => !named.has(file))).to.deep.equal([])
  })
})

/** Of every table whose last column has tests. */
function rowsOf(markdown: string): Row[] {
  const rows: Row[] = []
  let section = ''
  let isTable = false
  for (const line of markdown.split('\n')) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section
    if (!line.startsWith('|')) isTable = false
    else if (line.endsWith('| test |')) isTable = true
    else if (isTable && !line.startsWith('|---')) {
      const cells = line.split(/(?<!\\)\|/).slice(1, -1)
      const [trouble = '', said = ''] = [cells[0], cells.at(-1)].map((cell) => cell?.trim())
      rows.push({ section, trouble, said, tests: [...said.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) })
    }
  }
  return rows
}

/** Where the test of a name of the page may be. */
function filesOf(name: string): string[] {
  const base = name.startsWith('chaos/') ? `tools/${name}` : `test/${name}`
  return [`${base}.test.ts`, `${base}.rest.test.ts`]
}

async function testsIn(folder: string): Promise<string[]> {
  const names = await readdir(path.join(root, folder), { recursive: true })
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
}
