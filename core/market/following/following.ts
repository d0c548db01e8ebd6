import type { Chain } from '../../contracts/index.ts'
import type { Witness } from '../../live-state/telemetry.ts'
import { createSynchroniser, type Synchroniser, type SynchroniserOptions } from '../../live-state/synchroniser.ts'

/** Where something is followed: a network, and its chain as it runs. */
export interface Site {
  readonly chain: string
  readonly network: string
  readonly chainImpl: Chain
}

/** All networks of which something is followed. */
export interface Following {
  /** The one of a network, for all that is followed there. */
  of(site: Site): Synchroniser
  /** Somebody was told of a block of a network. */
  heardOf(network: Pick<Site, 'chain' | 'network'>, number: bigint): void
  all(): readonly { readonly chain: string; readonly network: string; readonly synchroniser: Synchroniser }[]
  stop(): void
}

export function createFollowing(
  options: { witness: Witness } & Pick<
    SynchroniserOptions,
    'staleBlocks' | 'staleBlockSeconds' | 'checkSeconds' | 'idleSeconds' | 'mostKeys'
  >,
): Following {
  const known = new Map<string, { chain: string; network: string; synchroniser: Synchroniser }>()
  return {
    of({ chain, network, chainImpl }) {
      const name = `${chain}/${network}`
      const there = known.get(name)
      if (there) return there.synchroniser
      const synchroniser = createSynchroniser({ ...options, chain: chainImpl, place: { chain, network } })
      known.set(name, { chain, network, synchroniser })
      return synchroniser
    },
    heardOf: ({ chain, network }, number) => known.get(`${chain}/${network}`)?.synchroniser.heardOf(number),
    all: () => [...known.values()],
    stop() {
      for (const { synchroniser } of known.values()) synchroniser.stop()
    },
  }
}
