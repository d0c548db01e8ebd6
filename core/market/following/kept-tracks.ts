import { SluiceError } from '../../api/index.ts'
import { createGroup, createTrack, type Group, type Source, type Track } from '../../live-state/tracked-states.ts'

export interface KeptTrack {
  readonly group: Group
  readonly track: Track
}

/** What is followed on one network, and no more of it than there is room for. */
export interface KeptTracks {
  /** Made where it is not there yet. @throws SluiceError OVERLOADED where all that is kept is watched */
  of(source: Source, key: string, about?: unknown): KeptTrack
  find(source: Source, key: string): Track | undefined
  /** One after the other: they may be let go meanwhile. */
  all(): Iterable<KeptTrack>
  groups(): readonly Group[]
  letGo(each: KeptTrack): void
  readonly size: number
}

/** So much of what there is room for is made free at once: whoever asks for ever new things does not have all sorted for each. */
const madeFree = 1 / 32

/** @param gone told of each that was let go */
export function createKeptTracks(network: string, mostKeys: number, gone: () => void): KeptTracks {
  const groups = new Map<object, Group>()
  let size = 0

  function* all(): Generator<KeptTrack> {
    for (const group of groups.values()) for (const track of group.tracks.values()) yield { group, track }
  }

  function makeRoom(): void {
    const oldest = [...all()]
      .filter(({ track }) => track.watchers.size === 0)
      .toSorted((a, b) => a.track.usedAt - b.track.usedAt)
      .slice(0, Math.ceil(mostKeys * madeFree))
    if (oldest.length === 0)
      throw new SluiceError('OVERLOADED', `${mostKeys} states of ${network} are followed, which is the most.`, { retryAfterSeconds: 5 })
    for (const each of oldest) letGo(each)
  }

  function letGo({ group, track }: KeptTrack): void {
    size -= 1
    group.tracks.delete(track.key)
    group.wanted.delete(track)
    track.loading?.settle(new SluiceError('NETWORK', `${track.key} is not followed any more. Try again.`, { retryAfterSeconds: 1 }))
    if (group.tracks.size === 0) groups.delete(group.source.followed)
    gone()
  }

  return {
    of(source, key, about) {
      const known = groups.get(source.followed)?.tracks.get(key)
      const there = known && groups.get(source.followed)
      if (known && there) return { group: there, track: known }
      if (size >= mostKeys) makeRoom()
      const group = groups.get(source.followed) ?? createGroup(source)
      groups.set(source.followed, group)
      const track = createTrack(key, about)
      group.tracks.set(key, track)
      size += 1
      return { group, track }
    },
    find: (source, key) => groups.get(source.followed)?.tracks.get(key),
    all,
    groups: () => [...groups.values()],
    letGo,
    get size() {
      return size
    },
  }
}
