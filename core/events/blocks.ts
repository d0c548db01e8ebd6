import type { Logger } from 'pino'
import type { Block } from '../api/events.ts'
import { pause } from '../base/async.ts'
import type { Head } from '../contracts/index.ts'
import { findNetworks, isInUse, type NetworkEntry, type Registry } from '../plugins/index.ts'
import { createSharedFeed, type SharedFeed, type Topic } from './topic.ts'
import { reasonOf } from '../base/errors.ts'
import { networkPath } from '../base/networks.ts'

/** The topic `blocks`: the newest block of each network that a request allows. */
export const createBlockTopic = (feed: BlockFeed, registry: Registry): Topic<'blocks'> => ({
  async find({ chain, network, inUse }) {
    if (chain !== undefined && network !== undefined) registry.use(chain, network)
    return findNetworks(registry, { chain, network })
      .filter((each) => inUse !== true || isInUse(each))
      .map(feed.subscriber)
  },
})

/** The newest block of each network. There is no update before the first one. */
export type BlockFeed = SharedFeed<NetworkEntry>

const retryMs = 1_000

export function createBlockFeed(log: Pick<Logger, 'warn'>): BlockFeed {
  async function read({ chain, network, impl }: NetworkEntry, changed: (head: Head) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const head of impl.heads(signal)) changed(head)
      } catch (error) {
        const reason = reasonOf(error)
        if (!signal.aborted) log.warn({ chain, network, reason }, 'following the blocks of a network failed; retrying')
      }
      await pause(retryMs, signal)
    }
  }

  return createSharedFeed<NetworkEntry, Head>({
    event: 'blocks',
    keyOf: networkPath,
    follow(entry, changed) {
      const stopping = new AbortController()
      void read(entry, changed, stopping.signal)
      return () => stopping.abort()
    },
    show: ({ chain, network }, { number, hash, timestamp }): Block => ({
      chain,
      network,
      number: Number(number),
      ...(hash !== undefined && { hash }),
      timestamp,
    }),
  })
}
