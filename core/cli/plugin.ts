import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import type { Refusal } from '../plugins/index.ts'
import { builtInPlugins, codeRoot, command, inSource, moduleUrl } from '../base/layout.ts'
import { addCommands } from './plugin-add.ts'
import { complain, examples, printError } from './output.ts'
import { consentCommands } from './plugin-consent.ts'
import { devCommand, problemWith } from './plugin-dev.ts'
import { liftCommand } from './plugin-lift.ts'
import { listCommand } from './plugin-list.ts'
import { newCommand } from './plugin-new.ts'

/** By the names of the commands. */
const forExample: Readonly<Record<string, readonly string[]>> = {
  list: ['plugin list', 'plugin list --json'],
  new: ['plugin new my-exchange --kind amm'],
  dev: ['plugin dev my-exchange', 'plugin dev my-exchange --inspect'],
  add: ['plugin add riverswap@1.4.0', 'plugin add https://example.org/riverswap.git#v1.2.0 --yes'],
  update: ['plugin update riverswap', 'plugin update riverswap 1.5.0'],
  show: ['plugin show riverswap'],
  allow: ['plugin allow riverswap', 'plugin allow riverswap --yes'],
  verify: ['plugin verify', 'plugin verify riverswap'],
  trust: ['plugin trust my-chain', 'plugin trust my-chain --yes --trusted'],
  remove: ['plugin remove riverswap', 'plugin remove riverswap --url https://sluice.example.org:15888'],
  lift: ['plugin lift riverswap', 'plugin lift riverswap --url https://sluice.example.org:15888 --as operator'],
  test: ['plugin test plugins/riverswap', 'plugin test --trusted --network testnet plugins/my-chain'],
}

/** `sluice plugin`: `list` shows what a start would load and refuse; plugin-consent.ts has what is about plugins of third parties. */
export function pluginCommand(settingsOf: () => Settings): Command {
  const plugin = new Command('plugin').description('the chains and connectors that the server is made of')

  for (const each of [
    listCommand(settingsOf),
    newCommand(settingsOf),
    devCommand(),
    ...addCommands(settingsOf),
    ...consentCommands(settingsOf),
    liftCommand(settingsOf),
    pluginTestCommand(settingsOf),
  ])
    plugin.addCommand(each)
  for (const each of plugin.commands) each.addHelpText('after', examples(...(forExample[each.name()] ?? [])))
  return plugin
}

/** `sluice plugin test`: runs the contract tests on the plugin in any folder. */
function pluginTestCommand(settingsOf: () => Settings): Command {
  return new Command('test')
    .description('run the contract tests on the plugin in a folder: the whole server, on the devnet')
    .argument('<folder>', "the plugin's folder")
    .option('--network <name>', 'for a chain: its network that has a node here')
    .option('--trusted', 'run its code with your rights: for what cannot be contained, such as chains and exchanges of signed actions')
    .action(async (given: string, { network, trusted = false }: { network?: string; trusted?: boolean }) => {
      const folder = path.resolve(given)
      const problem = problemWith(folder)
      if (problem !== undefined) return printError(problem)
      const kind = await kindOf(folder, settingsOf(), trusted)
      const code =
        kind === undefined
          ? 1
          : await runMocha({
              PLUGIN_FOLDER: folder,
              PLUGIN_KIND: kind,
              ...(network !== undefined && { PLUGIN_NETWORK: network }),
              ...(trusted && { PLUGIN_TRUSTED: '1' }),
            })
      // It ends, whatever the plugin has left open.
      process.exit(code)
    })
}

/** Loads the plugin beside Sluice's own, and prints why it is refused. */
async function kindOf(given: string, settings: Settings, trusted: boolean): Promise<PluginKind | undefined> {
  const [{ findPlugins, tryPlugins }, { expectedAddresses }] = await Promise.all([
    import('../plugins/index.ts'),
    import('../devnet/local-sites.ts'),
  ])
  // Of a built-in plugin the bundle in dist/ is what runs. One that the settings disable is tested all the same: it was named.
  const folder = findPlugins([given], []).found[0]?.origin ?? given
  const disabled = settings.plugins.disabled.filter((name) => name !== path.basename(given))
  const { found, ...others } = findPlugins([builtInPlugins, given], disabled)
  const tried = trusted ? found.map((each) => (each.origin === folder ? { ...each, tier: 'trusted' as const } : each)) : found
  const copies = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const own = { ...settings, devnet: { ...settings.devnet, enabled: true }, data: { ...settings.data, dir: copies } }
  try {
    const { loaded, interfaces, refused } = await tryPlugins(own, { ...others, found: tried }, expectedAddresses(own, found))
    const refusal = refused.find((each) => each.folder === folder)
    if (refusal) complain(refusalWords(refusal, folder, found.find((each) => each.origin === folder)?.entry))
    return [...loaded, ...interfaces].find((each) => each.origin === folder)?.kind
  } finally {
    await rm(copies, { recursive: true, force: true })
  }
}

/** For the author: why, what helps, and where to look. */
function refusalWords({ name, step, reason, remedy }: Refusal, folder: string, entry: string | undefined): string {
  const words = `${name} is refused (${step}): ${reason}\n${remedy}`
  const isNamed = readdirSync(folder).some((file) => words.includes(file))
  // What is wrong with a file stays so when the plugin is trusted.
  if (step === 'consent') return isNamed ? words : `${words}\nTo test it all the same: ${command} plugin test --trusted ${folder}`
  return isNamed || entry === undefined ? words : `${words}\nIts code begins in ${path.join(folder, path.basename(entry))}.`
}

async function runMocha(environment: Record<string, string>): Promise<number> {
  const mocha = createRequire(codeRoot).resolve('mocha/bin/mocha.js')
  const fromSource = inSource ? ['--node-option', 'import=tsx/esm'] : []
  const spec = fileURLToPath(moduleUrl('testkit/contract-spec'))
  const child = spawn(process.execPath, [mocha, '--no-config', '--no-package', '--exit', ...fromSource, '--timeout', '60000', spec], {
    cwd: fileURLToPath(codeRoot),
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}
