import type { Logger } from 'pino'
import type { Block } from '../api/events.ts'
import { pause } from '../async.ts'
import type { Head } from '../contracts/index.ts'
import { findNetworks, type NetworkEntry, type Registry } from '../handlers/registry.ts'
import type { EventUpdate, Subscription, Topic } from './topic.ts'

/** The topic `blocks`: the newest block of each network that a request allows. */
export const createBlockTopic = (feed: BlockFeed, registry: Registry): Topic => ({
  find: async ({ chain, network }) => findNetworks(registry, { chain, network }).map((each) => (notify) => feed.follow(each, notify)),
})

/** Follows the blocks of each network once, for all who want them. */
export interface BlockFeed {
  /** Calls back at every new block. There is no update before the first one. */
  follow(network: NetworkEntry, notify: () => void): Subscription
}

interface FollowedNetwork {
  latest?: EventUpdate
  readonly notifiers: Set<() => void>
  readonly stopping: AbortController
}

const retryMs = 1_000

export function createBlockFeed(log: Pick<Logger, 'warn'>): BlockFeed {
  const networks = new Map<NetworkEntry, FollowedNetwork>()

  async function read({ chain, network, impl }: NetworkEntry, followed: FollowedNetwork): Promise<void> {
    const { signal } = followed.stopping
    while (!signal.aborted) {
      try {
        for await (const head of impl.heads(signal)) {
          followed.latest = { event: 'blocks', json: JSON.stringify(showBlock(chain, network, head)) }
          for (const notify of followed.notifiers) notify()
        }
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown'
        if (!signal.aborted) log.warn({ chain, network, reason }, 'following the blocks of a network failed; retrying')
      }
      await pause(retryMs, signal)
    }
  }

  function start(network: NetworkEntry): FollowedNetwork {
    const followed = { notifiers: new Set<() => void>(), stopping: new AbortController() }
    networks.set(network, followed)
    void read(network, followed)
    return followed
  }

  return {
    follow(network, notify) {
      const followed = networks.get(network) ?? start(network)
      followed.notifiers.add(notify)
      return {
        latest: () => followed.latest,
        end() {
          followed.notifiers.delete(notify)
          if (followed.notifiers.size > 0) return
          followed.stopping.abort()
          if (networks.get(network) === followed) networks.delete(network)
        },
      }
    },
  }
}

const showBlock = (chain: string, network: string, { number, hash, timestamp }: Head): Block => ({
  chain,
  network,
  number: Number(number),
  ...(hash !== undefined && { hash }),
  timestamp,
})
