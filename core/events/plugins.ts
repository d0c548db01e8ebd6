import type { PluginsEvent } from '../api/events.ts'
import type { ShownPlugin } from '../api/index.ts'
import type { PluginEntry, Registry } from '../plugins/index.ts'
import { showPlugin } from '../handlers/service.ts'
import { createSharedFeed, type Topic } from './topic.ts'

/** The topic `plugins`: those of third parties, as they are and after each that is loaded, refused, updated or removed. */
export function createPluginTopic(registry: Pick<Registry, 'plugins' | 'onChange'>, hidePaths: (text: string) => string): Topic<'plugins'> {
  const ofOthers = () => registry.plugins.filter(({ tier }) => tier !== 'built in')
  const feed = createSharedFeed<'all', readonly PluginEntry[]>({
    event: 'plugins',
    keyOf: (all) => all,
    follow(_, changed) {
      changed(ofOthers())
      return registry.onChange(() => changed(ofOthers()))
    },
    show: (_, plugins): PluginsEvent => ({ plugins: plugins.map((each) => withoutPaths(showPlugin(each), hidePaths)) }),
  })
  return { find: async () => [feed.subscriber('all')] }
}

/** As `/plugins` shows it. */
function withoutPaths({ reason, notTakenUp, ...shown }: ShownPlugin, hidePaths: (text: string) => string): ShownPlugin {
  return {
    ...shown,
    ...(reason !== undefined && { reason: hidePaths(reason) }),
    ...(notTakenUp !== undefined && { notTakenUp: hidePaths(notTakenUp) }),
  }
}
