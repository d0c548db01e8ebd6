import type { Settings } from '../config/settings.ts'
import type { CurveName } from '../wallet/keys.ts'

/**
 * The chains that the plugins bring, with the curve of their keys. They are asked in threads that have ended when this
 * returns: where a key is handled next, in this process, no code of a plugin may be loaded.
 */
export async function chainNames({ plugins, limits }: Settings): Promise<ReadonlyMap<string, CurveName>> {
  const [{ findPlugins }, { startTrials }] = await Promise.all([import('../loader/find.ts'), import('../loader/trials.ts')])
  const { found } = findPlugins(plugins.folders, plugins.disabled)
  const trials = startTrials(limits.pluginLoadSeconds * 1000)
  try {
    const tried = await Promise.allSettled(found.map(async (plugin) => ({ name: plugin.name, ...(await trials.describe(plugin)) })))
    // One that is refused is told by `plugin list` and at start.
    return new Map(
      tried.flatMap((each) =>
        each.status === 'fulfilled' && each.value.kind === 'chain' ? [[each.value.name, each.value.keys] as const] : [],
      ),
    )
  } finally {
    await trials.close()
  }
}
