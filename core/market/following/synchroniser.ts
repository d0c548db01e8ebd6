import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../../api/index.ts'
import type { At, Chain, Head } from '../../contracts/index.ts'
import { createBackoff } from '../backoff.ts'
import { createNews } from '../news.ts'
import { within } from '../within.ts'
import type { Place, Witness } from '../witness.ts'
import { applyBlock } from './apply-block.ts'
import { checkSample } from './check-sample.ts'
import { findWay, type Way } from './find-way.ts'
import { loadGroup, mostAtOnce } from './load-group.ts'
import { patienceMs } from './patience.ts'
import { createGroup, createTrack, loadingOf, type Changed, type Group, type Seen, type Source, type Track } from './track.ts'
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

const changesMs = 15_000
const pulseMs = 1_000

export function createSynchroniser(options: SynchroniserOptions): Synchroniser {
  const { chain, place, witness, staleBlocks, checkSeconds, idleSeconds, mostKeys } = options
  const name = `${place.chain}/${place.network}`
  const groups = new Map<object, Group>()
  const trail = createTrail()
  let kept = 0
  let run: AbortController | undefined
  let heard: Head | undefined
  const progress = createNews()
  let mover: AbortController | undefined
  let confirming: Promise<void> | undefined
  /** When what is in memory was last known to be of the newest block. */
  let freshAt = -Infinity
  let shown = true
  let reason = 'no block of it was seen yet'
  let checkAt = 0

  const tracksOf = () => [...groups.values()].flatMap((group) => [...group.tracks.values()].map((track) => ({ group, track })))
  const behind = () => (trail.tip && heard ? Number(heard.number - trail.tip.number) : 0)
  const isFresh = () => trail.tip !== undefined && behind() <= staleBlocks && performance.now() - freshAt <= patienceMs(trail, staleBlocks)

  // Heads, and the way from one to the next.

  async function listen(signal: AbortSignal): Promise<void> {
    const pause = createBackoff()
    while (!signal.aborted) {
      try {
        for await (const head of chain.heads(signal)) {
          hear(head)
          pause.reset()
        }
      } catch (error) {
        reason = reasonOf(error)
        if (!signal.aborted) witness.trouble(place, 'lost', `the blocks of ${name} cannot be followed: ${reason}`, error)
      }
      pause.failed()
      await sleep(pause.pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  function hear(head: Head): void {
    heard = head
    if (!run || mover === run) return
    mover = run
    void move(run)
  }

  async function move(mine: AbortController): Promise<void> {
    const { signal } = mine
    const pause = createBackoff(200, 5_000)
    for (;;) {
      const to = heard
      if (!to || to.hash === trail.tip?.hash || signal.aborted) break
      try {
        const asked = new Set([...groups.values()].flatMap(({ source }) => source.followed.follow))
        const at = { signal: AbortSignal.any([signal, AbortSignal.timeout(changesMs)]) }
        const way = await findWay(trail, to, (after, last) => within(changesBetween(after, last, [...asked], at), at.signal))
        if (signal.aborted) break
        if (way) go(way, asked)
        else restart(to)
        pause.reset()
      } catch (error) {
        if (signal.aborted) break
        reason = reasonOf(error)
        if (pause.pauseMs <= 200)
          witness.trouble(place, 'lost', `what happened in block ${to.number} of ${name} could not be read: ${reason}`, error)
        pause.failed()
        progress.tell()
        await sleep(pause.pauseMs, undefined, { signal }).catch(() => {})
        continue
      }
      freshAt = performance.now()
      progress.tell()
      tell()
    }
    if (heard?.hash === trail.tip?.hash) freshAt = performance.now()
    if (mover === mine) mover = undefined
  }

  function changesBetween(...args: Parameters<NonNullable<Chain['changes']>>) {
    if (!chain.changes) throw new SluiceError('UNSUPPORTED', `What happens on ${name} cannot be followed.`)
    return chain.changes(...args)
  }

  function go({ back, blocks }: Way, asked: ReadonlySet<string>): void {
    if (trail.tip?.hash !== back.hash) {
      witness.trouble(place, 'reorganisation', `${name} took back the blocks after ${back.number}`)
      trail.rollBack(back.hash)
      for (const { track } of tracksOf()) track.history.rollBack(back.number)
    }
    for (const block of blocks) {
      trail.push({ ...block, asked })
      for (const group of groups.values()) applyBlock(group, block, witness)
    }
    const oldest = trail.oldest?.number ?? 0n
    for (const { group, track } of tracksOf()) {
      track.history.prune(oldest)
      if (track.history.newest() === undefined) void want(group, track)
    }
  }

  function restart(head: Head): void {
    if (trail.tip)
      witness.trouble(place, 'reload', `too much of ${name} was missed before block ${head.number}; all that is followed is read anew`)
    trail.restart(head)
    for (const { group, track } of tracksOf()) {
      track.history.clear()
      void want(group, track)
    }
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
      if (!signal.aborted) tell()
    }
  }

  // Who reads and who is told.

  function trackOf(source: Source, key: string): { group: Group; track: Track } {
    start()
    const group = groups.get(source.followed) ?? createGroup(source)
    groups.set(source.followed, group)
    const known = group.tracks.get(key)
    if (known) return { group, track: known }
    if (kept >= mostKeys) makeRoom()
    const track = createTrack(key)
    group.tracks.set(key, track)
    kept += 1
    return { group, track }
  }

  function makeRoom(): void {
    const [oldest] = tracksOf()
      .filter(({ track }) => track.watchers.size === 0)
      .toSorted((a, b) => a.track.usedAt - b.track.usedAt)
    if (!oldest)
      throw new SluiceError('OVERLOADED', `${mostKeys} states of ${name} are followed, which is the most.`, { retryAfterSeconds: 5 })
    letGo(oldest)
  }

  function letGo({ group, track }: { group: Group; track: Track }): void {
    kept -= 1
    group.tracks.delete(track.key)
    group.wanted.delete(track)
    track.loading?.settle(new SluiceError('NETWORK', `${track.key} is not followed any more. Try again.`, { retryAfterSeconds: 1 }))
    if (group.tracks.size === 0) groups.delete(group.source.followed)
  }

  /** Asks the network where it said nothing for longer than it should. */
  const confirm = (): Promise<void> =>
    (confirming ??= ask().finally(() => {
      confirming = undefined
    }))

  async function ask(): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(changesMs), ...(run ? [run.signal] : [])])
    const head = await within(chain.head({ signal }), signal).catch((error: unknown) => {
      reason = reasonOf(error)
      throw error instanceof SluiceError
        ? error
        : new SluiceError('NETWORK', `${name} did not answer in time. Try again.`, { retryAfterSeconds: 1 })
    })
    if (head.hash === trail.tip?.hash) freshAt = performance.now()
    else if (!trail.tip || head.number > trail.tip.number) {
      if (!heard || head.number > heard.number) hear(head)
      if (mover === run) await progress.wait(changesMs, signal)
    }
  }

  async function requireFresh({ signal }: At): Promise<void> {
    await within(confirm(), signal)
    if (isFresh()) return
    const blocks = behind() > staleBlocks ? `, ${behind()} blocks` : ''
    throw new SluiceError('NETWORK', `What is known of ${name} is too old to be shown${blocks}: ${reason}. Try again shortly.`, {
      retryAfterSeconds: 1,
    })
  }

  /** Each watcher what is new to it. */
  function tell(): void {
    const { tip } = trail
    for (const { track } of tracksOf()) {
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
    void listen(signal)
    const pulse = setInterval(beat, pulseMs)
    pulse.unref()
    signal.addEventListener('abort', () => clearInterval(pulse), { once: true })
  }

  function beat(): void {
    const now = performance.now()
    for (const each of tracksOf()) {
      const { group, track } = each
      if (track.watchers.size === 0 && now - track.usedAt > idleSeconds * 1000) letGo(each)
      else if (track.history.newest() === undefined && !track.loading && track.watchers.size > 0 && track.again.due())
        void want(group, track)
    }
    if (kept === 0) return end()
    if (!isFresh())
      void confirm()
        .catch(() => {})
        .finally(show)
    else show()
    if (now < checkAt) return
    checkAt = now + checkSeconds * 1000
    for (const group of groups.values()) if (run) void checkSample(group, trail, witness, run.signal, (track) => again(group, track))
  }

  function show(): void {
    if (shown === isFresh()) return
    shown = !shown
    if (!shown) witness.trouble(place, 'lost', `what is known of ${name} is too old to be shown: ${reason}`)
    tell()
  }

  function again(group: Group, track: Track): void {
    track.history.clear()
    void want(group, track)
  }

  function end(): void {
    run?.abort()
    run = undefined
    heard = undefined
    freshAt = -Infinity
    shown = true
    trail.restart(undefined)
  }

  return {
    async read(source, key, at) {
      const { group, track } = trackOf(source, key)
      track.usedAt = performance.now()
      if (!isFresh()) await requireFresh(at)
      for (;;) {
        const state = track.history.newest()
        if (state !== undefined && trail.tip) return { state, head: trail.tip }
        if (track.error !== undefined && !track.again.due()) throw track.error
        await within(want(group, track), at.signal)
      }
    },
    watch(source, key, changed) {
      const { group, track } = trackOf(source, key)
      const state = track.history.newest()
      if (state !== undefined && trail.tip && shown) {
        track.told = state
        changed({ state, head: trail.tip })
      } else if (!shown || track.told === undefined) changed(undefined)
      track.watchers.add(changed)
      if (state === undefined)
        void (trail.tip ? Promise.resolve() : confirm())
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
    doubt(source, key, why) {
      const group = groups.get(source.followed)
      const track = group?.tracks.get(key)
      if (!group || !track) return
      track.history.clear()
      track.again.failed()
      track.error = why
    },
    get kept() {
      return kept
    },
    get tip() {
      return trail.tip
    },
    stop() {
      for (const each of tracksOf()) letGo(each)
      end()
    },
  }
}

/** The first sentence of what was meant for callers. */
const reasonOf = (error: unknown): string =>
  error instanceof SluiceError ? (error.message.split(/\.(?= |$)/)[0] ?? '') : 'it did not answer in time, or with what it should'
