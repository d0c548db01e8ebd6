import { pause } from '../async.ts'
import type { Logger } from 'pino'
import type { Block } from '../api/index.ts'
import type { EventUpdate } from './stream.ts'
import type { Subscription } from './topic.ts'
import type { Head } from '../contracts/index.ts'
import type { NetworkEntry } from '../handlers/registry.ts'

const pauseAfterTroubleMs = 1_000

interface Followed {
  newest?: EventUpdate
  readonly rings: Set<() => void>
  readonly over: AbortController
}

export interface BlockTopic {
  /** Rings at every new block of a network, until `end` is called. `newest`: undefined before the first. */
  follow(network: NetworkEntry, ring: () => void): Subscription
}

/** Follows each network that somebody wants the blocks of once, for all of them. */
export function createBlockTopic(log: Pick<Logger, 'warn'>): BlockTopic {
  const networks = new Map<NetworkEntry, Followed>()

  async function read({ chain, network, impl }: NetworkEntry, followed: Followed): Promise<void> {
    const { signal } = followed.over
    while (!signal.aborted) {
      try {
        for await (const head of impl.heads(signal)) {
          followed.newest = { event: 'blocks', json: JSON.stringify(showBlock(chain, network, head)) }
          for (const ring of followed.rings) ring()
        }
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown'
        if (!signal.aborted) log.warn({ chain, network, reason }, 'the blocks of a network could not be followed; it is tried again')
      }
      await pause(pauseAfterTroubleMs, signal)
    }
  }

  function start(network: NetworkEntry): Followed {
    const followed = { rings: new Set<() => void>(), over: new AbortController() }
    networks.set(network, followed)
    void read(network, followed)
    return followed
  }

  return {
    follow(network, ring) {
      const followed = networks.get(network) ?? start(network)
      followed.rings.add(ring)
      return {
        latest: () => followed.newest,
        end() {
          followed.rings.delete(ring)
          if (followed.rings.size > 0) return
          followed.over.abort()
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
