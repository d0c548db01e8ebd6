import { expect } from 'chai'
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { chainContract } from '../../testkit/index.ts'
import { printed } from './like.ts'
import { fencesOf, readPage, root } from './page.ts'
import { extractPlugins } from './plugin-pages.ts'
import { run } from './run.ts'

const page = 'docs/writing-a-chain.md'
const folder = await extractPlugins(page)

describe('docs/writing-a-chain.md', () => {
  after(() => rm(folder, { recursive: true }))

  it('shows a chain in 15 lines', async () => {
    const code = await readFile(path.join(folder, 'sonic', 'index.ts'), 'utf8')
    expect(
      code
        .trim()
        .split('\n')
        .filter((line) => line !== '').length,
    ).to.be.at.most(15)
  })

  it('shows what the command line says of it', async () => {
    const home = path.join(folder, 'home')
    await mkdir(path.join(home, 'plugins'), { recursive: true })
    await cp(path.join(folder, 'sonic'), path.join(home, 'plugins', 'sonic'), { recursive: true })
    for (const name of ['plugins', 'bin']) await symlink(path.join(root, name), path.join(folder, name))
    const fences = fencesOf(await readPage(page))
    const where = { cwd: folder, env: { HOME: home, SLUICE_DEVNET_ENABLED: 'true' } }
    const trust = fences.find(({ text }) => text.includes('plugin trust'))?.text.trim()
    // It asks at a terminal.
    await run('sh', ['-euc', `${trust} --yes`], where)
    const index = fences.findIndex(({ text }) => text.includes('plugin list'))
    const output = await run('sh', ['-euc', fences[index]?.text ?? ''], where)
    expect(printed(output)).to.equal(printed(fences[index + 1]?.text ?? ''))
  })

  // Its node is not to be reached from a test: the cards that need none.
  chainContract({ folder: path.join(folder, 'sonic') })
})
