import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { tryPlugins } from './try-plugins.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const spec = fileURLToPath(new URL('../../testkit/contract-spec.ts', import.meta.url))

/** `sluice plugin test`: the contract tests for one folder, anywhere. */
export function pluginTestCommand(settingsOf: () => Settings): Command {
  return new Command('test')
    .description('run the contract tests on the plugin in a folder: the whole server, on the devnet')
    .argument('<folder>', "the plugin's folder")
    .option('--network <name>', 'of a chain: the network that has a node here')
    .action(async (given: string, { network }: { network?: string }) => {
      const folder = path.resolve(given)
      const kind = await kindOf(folder, settingsOf())
      process.exitCode =
        kind === undefined
          ? 1
          : await runMocha({ PLUGIN_FOLDER: folder, PLUGIN_KIND: kind, ...(network !== undefined && { PLUGIN_NETWORK: network }) })
    })
}

/** Loads it beside Sluice's own plugins, on trial first; says why where it is refused. */
async function kindOf(folder: string, settings: Settings): Promise<'chain' | 'connector' | undefined> {
  const { loaded, refused } = await tryPlugins(settings, [path.join(root, 'plugins'), folder])
  const refusal = refused.find((each) => each.folder === folder)
  if (refusal) console.error(`${refusal.name} is refused (${refusal.step}): ${refusal.reason}\n${refusal.cure}`)
  return loaded.find((each) => each.folder === folder)?.kind
}

async function runMocha(environment: Record<string, string>): Promise<number> {
  const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
  const child = spawn(process.execPath, [mocha, '--no-config', '--node-option', 'import=tsx/esm', '--timeout', '60000', spec], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}
