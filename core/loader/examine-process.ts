// A process in which a plugin is loaded once to learn what it declares, before it is allowed: it has no key, no setting and no variable of the
// environment, and where the system can contain it, no file and no network. It ends when it has answered.
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { loadPluginConfigBy } from '../config/plugin-config.ts'
import type { Log } from '../contracts/index.ts'
import { knowCompiled } from './compile.ts'
import type { Examined, ExamineRequest } from './examine.ts'
import { channelDescriptor } from './host/containment.ts'
import { loadPlugins } from './load.ts'
import { outlineOf } from './outline.ts'
import { messageOf } from './thrown.ts'

const silent: Log = { info: () => {}, warn: () => {} }
/** There are no files of the operator here: what is in force of them comes with the question. */
const noConf = '/nowhere/conf'

async function examine({ plugin, chains, budget, conf }: ExamineRequest): Promise<Examined> {
  const { loaded, refused } = await loadPlugins({
    plugins: { found: [...chains.filter(({ name }) => name !== plugin.name), plugin], refused: [] },
    budget,
    hosts: 'here',
    log: silent,
    logOf: () => silent,
    tokensOf: () => [],
    configOf: ({ folder, ...each }, judge) =>
      loadPluginConfigBy(judge, { ...each, pluginFolder: folder, confDir: noConf, env: {}, conf: conf[`${each.kind}s/${each.name}`] }),
  })
  const found = loaded.find(({ folder }) => folder === plugin.folder)
  if (found) return { is: 'examined', what: outlineOf(found) }
  const refusal = refused.find(({ folder }) => folder === plugin.origin)
  const { step, reason, cure } = refusal ?? { step: 'create', reason: 'It was not loaded', cure: 'Correct the plugin.' }
  return { is: 'refused', step, reason, cure }
}

const channel = new Socket({ fd: channelDescriptor, readable: true, writable: true })

async function answer(): Promise<void> {
  const [line] = await once(createInterface({ input: channel }), 'line')
  const request = JSON.parse(line) as ExamineRequest
  for (const [folder, files] of Object.entries(request.compiled)) knowCompiled(folder, files)
  const examined = await examine(request).catch((thrown: unknown): Examined => ({
    is: 'refused',
    step: 'import',
    reason: messageOf(thrown),
    cure: 'Correct the plugin.',
  }))
  channel.end(JSON.stringify(examined), () => process.exit(0))
}
answer().catch(() => process.exit(1))
