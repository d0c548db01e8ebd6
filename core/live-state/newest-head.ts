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
 * The newest block of a network, from memory, at once if it can: it is followed while somebody asks for it, and what callers were told about is
 * waited for.
 * @throws SluiceError NETWORK where it is away
 */
export function newestHead(following: Pick<Synchronisers, 'of'>, on: FollowedNetwork, at: At): Head | Promise<Head> {
  const { chain, network } = on
  const [synchroniser, source, key] = [following.of(on), createStateSource({ chain, network }, anyBlock), 'newest block']
  return synchroniser.readNow(source, key)?.head ?? synchroniser.read(source, key, at).then(({ head }) => head)
}
