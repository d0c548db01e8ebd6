import { cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeLock, type PluginLock } from '../../../core/config/lock.ts'
import { readPluginFiles } from '../../../core/plugins/discover/plugin-files.ts'
import { freePort } from '../../../test/free-port.ts'
import { makeHome } from '../home.ts'
import { ms, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'
import { startOnce, type Cost } from './start-to-ready.ts'

const model = fileURLToPath(new URL('../../../test/fixtures/plugins/contained/plain-swap', import.meta.url))
const rounds = 5
const counts = [0, 5, 20] as const
const mostSeconds = 10

/** Starts with the devnet, with so many connectors that were allowed and run in hosts: until what is built in is ready, and until all are loaded. */
export async function containedStarts(): Promise<Row[]> {
  const home = await makeHome()
  try {
    const folders: Record<number, string> = {}
    const lock: Record<string, PluginLock[string]> = {}
    for (const count of counts) {
      const folder = (folders[count] = path.join(home.folder, `plugins-${count}`))
      for (let index = 0; index < count; index += 1) {
        const name = `swap-${count}-${index}`
        await cp(model, path.join(folder, name), { recursive: true })
        const entry = path.join(folder, name, 'index.ts')
        await writeFile(entry, (await readFile(entry, 'utf8')).replaceAll('plain-swap', name))
        const { sha256 } = readPluginFiles(path.join(folder, name))
        lock[name] = { sha256, tier: 'contained', kind: 'connector', networks: {}, signs: [], hosts: [] }
      }
    }
    await writeLock(home.confDir, lock)
    const ports = { server: await freePort(), devnet: await freePort() }
    await startOnce(home, ports, { devnet: true })
    const costs: Record<number, Cost[]> = Object.fromEntries(counts.map((count) => [count, []]))
    for (let round = 0; round < rounds; round += 1)
      for (const count of counts)
        costs[count]?.push(await startOnce(home, ports, { devnet: true, ...(count > 0 && { plugins: folders[count] }) }))
    const middle = (count: number, of: keyof Cost) => median((costs[count] ?? []).map((each) => each[of]))
    const [alone, aloneCpu] = [middle(0, 'wallMs'), middle(0, 'cpuMs')]
    return counts.slice(1).flatMap((count): Row[] => [
      {
        name: `${count} contained: built-in ones ready`,
        value: ms(middle(count, 'wallMs')),
        reference: ms(alone),
        ratio: times(middle(count, 'wallMs'), alone),
      },
      {
        name: `${count} contained: CPU of the server until then`,
        value: ms(middle(count, 'cpuMs')),
        reference: ms(aloneCpu),
        ratio: times(middle(count, 'cpuMs'), aloneCpu),
      },
      { name: `${count} contained: all loaded`, value: ms(middle(count, 'allMs')), reference: `at most ${mostSeconds} s` },
    ])
  } finally {
    await home.remove()
  }
}
