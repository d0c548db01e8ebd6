import type { ShownConf } from '../../config/shown-conf.ts'
import { loadPluginConfigBy } from '../../config/plugin-config.ts'
import { devnetNetwork } from '../../config/settings.ts'
import type { Log } from '../../contracts/index.ts'
import type { CompiledFiles } from '../code/hook.ts'
import type { Examination } from './declaration.ts'
import { isDeclared, type FoundPlugin } from '../discover/find.ts'
import { loadPlugins } from '../load.ts'
import { outlineOf } from '../discover/outline.ts'
import type { LoadBudget } from '../load-budget.ts'
import type { ContractOwners } from '../../wallet/policy-files.ts'

export interface ExamineRequest {
  readonly plugin: FoundPlugin
  /** Those that it may be on. */
  readonly chains: readonly FoundPlugin[]
  readonly budget: LoadBudget
  /** What is in force of the operator's files, by `chains/<name>` and `connectors/<name>`. */
  readonly conf: Readonly<Record<string, ShownConf>>
  /** The contracts that a plugin may not name unless it is trusted. */
  readonly holders: ContractOwners
  /** Of the folders of third parties: the process may see no compiler. */
  readonly compiled: Readonly<Record<string, CompiledFiles>>
}

const silent: Log = { info: () => {}, warn: () => {} }
/** There are no files of the operator here: what is in force of them comes with the question. */
const noConf = '/nowhere/conf'

/** Whether no code of a third party is needed to learn what a plugin declares: it is data, and so are the chains that it may be on. */
export const needsNoCode = ({ plugin, chains }: Pick<ExamineRequest, 'plugin' | 'chains'>): boolean =>
  [plugin, ...chains].every((each) => each.builtIn || isDeclared(each))

/** Loads a plugin once, in this process, to learn what it declares. */
export async function examineHere({ plugin, chains, budget, conf, holders }: Omit<ExamineRequest, 'compiled'>): Promise<Examination> {
  const { loaded, interfaces, refused } = await loadPlugins({
    plugins: { found: [...chains.filter(({ name }) => name !== plugin.name), plugin], refused: [] },
    budget,
    holders,
    hosts: 'here',
    log: silent,
    logOf: () => silent,
    tokensOf: () => [],
    configOf: ({ folder, ...each }, judge) =>
      loadPluginConfigBy(judge, {
        ...each,
        pluginFolder: folder,
        confDir: noConf,
        env: {},
        conf: conf[`${each.kind}s/${each.name}`],
        // What it declares of a simulated chain, whether or not a devnet runs now.
        ...(each.kind === 'chain' && each.builtIn && { site: { network: devnetNetwork.network, url: 'http://127.0.0.1' } }),
      }),
  })
  const found = [...loaded, ...interfaces].find(({ folder }) => folder === plugin.folder)
  if (found) return { is: 'examined', what: outlineOf(found) }
  const refusal = refused.find(({ folder }) => folder === plugin.origin)
  const { step, reason, remedy } = refusal ?? { step: 'create', reason: 'It was not loaded', remedy: 'Correct the plugin.' }
  return { is: 'refused', step, reason, remedy }
}
