import { nearest } from '../config/checks/nearest.ts'
import { pluginFileWarnings } from '../config/settings/conf-folder.ts'
import { type Settings } from '../config/settings.ts'
import { findPlugins } from '../loader/find.ts'
import { type LoadResult } from '../loader/load.ts'

/** What the settings say of plugins that are not there: probably misspelt names. */
export function pluginWarnings({ confDir, plugins }: Settings, { loaded, refused }: LoadResult): string[] {
  const ofKind = (kind: 'chain' | 'connector') => loaded.filter((plugin) => plugin.kind === kind).map(({ name }) => name)
  // A refused plugin's kind may be unknown, and a disabled one is not looked into. Their files wait for them.
  const waiting = [...refused.map(({ name }) => name), ...plugins.disabled]
  return [
    ...pluginFileWarnings(confDir, { chains: [...ofKind('chain'), ...waiting], connectors: [...ofKind('connector'), ...waiting] }),
    ...disabledWarnings(plugins),
  ]
}

function disabledWarnings({ folders, disabled }: Settings['plugins']): string[] {
  if (disabled.length === 0) return []
  const all = findPlugins(folders, [])
  const names = [...all.found, ...all.refused].map(({ name }) => name)
  return disabled
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = nearest(name, names)
      return `plugins.disabled names "${name}", and there is no such plugin.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}
