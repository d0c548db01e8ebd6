import type { DevnetPlugin } from '../contracts/devnet.ts'
import { DeploymentFailure, buildState } from './build-state.ts'
import { loadDevnetPlugin } from './load-devnet-plugin.ts'

export interface Refusal {
  file: string
  reason: string
}

/** Deploys every plugin that can be; one that fails is left out and the rest is deployed anew, as if it had never been. */
export async function deployPlugins(devnetFiles: readonly string[]): Promise<{ state: Buffer; refused: readonly Refusal[] }> {
  const files = new Map<DevnetPlugin, string>()
  const refused: Refusal[] = []
  for (const file of devnetFiles) {
    try {
      const plugin = await loadDevnetPlugin(file)
      const namesake = [...files].find(([{ name }]) => name === plugin.name)
      if (namesake) throw new Error(`${namesake[1]} has the name ${plugin.name} already`)
      files.set(plugin, file)
    } catch (error) {
      refused.push({ file, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  for (;;) {
    try {
      return { state: await buildState([...files.keys()]), refused }
    } catch (error) {
      const file = error instanceof DeploymentFailure && !error.plugin.tokens ? files.get(error.plugin) : undefined
      if (!(error instanceof DeploymentFailure) || file === undefined) throw error
      files.delete(error.plugin)
      refused.push({ file, reason: error.message })
    }
  }
}
