// The chains that there are plugins for, by the name that requests, settings and the keystore have for them. A chain's plugin may have another name: `<name>-chain`,
// where an exchange has that of the chain. No code of plugins runs for it: of the release's own says signing.json, of others sluice.lock.
import { readLock, type PluginLock } from '../config/lock.ts'
import type { Settings } from '../config/settings.ts'
import type { CurveName } from '../keys/curves.ts'
import { readReleasePolicy } from '../wallet/release-policy.ts'

export interface InstalledChain {
  /** Of its keys. */
  readonly curve: CurveName
  /** Of its plugin. */
  readonly folder: string
}

export async function installedChains({ plugins, confDir }: Settings): Promise<ReadonlyMap<string, InstalledChain>> {
  const { findPlugins } = await import('../plugins/index.ts')
  const { chains } = readReleasePolicy()
  const lock = lockOrNone(confDir)
  return new Map(
    findPlugins(plugins.folders, plugins.disabled).found.flatMap(({ name, folder, builtIn }): [string, InstalledChain][] => {
      if (builtIn) {
        const chain = Object.hasOwn(chains, name) ? chains[name] : undefined
        return chain ? [[chain.chain, { curve: chain.keys, folder }]] : []
      }
      const record = Object.hasOwn(lock, name) ? lock[name] : undefined
      const [chain = name] = Object.keys(record?.networks ?? {})[0]?.split('/') ?? []
      return record?.kind !== 'chain' || record.keys === undefined ? [] : [[chain, { curve: record.keys, folder }]]
    }),
  )
}

/** A lock that cannot be read lets no plugin run: the release's own chains are there all the same. */
function lockOrNone(confDir: string): PluginLock {
  try {
    return readLock(confDir)
  } catch {
    return {}
  }
}
