import path from 'node:path'
import type { Duplex } from 'node:stream'
import * as Value from 'typebox/value'
import { lockedPlugin, type LockedPlugin } from '../../config/lock.ts'
import { readYaml } from '../../config/yaml.ts'
import { hostsNamedIn } from '../isolate/web.ts'
import { withTimeout } from '../../base/async.ts'
import { isObject } from '../../base/json.ts'
import { hookUpdate } from '../code/compile.ts'
import { examineHere, needsNoCode, type Examination, type ExamineRequest } from './examine-here.ts'
import {
  findBackend,
  insideUpdate,
  uncontained,
  type ContainmentSettings,
  type Sandbox,
  type IsolationBackend,
} from '../isolate/backend.ts'
import type { FoundPlugin } from '../discover/find.ts'
import { remedies, PluginFault, steps, toldFault, trustRemedy } from '../refusal.ts'
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
  const { version, ...declared } = answer.what
  const locked = {
    ...(version !== undefined && { version }),
    sha256,
    tier,
    ...declared,
    hosts: hostsNamedIn(readYaml(path.join(request.plugin.folder, 'defaults.yml'), 'defaults.yml', [])?.value),
  }
  // What the process says may be the plugin's own word.
  if (Value.Check(lockedPlugin, locked)) return locked
  const [first] = Value.Errors(lockedPlugin, locked)
  throw toldFault(request.plugin.name, {
    step: 'manifest',
    reason: `${first?.instancePath ?? ''} ${first?.message ?? 'is wrong'}`,
    remedy: remedies.correct,
  })
}

/** Nothing of what a process with the code of a third party says is believed. */
function refusalOf(
  { step: at, reason, remedy }: Extract<Examination, { is: 'refused' }>,
  request: Omit<ExamineRequest, 'compiled'>,
): PluginFault {
  const { name } = request.plugin
  if (needsNoCode(request)) return new PluginFault(at, reason, remedy)
  const step = steps.find((each) => each === at) ?? 'import'
  const fault = toldFault(name, { step, reason, remedy })
  // The process does not know how this command was called.
  return step === 'consent' ? new PluginFault(step, fault.message, trustRemedy(name)) : fault
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
    const answer: unknown = said === '' ? undefined : JSON.parse(said)
    // What it says of itself is checked by who reads it.
    if (isObject(answer) && (answer['is'] === 'refused' || (answer['is'] === 'examined' && isObject(answer['what']))))
      return answer as Examination
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
