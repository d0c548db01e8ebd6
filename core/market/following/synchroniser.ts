import { SluiceError } from '../../api/index.ts'
import type { At, Chain, Head } from '../../contracts/index.ts'
import { within } from '../within.ts'
import type { Place, Witness } from '../witness.ts'
import { applyBlock } from './apply-block.ts'
import { createBundle, type Bundle, type BundlePart } from './bundle.ts'
import { checkSample } from './check-sample.ts'
import type { Way } from './find-way.ts'
import { createHeadChaser } from './head-chaser.ts'
import { createKeptTracks } from './kept-tracks.ts'
import { isNetworks, loadGroup, mostAtOnce } from './load-group.ts'
import { patienceMs } from './patience.ts'
import { loadingOf, type Changed, type Group, type Seen, type Source, type Track } from './track.ts'
import { createTrail } from './trail.ts'

/**
 * What is followed on one network, moved from block to block: one query of what happened for all of it. Nothing is asked while nothing is
 * followed.
 */
export interface Synchroniser {
  /** From memory, loaded when it is asked for first. @throws SluiceError NETWORK where the network is away or too far behind */
  read(source: Source, key: string, at: At): Promise<Seen>
  /** Calls back with every new state, and with `undefined` while there is none that may be shown. Until the function given is called. */
  watch(source: Source, key: string, changed: Changed): () => void
  /** Told whenever anything may have changed, or must not be shown any more. Until the function given is called. */
  onMove(moved: () => void): () => void
  /** Several states together, after the same block. */
  bundle(parts: readonly BundlePart[]): Bundle
  /** Somebody was told of a block: what is read from now on is not older, where the network can show it within a moment. */
  heardOf(number: bigint): void
  /** What is in memory cannot be right: it is read anew. */
  doubt(source: Source, key: string, why: SluiceError): void
  readonly kept: number
  readonly tip: Head | undefined
  stop(): void
}

export interface SynchroniserOptions {
  chain: Pick<Chain, 'head' | 'heads' | 'changes'>
  place: Place
  witness: Witness
  /** A state this many blocks behind what the network has is not shown. */
  staleBlocks: number
  checkSeconds: number
  idleSeconds: number
  mostKeys: number
}

const pulseMs = 1_000
/** So often is a network that moves on asked for its head, for one reading. */
const mostConfirmed = 8
/** And so often for a block that somebody was told of. */
const mostPromised = 3
/** So long is a block waited for that somebody was told of. */
const heardMs = 1_000

export function createSynchroniser(options: SynchroniserOptions): Synchroniser {
  const { chain, place, witness, staleBlocks, checkSeconds, idleSeconds, mostKeys } = options
  const name = `${place.chain}/${place.network}`
  const tracks = createKeptTracks(name, mostKeys, () => (version += 1))
  const trail = createTrail()
  const follow = () => tracks.groups().flatMap(({ source }) => source.followed.follow)
  const chaser = createHeadChaser({ chain, place, witness, trail, follow, go })
  let run: AbortController | undefined
  let shown = true
  let checkAt = 0
  const movers = new Set<() => void>()
  /** The newest block that somebody was told of, and how long it is waited for. */
  let promised = 0n
  let promisedUntil = 0
  /** Another one whenever anything may have changed of what is in memory. */
  let version = 0

  const isFresh = () =>
    trail.tip !== undefined && chaser.blocksBehind <= staleBlocks && performance.now() - chaser.freshAt <= patienceMs(trail, staleBlocks)

  /** Whether it may be read at once. */
  const isCurrent = () => isFresh() && ((trail.tip?.number ?? 0n) >= promised || performance.now() > promisedUntil)

  // From one head to the next.

  function go(to: Head, way: Way | undefined, asked: ReadonlySet<string>): void {
    version += 1
    if (way) move(way, asked)
    else restart(to)
    // A network that gives a block may give states again; what a connector cannot read is not tried at every block.
    for (const { group, track } of tracks.all())
      if (track.history.newest() === undefined && (track.error === undefined || isNetworks(track.error))) void want(group, track)
    tell()
  }

  function move({ back, blocks }: Way, asked: ReadonlySet<string>): void {
    if (trail.tip?.hash !== back.hash) {
      witness.trouble(place, 'reorganisation', `${name} took back the blocks after ${back.number}`)
      trail.rollBack(back.hash)
      for (const { track } of tracks.all()) track.history.rollBack(back.number)
    }
    for (const block of blocks) {
      trail.push({ ...block, asked })
      for (const group of tracks.groups()) applyBlock(group, block, witness)
    }
    for (const { track } of tracks.all()) track.history.prune(trail.oldest?.number ?? 0n)
  }

  function restart(head: Head): void {
    if (trail.tip)
      witness.trouble(place, 'reload', `too much of ${name} was missed before block ${head.number}; all that is followed is read anew`)
    trail.restart(head)
    for (const { track } of tracks.all()) track.history.clear()
  }

  // Loading.

  function want(group: Group, track: Track): Promise<void> {
    const { done, isNew } = loadingOf(track)
    if (isNew) group.wanted.add(track)
    if (group.wanted.size > 0 && !group.due) {
      group.due = true
      // All that is asked for together is loaded together.
      setImmediate(() => void load(group))
    }
    return done
  }

  async function load(group: Group): Promise<void> {
    group.due = false
    const signal = run?.signal
    for (;;) {
      if (!signal || signal.aborted || !trail.tip || group.wanted.size === 0) return
      const some = [...group.wanted].slice(0, mostAtOnce)
      for (const track of some) group.wanted.delete(track)
      await loadGroup(group, some, trail, witness, signal)
      version += 1
      if (!signal.aborted) tell()
    }
  }

  // Who reads and who is told.

  async function requireFresh({ signal }: At): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      await within(chaser.confirm(), signal)
      if (isFresh()) {
        // The question for the head may have been under way already when the block came.
        if ((trail.tip?.number ?? 0n) < promised && tries < mostPromised) continue
        // The node that was asked does not have it: what there is, is not too old.
        promised = 0n
        return
      }
      // While it was read what happened, more blocks came than it may be behind: then they are read together.
      if (chaser.isFailing || tries >= mostConfirmed) break
    }
    const blocks = chaser.blocksBehind > staleBlocks ? `, ${chaser.blocksBehind} blocks` : ''
    const why = chaser.isFailing ? chaser.reason : 'more blocks come than are read'
    throw new SluiceError('NETWORK', `What is known of ${name} is too old to be shown${blocks}: ${why}. Try again shortly.`, {
      retryAfterSeconds: 1,
    })
  }

  /** Each watcher what is new to it. */
  function tell(): void {
    for (const moved of movers) moved()
    const { tip } = trail
    for (const { track } of tracks.all()) {
      if (track.watchers.size === 0) continue
      const state = shown ? track.history.newest() : undefined
      if (state === track.told || (state === undefined && shown && track.error === undefined)) continue
      track.told = state
      for (const changed of track.watchers) changed(state === undefined || !tip ? undefined : { state, head: tip })
    }
  }

  // Time.

  function start(): void {
    if (run) return
    run = new AbortController()
    checkAt = performance.now() + checkSeconds * 1000
    const { signal } = run
    chaser.run(signal)
    const pulse = setInterval(beat, pulseMs)
    pulse.unref()
    signal.addEventListener('abort', () => clearInterval(pulse), { once: true })
  }

  function beat(): void {
    const now = performance.now()
    for (const each of tracks.all()) {
      const { group, track } = each
      if (track.watchers.size === 0 && now - track.usedAt > idleSeconds * 1000) tracks.letGo(each)
      else if (track.history.newest() === undefined && !track.loading && track.watchers.size > 0 && track.again.due())
        void want(group, track)
    }
    if (tracks.size === 0) return end()
    if (!isFresh())
      void chaser
        .confirm()
        .catch(() => {})
        .finally(show)
    else show()
    if (now < checkAt) return
    checkAt = now + checkSeconds * 1000
    for (const group of tracks.groups()) if (run) void checkSample(group, trail, witness, run.signal, (track) => again(group, track))
  }

  function show(): void {
    if (shown === isFresh()) return
    shown = !shown
    if (!shown) witness.trouble(place, 'lost', `what is known of ${name} is too old to be shown: ${chaser.reason}`)
    tell()
  }

  function again(group: Group, track: Track): void {
    track.history.clear()
    version += 1
    void want(group, track)
  }

  function end(): void {
    run?.abort()
    run = undefined
    shown = true
    trail.restart(undefined)
  }

  return {
    async read(source, key, at) {
      start()
      const { group, track } = tracks.of(source, key)
      track.usedAt = performance.now()
      if (!isCurrent()) await requireFresh(at)
      for (;;) {
        const state = track.history.newest()
        if (state !== undefined && trail.tip) return { state, head: trail.tip }
        if (track.error !== undefined && !track.again.due()) throw track.error
        await within(want(group, track), at.signal)
      }
    },
    watch(source, key, changed) {
      start()
      const { group, track } = tracks.of(source, key)
      const state = track.history.newest()
      if (state !== undefined && trail.tip && shown) {
        track.told = state
        changed({ state, head: trail.tip })
      } else if (!shown || track.told === undefined) changed(undefined)
      track.watchers.add(changed)
      if (state === undefined)
        void (trail.tip ? Promise.resolve() : chaser.confirm())
          .then(() => want(group, track))
          .catch((error: unknown) => {
            track.error ??= error
            tell()
          })
      return () => {
        track.watchers.delete(changed)
        track.usedAt = performance.now()
      }
    },
    onMove(moved) {
      movers.add(moved)
      return () => void movers.delete(moved)
    },
    bundle: (parts) =>
      createBundle(parts, {
        get version() {
          return version
        },
        get tip() {
          return trail.tip
        },
        isCurrent,
        async requireCurrent(at) {
          start()
          if (!isCurrent()) await requireFresh(at)
        },
        trackOf: ({ source, key, about }) => tracks.of(source, key, about),
        want,
      }),
    heardOf(number) {
      if (!trail.tip || number <= trail.tip.number) return
      if (number > promised || performance.now() > promisedUntil) promised = number
      promisedUntil = performance.now() + heardMs
    },
    doubt(source, key, why) {
      const track = tracks.find(source, key)
      if (!track) return
      track.history.clear()
      version += 1
      track.again.failed()
      track.error = why
    },
    get kept() {
      return tracks.size
    },
    get tip() {
      return trail.tip
    },
    stop() {
      for (const each of tracks.all()) tracks.letGo(each)
      end()
    },
  }
}
