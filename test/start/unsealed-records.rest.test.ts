import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { writeLock, type LockedPlugin } from '../../core/config/lock.ts'
import { readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import { keepDevnet, makeHome, sluice, sluiceWith, twoPlugins } from './command.ts'

/** As on a system without the program that makes them. */
const noNamespaces = `import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const { accessSync } = fs
fs.accessSync = (file, ...more) => {
  if (String(file).endsWith('/unshare')) throw new Error('there is none')
  return accessSync(file, ...more)
}
syncBuiltinESMExports()
`

// Whoever can write sluice.lock and plugins/ would have code run as the one who types the command.
describe('a command runs no plugin as who types it by a record without a seal, where there are keys', function () {
  this.timeout(400_000)

  /** A home with a key, and a plugin whose code notes that it ran. */
  async function withPlanted(
    { kind, tier = 'trusted', ...plugins }: { kind: LockedPlugin['kind']; tier?: LockedPlugin['tier']; weakContainment?: boolean },
    test: (home: string, hasRun: () => boolean) => Promise<void>,
  ): Promise<void> {
    const { home, remove } = await makeHome({ plugins: { folders: [...twoPlugins, 'plugins'], ...plugins } })
    try {
      const [folder, keys, marker] = [path.join(home, 'plugins/planted'), path.join(home, 'data/keystore/ethereum'), path.join(home, 'ran')]
      for (const each of [folder, keys]) await mkdir(each, { recursive: true })
      const code = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(marker)}, '')\n`
      await writeFile(path.join(folder, 'index.ts'), `${code}export default {}\n`)
      await writeFile(path.join(folder, 'devnet.ts'), `${code}export default { name: 'planted', deploy() {} }\n`)
      await writeFile(path.join(keys, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8.json'), '{}')
      const { sha256 } = readPluginFiles(folder)
      await writeLock(path.join(home, 'conf'), { planted: { sha256, tier, kind, networks: {}, signs: [], hosts: [] } })
      await test(home, () => existsSync(marker))
    } finally {
      await remove()
    }
  }

  async function containingNothing(home: string): Promise<{ readonly NODE_OPTIONS: string }> {
    const preload = path.join(home, 'no-namespaces.mjs')
    await writeFile(preload, noNamespaces)
    return { NODE_OPTIONS: `--import ${preload}` }
  }

  it('in sluice devnet, which names what it leaves out', () =>
    withPlanted({ kind: 'connector' }, async (home, hasRun) => {
      await keepDevnet(home)
      const command = sluice(home, 'devnet', '--port', '0')
      await command.until(/answers at/)
      command.child.kill('SIGINT')
      await command.ended
      expect(hasRun(), command.printed()).to.equal(false)
      expect(command.printed()).to.match(/planted is left out: It is trusted, and is not run here: its record has no seal/)
    }))

  it('in sluice plugin allow of another one, where the system contains nothing', () =>
    withPlanted({ kind: 'chain' }, async (home, hasRun) => {
      const other = path.join(home, 'plugins/other')
      await mkdir(other)
      await writeFile(path.join(other, 'index.ts'), 'export default {}\n')
      const command = sluiceWith(await containingNothing(home), home, 'plugin', 'allow', 'other', '--yes')
      await command.ended
      expect(command.printed()).to.match(/This system cannot contain it/)
      expect(hasRun(), command.printed()).to.equal(false)
    }))

  it('in sluice plugin list of one that is contained, where nothing contains it and that is accepted', () =>
    withPlanted({ kind: 'connector', tier: 'contained', weakContainment: true }, async (home, hasRun) => {
      const command = sluiceWith(await containingNothing(home), home, 'plugin', 'list')
      await command.ended
      expect(hasRun(), command.printed()).to.equal(false)
      expect(command.printed().replaceAll(/\s+/g, ' ')).to.contain('Nothing contains it here, so it is not run: its record has no seal')
    }))
})
