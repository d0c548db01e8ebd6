import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Settings } from '../config/settings.ts'
import { findPlugins } from '../loader/find.ts'
import { registerHook } from '../loader/register-hook.ts'
import { startDevnet, type Devnet } from './start-devnet.ts'

/** The devnet of these settings: everything that the plugins' `devnet.ts` put there. */
export async function bringUpDevnet({ plugins, data, devnet }: Settings, say: (line: string) => void): Promise<Devnet> {
  const { found } = findPlugins(plugins.folders, plugins.disabled)
  await registerHook(found.map(({ folder }) => folder))
  const devnetFiles = found.flatMap(({ folder }) =>
    ['devnet.ts', 'devnet.js']
      .map((name) => path.join(folder, name))
      .filter((file) => existsSync(file))
      .slice(0, 1),
  )
  return startDevnet({ port: devnet.port, dataDir: data.dir, devnetFiles, log: say })
}
