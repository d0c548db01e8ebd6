import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { readPage, root } from './page.ts'

/** What reads a clock that somebody sets. */
const timeOfDay = /\bDate\.now\b|new Date\(\)|\bDate\.parse\b|\bperformance\.timeOrigin\b|\b(clock|statement)_timestamp\b/

describe('the use of clocks on pages', () => {
  it('failures.md has every file that reads the time of day, with what for, and no other', async () => {
    const [, section = ''] = (await readPage('docs/operators/failures.md')).split('Every place in the sources that reads the time of day')
    const shown = [...section.matchAll(/`((?:core|kits|plugins)\/[^`]+\.ts)`/g)].map(([, file]) => file)
    expect(shown).to.have.members((await Promise.all(['core', 'kits', 'plugins'].map(readersIn))).flat())
  })
})

async function readersIn(folder: string): Promise<string[]> {
  const names = (await readdir(path.join(root, folder), { recursive: true })).filter((name) => name.endsWith('.ts'))
  const files = names.map((name) => path.join(folder, name))
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')))
  return files.filter((_, index) => timeOfDay.test(texts[index] ?? ''))
}
