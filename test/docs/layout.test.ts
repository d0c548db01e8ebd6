import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { fencesOf, readPage, root } from './page.ts'

/** Made at the first start, or by a build. */
const made = ['certs', 'data', 'dist', 'node_modules']

describe('the layouts on pages', () => {
  it('architecture.md has every file and folder of core, and no other', async () => {
    const layout = await layoutOf('docs/architecture.md')
    const shown = [...layout.matchAll(/^ {2}([\w.-]+)\/? /gm)].map(([, name]) => name)
    // What stands alone beside the kernel is too small for a line.
    const small = ['log.ts', 'start-error.ts', 'version.ts']
    const there = (await readdir(path.join(root, 'core'))).filter((name) => !small.includes(name))
    expect(shown).to.have.members(there)
  })

  it('the README has every folder of the checkout, and no other', async () => {
    const shown = [...(await layoutOf('README.md')).matchAll(/^([\w-]+)\/ /gm)].map(([, name = '']) => name)
    const entries = await readdir(root, { withFileTypes: true })
    const there = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
    expect(there.filter((name) => !made.includes(name) && !shown.includes(name))).to.deep.equal([])
    expect(shown.filter((name) => !made.includes(name) && !existsSync(path.join(root, name)))).to.deep.equal([])
  })
})

const layoutOf = async (page: string) =>
  fencesOf(await readPage(page)).find(({ language, text }) => language === 'text' && text.includes('core/'))?.text ?? ''
