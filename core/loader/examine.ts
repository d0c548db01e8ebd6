import { fork } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import * as Value from 'typebox/value'
import { lockedPlugin, type LockedPlugin } from '../config/lock.ts'
import { readYaml } from '../config/yaml.ts'
import { mapTexts } from '../config/tree.ts'
import { inSource, moduleUrl } from '../layout.ts'
import type { FoundPlugin } from './find.ts'
import { PluginFault, type Step } from './refusal.ts'
import type { LoadBudget } from './trials.ts'

export interface ExamineRequest {
  readonly plugin: FoundPlugin
  /** Those that it may be on. */
  readonly chains: readonly FoundPlugin[]
  readonly budget: LoadBudget
}

export type Declared = Omit<LockedPlugin, 'sha256' | 'tier' | 'hosts'>

export type Examined =
  | { readonly is: 'examined'; readonly what: Declared }
  | { readonly is: 'refused'; readonly step: Step; readonly reason: string; readonly cure: string }

/** What the process may take beside the plugin's own budget. */
const overheadMs = 60_000

/**
 * What a plugin declares: its kind, version, contracts and spenders by network, and kinds of typed data, as its code and its defaults name
 * them. Its code runs in a process of its own, which has nothing of this one's and has ended when this returns. @throws PluginFault
 */
export async function examinePlugin(
  request: ExamineRequest,
  { tier, sha256 }: Pick<LockedPlugin, 'tier' | 'sha256'>,
): Promise<LockedPlugin> {
  const answer = await ask(request)
  if (answer.is === 'refused') throw new PluginFault(answer.step, answer.reason, answer.cure)
  const { version, ...declared } = answer.what
  const locked = { ...(version !== undefined && { version }), sha256, tier, ...declared, hosts: hostsOf(request.plugin.folder) }
  // What the process says may be the plugin's own word.
  if (Value.Check(lockedPlugin, locked)) return locked
  const [first] = Value.Errors(lockedPlugin, locked)
  throw new PluginFault('manifest', `${first?.instancePath ?? ''} ${first?.message ?? 'is wrong'}`, 'Correct the plugin.')
}

function ask(request: ExamineRequest): Promise<Examined> {
  const child = fork(fileURLToPath(moduleUrl('core/loader/examine-process')), [], {
    execArgv: inSource ? ['--import', import.meta.resolve('tsx/esm')] : [],
    env: { PATH: process.env['PATH'] },
    cwd: path.parse(process.cwd()).root,
    // What a plugin prints is not shown: it could look like this command's own words.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return new Promise<Examined>((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new PluginFault('import', reason, 'Correct the plugin: it must load without ending its process.'))
    const timer = setTimeout(() => fail('It did not load in time'), request.budget.clockMs + overheadMs)
    child.once('message', (answer: Examined) => resolve(answer))
    child.once('error', (error) => fail(error.message))
    child.once('exit', () => fail('It ended the process while it was loaded'))
    child.once('close', () => clearTimeout(timer))
    child.send(request, () => {})
  }).finally(() => child.kill('SIGKILL'))
}

/** The hosts of all URLs that its `defaults.yml` names. */
function hostsOf(folder: string): string[] {
  const hosts = new Set<string>()
  mapTexts(readYaml(path.join(folder, 'defaults.yml'), 'defaults.yml', [])?.value, (text) => {
    if (/^(https?|wss?):\/\//i.test(text) && URL.canParse(text)) hosts.add(new URL(text).host)
    return text
  })
  return [...hosts].toSorted()
}
