import { expect } from 'chai'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { fencesOf, readPage, root } from './page.ts'

describe('the layouts on pages', () => {
  it('architecture.md has every file and folder of core, and no other', async () => {
    const layout = await layoutOf('docs/architecture.md')
    const shown = [...layout.matchAll(/^ {2}([\w.-]+)\/? /gm)].map(([, name]) => name)
    // What stands alone beside the kernel is too small for a line.
    const small = ['log.ts', 'start-error.ts', 'version.ts']
    const there = (await readdir(path.join(root, 'core'))).filter((name) => !small.includes(name))
    expect(shown).to.have.members(there)
  })
})

const layoutOf = async (page: string) =>
  fencesOf(await readPage(page)).find(({ language, text }) => language === 'text' && text.includes('core/'))?.text ?? ''
