import path from 'node:path'
import type { Duplex } from 'node:stream'
import type { LockedPlugin } from '../../config/lock.ts'
import { readYaml } from '../../config/yaml.ts'
import { hostsNamedIn } from '../isolate/web.ts'
import { withTimeout } from '../../base/async.ts'
import { hookUpdate } from '../code/compile.ts'
import { readExamination, recordOf, type Examination } from './declaration.ts'
import { examineHere, needsNoCode, type ExamineRequest } from './examine-here.ts'
import {
  findBackend,
  insideUpdate,
  uncontained,
  type ContainmentSettings,
  type Sandbox,
  type IsolationBackend,
} from '../isolate/backend.ts'
import type { FoundPlugin } from '../discover/find.ts'
import { remedies, PluginFault, toldFault, trustRemedy } from '../refusal.ts'
import { messageOf } from '../code/thrown.ts'

/** What the process may take beside the plugin's own budget. */
const overheadMs = 60_000
const maxAnswerBytes = 4 * 2 ** 20

/**
 * What a plugin declares: its kind, version, contracts and spenders by network, and kinds of typed data, as its code, its defaults
 * and the operator's conf name them. Its code runs in a process of its own, which has nothing of this one's and has ended when this returns. @throws PluginFault
 */
export async function examinePlugin(
  request: Omit<ExamineRequest, 'compiled'>,
  { tier, sha256 }: Pick<LockedPlugin, 'tier' | 'sha256'>,
  containment: ContainmentSettings,
): Promise<LockedPlugin> {
  const answer = needsNoCode(request) ? await examineHere(request) : await examineApart(request, containment)
  if (answer.is === 'refused') throw refusalOf(answer, request)
  const { name, folder } = request.plugin
  const hosts = hostsNamedIn(readYaml(path.join(folder, 'defaults.yml'), 'defaults.yml', [])?.value)
  return recordOf(name, answer.what, { tier, sha256, hosts })
}

/** Nothing of what a process with the code of a third party says is believed. */
function refusalOf(
  { step: at, reason, remedy }: Extract<Examination, { is: 'refused' }>,
  request: Omit<ExamineRequest, 'compiled'>,
): PluginFault {
  const { name } = request.plugin
  if (needsNoCode(request)) return new PluginFault(at, reason, remedy)
  const fault = toldFault(name, { step: at, reason, remedy })
  // The process does not know how this command was called.
  return at === 'consent' ? new PluginFault(at, fault.message, trustRemedy(name)) : fault
}

/** In a process of its own. */
async function examineApart(request: Omit<ExamineRequest, 'compiled'>, containment: ContainmentSettings): Promise<Examination> {
  const plugins = [request.plugin, ...request.chains.filter(({ builtIn }) => !builtIn)]
  const way = await wayToRead(containment)
  const prepared = await way.prepare('examine', plugins)
  const inside = <P extends FoundPlugin>(plugin: P): P => ({
    ...plugin,
    folder: prepared.inside(plugin.folder),
    entry: prepared.inside(plugin.entry),
  })
  const compiled = Object.fromEntries(
    await Promise.all(
      plugins.map(async ({ folder }) => [prepared.inside(folder), insideUpdate(await hookUpdate([folder]), prepared).compiled] as const),
    ),
  )
  return ask(prepared, { ...request, plugin: inside(request.plugin), chains: request.chains.map(inside), compiled })
}

/** Where nothing contains it, who types the command was told so. @throws PluginFault where a service was asked for that is away */
async function wayToRead(containment: ContainmentSettings): Promise<IsolationBackend> {
  try {
    return await findBackend(containment)
  } catch (thrown) {
    if (containment.plugins.hostSocket === undefined) return uncontained
    throw thrown
  }
}

/** What a plugin prints is not shown: it could look like this command's own words. */
async function ask(prepared: Sandbox, request: ExamineRequest): Promise<Examination> {
  const child = await prepared.start()
  const { channel } = child
  try {
    channel.on('error', () => {})
    channel.write(`${JSON.stringify(request)}\n`)
    const { clockMs } = request.budget
    const said = await withTimeout(boundedText(channel), clockMs + overheadMs, () => '')
    if (said !== '') {
      const answer = readExamination(said)
      if (answer) return answer
      throw new Error('its process answered something else than what it declares')
    }
  } catch (thrown) {
    throw new PluginFault('import', `It could not be read: ${messageOf(thrown)}`, remedies.correct)
  } finally {
    child.kill()
  }
  throw new PluginFault(
    'import',
    'It ended its process while it was loaded, or took too long',
    'Correct the plugin: it must load in time, and let its process run.',
  )
}

async function boundedText(stream: Duplex): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > maxAnswerBytes) throw new Error('it says too much')
    chunks.push(part)
  }
  return Buffer.concat(chunks).toString('utf8')
}
