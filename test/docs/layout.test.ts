import { expect } from 'chai'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { fencesOf, readPage, root } from './page.ts'

describe('the layouts on pages', () => {
  it('architecture.md has every file and folder of core, and no other', async () => {
    const layout = await layoutOf('docs/design/architecture.md')
    const shown = [...layout.matchAll(/^ {2}([\w.-]+)\/? /gm)].map(([, name]) => name)
    expect(shown).to.have.members(await readdir(path.join(root, 'core')))
  })
})

const layoutOf = async (page: string) =>
  fencesOf(await readPage(page)).find(({ language, text }) => language === 'text' && text.includes('core/'))?.text ?? ''
