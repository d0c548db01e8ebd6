import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { filesOf, readPage, root } from './page.ts'

/** The plugins of a page as they stand there, in a new folder outside of the checkout. Their packages come from it. */
export async function extractPlugins(page: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-page-'))
  for (const [file, text] of filesOf(await readPage(page))) {
    const target = path.join(folder, file)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, text.replaceAll('/srv/sluice', root.slice(0, -1)))
  }
  await mkdir(path.join(folder, 'node_modules'))
  await symlink(path.join(root, 'node_modules', 'ethers'), path.join(folder, 'node_modules', 'ethers'))
  return folder
}
