import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadSettings } from '../../../core/config/settings.ts'
import { bringUpDevnet } from '../../../core/devnet/start-devnet.ts'
import { rpcTo } from '../../../core/devnet/anvil.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The devnet with all its exchanges, as a state that anvil loads. What is deployed is kept between runs, as other tests do. */
export async function devnetState(): Promise<string> {
  // The folder `devnet` in it is the one that servers of other tests share.
  const dataDir = path.join(tmpdir(), `sluice-chaos-${process.getuid?.() ?? ''}`)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const settings = loadSettings({
    confDir: path.join(root, 'conf'),
    env: {},
    flags: { 'devnet.enabled': true, 'devnet.port': 0, 'plugins.folders': [path.join(root, 'plugins')], 'data.dir': dataDir },
  })
  const devnet = await bringUpDevnet(settings, () => {})
  try {
    return String(await rpcTo(devnet.rpcUrl)('anvil_dumpState'))
  } finally {
    await devnet.stop()
  }
}
