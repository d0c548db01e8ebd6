import type { At, Followed, Head } from '../contracts/index.ts'
import type { FollowedNetwork, Synchronisers } from './synchroniser.ts'
import { createStateSource } from './tracked-states.ts'

/** A state that is true after each block, and of which nothing is read. */
const anyBlock: Followed = {
  follow: [],
  emitters: () => [],
  keysOf: () => [],
  load: async (keys, after) => ({ head: after, states: new Map(keys.map((key) => [key, true])) }),
  apply: (state) => state,
}

/**
 * The newest block of a network, from memory: it is followed while somebody asks for it, and what callers were told about is waited for.
 * @throws SluiceError NETWORK where it is away
 */
export async function newestHead(following: Pick<Synchronisers, 'of'>, on: FollowedNetwork, at: At): Promise<Head> {
  const { chain, network } = on
  return (await following.of(on).read(createStateSource({ chain, network }, anyBlock), 'newest block', at)).head
}
