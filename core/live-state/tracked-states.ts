// The states of one network that are kept in memory: by exchange and key, with their last versions, and bundles that are read together.
import { isDeepStrictEqual } from 'node:util'
import { createBackoff, type Backoff, abortable } from '../base/async.ts'
import type { AccountImage, Followed, Head, HeadChanges, Interest, At, MissingState } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import { payerOf, type Payer } from '../base/fair-turns.ts'
import { isObject } from '../base/json.ts'
import { isAccountImage, isSameHead, type HistoryBlock } from './blocks.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'

/** What an exchange has on its network to be followed. One object for each exchange. */
export interface StateSource {
  readonly subject: StateSubject
  readonly followed: Followed
  /** Whether the state in memory equals the one that was loaded after the same block. */
  same(key: string, inMemory: unknown, loaded: unknown, head: Head): boolean
}

export const createStateSource = (subject: StateSubject, followed: Followed): StateSource => ({
  subject,
  followed,
  same: (_key, inMemory, loaded, head) =>
    loaded !== undefined && (followed.same ? followed.same(inMemory, loaded, head) : isDeepStrictEqual(inMemory, loaded)),
})

/** A state, and the newest block that it includes. */
export interface StateAtBlock {
  readonly state: unknown
  readonly head: Head
}

export type StateListener = (now: StateAtBlock | undefined) => void

/** What a state needs to know of a block besides its changes. */
export interface OfBlock {
  readonly head: Head | undefined
  readonly more: readonly unknown[]
}

export const nothingOfBlock: OfBlock = { head: undefined, more: [] }

/** One key of an exchange. */
export interface TrackedState {
  readonly group: StateGroup
  readonly key: string
  /** What the first reader passed along with the key. */
  readonly about: unknown
  /** What readers found missing in the state, newest last. The source loads it too. */
  readonly more: unknown[]
  /** What is to be read of a block besides: of the newest one when it was asked. */
  ofBlock: OfBlock
  readonly history: StateHistory
  /** Where changes are images of accounts. */
  readonly images: ImageSlots | undefined
  /** What the last state was made of: it is read along while that state is loaded again. */
  lastFollowed?: readonly string[]
  readonly listeners: Set<StateListener>
  /** When it may be loaded again after a failure. */
  readonly retry: Backoff
  usedAt: number
  /** Who asked for it to be loaded. */
  payer?: Payer | undefined
  /** Why the last load failed. */
  error?: unknown
  /** Settles when the state is loaded, or cannot be. */
  loading?: {
    readonly done: Promise<void>
    settle(error?: unknown): void
    /** The part of `more`, and of `ofBlock`, that this load asks for; undefined until it begins. */
    asked?: readonly unknown[]
  }
  /** The state that the listeners have. */
  lastTold: unknown
}

/** All tracked states of one exchange. */
export interface StateGroup {
  readonly source: StateSource
  readonly states: Map<string, TrackedState>
  /** To be loaded next. */
  readonly wanted: Set<TrackedState>
  isLoadScheduled: boolean
}

const neverTold = Symbol('never told')

const createTrackedState = (group: StateGroup, key: string, about: unknown, images: boolean): TrackedState => ({
  group,
  key,
  about,
  more: [],
  ofBlock: nothingOfBlock,
  history: new StateHistory(),
  images: images ? new ImageSlots() : undefined,
  listeners: new Set(),
  retry: createBackoff(),
  usedAt: performance.now(),
  lastTold: neverTold,
})

/** Why there is no state now. Undefined while it is being loaded, or may be loaded again. */
export const failureOf = ({ error, loading, retry }: TrackedState): unknown => (loading || retry.due() ? undefined : error)

/** All tracked states of one network, at most `maxKeys`. */
interface TrackedStates {
  /** Creates it if it is not tracked yet. @throws SluiceError OVERLOADED if every one of `maxKeys` states has listeners */
  of(source: StateSource, key: string, about?: unknown): TrackedState
  find(source: StateSource, key: string): TrackedState | undefined
  /** States may be dropped during the iteration. */
  all(): Iterable<TrackedState>
  groups(): readonly StateGroup[]
  drop(state: TrackedState): void
  readonly size: number
}

/** Share of the states that is dropped at once when there is no room, so that not every new key sorts them all. */
const droppedShare = 1 / 32

export function createTrackedStates(network: string, maxKeys: number, onDrop: () => void, images = false): TrackedStates {
  const groups = new Map<Followed, StateGroup>()
  let size = 0

  function* all(): Generator<TrackedState> {
    for (const { states } of groups.values()) yield* states.values()
  }

  function makeRoom(): void {
    const oldest = [...all()]
      .filter(({ listeners }) => listeners.size === 0)
      .toSorted((a, b) => a.usedAt - b.usedAt)
      .slice(0, Math.ceil(maxKeys * droppedShare))
    if (oldest.length === 0)
      throw new SluiceError('OVERLOADED', `${maxKeys} states of ${network} are followed, the maximum. Try again later.`, {
        retryAfterSeconds: 5,
      })
    for (const each of oldest) drop(each)
  }

  function drop(state: TrackedState): void {
    const { group, key } = state
    size -= 1
    group.states.delete(key)
    group.wanted.delete(state)
    state.loading?.settle(new SluiceError('NETWORK', `${key} is no longer followed. Try again.`, { retryAfterSeconds: 1 }))
    if (group.states.size === 0) groups.delete(group.source.followed)
    onDrop()
  }

  const find = (source: StateSource, key: string) => groups.get(source.followed)?.states.get(key)

  return {
    of(source, key, about) {
      const known = find(source, key)
      if (known) return known
      if (size >= maxKeys) makeRoom()
      const group = groups.get(source.followed) ?? { source, states: new Map(), wanted: new Set(), isLoadScheduled: false }
      groups.set(source.followed, group)
      const state = createTrackedState(group, key, about, images)
      group.states.set(key, state)
      size += 1
      return state
    },
    find,
    all,
    groups: () => [...groups.values()],
    drop,
    get size() {
      return size
    },
  }
}

/** One version of a state, and the block that made it. */
interface Version {
  readonly from: bigint
  readonly state: unknown
  before: Version | undefined
  after: Version | undefined
}

/**
 * The versions of one state, each valid from its block on. States are immutable, so a rollback only drops versions. They are a linked list:
 * with every block thousands of states get a new version, and a link lies beside its state, where an array would be elsewhere in memory.
 */
class StateHistory {
  #newest: Version | undefined
  #oldest: Version | undefined

  /** Undefined if there is no version. */
  newest(): unknown {
    return this.#newest?.state
  }

  /** The block that made the newest version. */
  get newestFrom(): bigint | undefined {
    return this.#newest?.from
  }

  /** The state after a block; undefined if that is unknown, or no longer known. */
  at(number: bigint): unknown {
    let version = this.#newest
    while (version && version.from > number) version = version.before
    return version?.state
  }

  put(from: bigint, state: unknown): void {
    const newest = this.#newest
    const before = newest?.from === from ? newest.before : newest
    const version: Version = { from, state, before, after: undefined }
    if (before) before.after = version
    else this.#oldest = version
    this.#newest = version
  }

  /** Drops the versions made after a block. */
  rollBack(number: bigint): void {
    while (this.#newest && this.#newest.from > number) this.#newest = this.#newest.before
    if (this.#newest) this.#newest.after = undefined
    else this.#oldest = undefined
  }

  /** Drops the versions that no rollback to `oldest` or later can need. */
  prune(oldest: bigint): void {
    for (let next = this.#oldest?.after; next && next.from <= oldest; next = next.after) {
      next.before = undefined
      this.#oldest = next
    }
  }

  clear(): void {
    this.#newest = undefined
    this.#oldest = undefined
  }
}

/** By which image each account of a state is known. What nodes say later may be older. */
class ImageSlots {
  #loadedAt = 0n
  readonly #slots = new Map<string, bigint>()

  /** All accounts are those of a reading. */
  restart(loadedAt: bigint): void {
    this.#loadedAt = loadedAt
    this.#slots.clear()
  }

  /** False for an image that is older than what the state has of the account. */
  take({ address, slot }: AccountImage): boolean {
    const from = BigInt(slot)
    if (from < (this.#slots.get(address) ?? this.#loadedAt)) return false
    this.#slots.set(address, from)
    return true
  }

  /** Whether each of these accounts is known by an image of this slot or a newer one. */
  reach(addresses: readonly string[], slot: bigint): boolean {
    return addresses.every((address) => (this.#slots.get(address) ?? this.#loadedAt) >= slot)
  }
}

/** The keys of states with the further names that the states themselves tell. */
const namesOf = ({ aliases }: Followed, states: Iterable<TrackedState>): readonly string[] =>
  [...states].flatMap(({ key, history }) => {
    const state = aliases && history.newest()
    return aliases && state !== undefined ? [key, ...aliases(state)] : [key]
  })

/** What is read of every block for a state. */
function followedOf({ followOf }: Followed, tracked: TrackedState): readonly string[] {
  const state = tracked.history.newest()
  if (!tracked.images) return followOf?.(tracked.key, state) ?? []
  if (state !== undefined || !tracked.lastFollowed) tracked.lastFollowed = followOf?.(tracked.key, state) ?? []
  return tracked.lastFollowed
}

/** What each block is asked for: the topics and emitters of all groups. */
export function interestIn(groups: readonly StateGroup[]): Interest {
  return {
    follow: groups.flatMap(({ source: { followed }, states }) =>
      followed.followOf ? [...followed.follow, ...[...states.values()].flatMap((each) => followedOf(followed, each))] : followed.follow,
    ),
    from() {
      const emitters = groups.map(({ source: { followed }, states }) => followed.emitters?.(namesOf(followed, states.values())))
      return emitters.every((each) => each !== undefined) ? emitters.flat() : undefined
    },
  }
}

/** The states of a group that may have changed in a block unnoticed, as the block was not asked for all that concerns them. */
export function uncoveredBy(
  { head, asked, from }: Pick<HistoryBlock, 'head' | 'asked' | 'from'>,
  { source: { followed } }: StateGroup,
  states: Iterable<TrackedState>,
): readonly TrackedState[] {
  const isMissing = (topic: string) => !asked.has(topic)
  if (followed.follow.some(isMissing)) return [...states]
  if (!followed.followOf && !from) return []
  const named = from && new Set(from)
  const isNamed = (state: TrackedState) => !named || followed.emitters?.(namesOf(followed, [state])).every((each) => named.has(each))
  const isNewer = ({ images, history }: TrackedState) => images && (history.newestFrom ?? -1n) >= head.number
  return [...states].filter((each) => !isNewer(each) && (followedOf(followed, each).some(isMissing) || !isNamed(each)))
}

/** By state: what was asked of a block when it was read. A connector may say each time what it needs, whatever the state has of it. */
const askedOf = new WeakMap<object, OfBlock>()

/** This state was read after a block with all that was asked of that block. */
export function markAsked(state: unknown, asked: OfBlock, read: Head): void {
  if (isObject(state) && asked.more.length > 0 && isSameHead(read, asked.head)) askedOf.set(state, asked)
}

/** What a state in memory still needs to know of the block of this head. Nothing where the connector fails to say it, which is reported. */
function neededOf(
  { key, group: { source } }: Pick<TrackedState, 'key' | 'group'>,
  state: unknown,
  head: Head,
  telemetry: Telemetry,
): readonly unknown[] {
  const { followed, subject } = source
  if (!followed.ofBlock) return []
  const asked = isObject(state) ? askedOf.get(state) : undefined
  const known = asked && isSameHead(head, asked.head) ? asked.more : []
  try {
    return followed.ofBlock(state, head).filter((each) => !known.some((other) => isDeepStrictEqual(each, other)))
  } catch (cause) {
    telemetry.trouble({ ...subject, what: key }, 'defect', 'the connector failed to say what it needs of a block', cause)
    return []
  }
}

/** How long after its last use a state is still read with each block. Bundles mark theirs as used every five seconds. */
const liveMs = 15_000

/** The states of a group of which something is to be read with this block, as somebody may soon ask for it. */
export function readWithBlock({ source: { followed }, states }: StateGroup, head: Head, telemetry: Telemetry): readonly TrackedState[] {
  if (!followed.ofBlock) return []
  const since = performance.now() - liveMs
  const found: TrackedState[] = []
  for (const tracked of states.values()) {
    const state = tracked.history.newest()
    if (state === undefined || (tracked.usedAt < since && tracked.listeners.size === 0)) continue
    tracked.ofBlock = { head, more: neededOf(tracked, state, head, telemetry) }
    if (tracked.ofBlock.more.length > 0) found.push(tracked)
  }
  return found
}

/** Applies a block to the states of a group, or to `only` these. Returns the states that cannot be derived from it and must be loaded again. */
export function applyBlock(
  group: StateGroup,
  block: HistoryBlock,
  telemetry: Telemetry,
  only?: ReadonlySet<TrackedState>,
): readonly TrackedState[] {
  const { followed, subject } = group.source
  const { head } = block
  const lost: TrackedState[] = []
  let moved = 0
  /** The newest slot of the images that changed a state. */
  const changedAt = new Map<TrackedState, bigint>()
  const byAlias = new Map<string, Set<TrackedState>>()
  const noteAliases = (tracked: TrackedState) => {
    for (const alias of namesOf(followed, [tracked]).slice(1)) byAlias.set(alias, (byAlias.get(alias) ?? new Set()).add(tracked))
  }
  const named = block.from && new Set(block.from)
  /** Whether the block was asked for what a state names only now: a pool that was made in it may have emitted events in it already. */
  const isCovered = (tracked: TrackedState) =>
    (!named || (followed.emitters?.(namesOf(followed, [tracked])).every((each) => named.has(each)) ?? false)) &&
    (!tracked.images || followedOf(followed, tracked).every((each) => block.asked.has(each)))

  /** Undefined if the state must be loaded again. */
  function next(key: string, state: unknown, change: HeadChanges['changes'][number]): unknown {
    try {
      const after = followed.apply(state, change, head)
      if (after === undefined) throw new Error('apply returned nothing')
      if (after !== 'reload') return after
      telemetry.trouble({ ...subject, what: key }, 'reload', 'an event does not determine the new state; it is loaded again')
    } catch (cause) {
      telemetry.trouble({ ...subject, what: key }, 'defect', 'the connector failed to apply an event; the state is loaded again', cause)
    }
    return undefined
  }

  if (followed.aliases) for (const each of group.states.values()) noteAliases(each)
  for (const change of block.changes) {
    let keys: readonly string[]
    try {
      keys = followed.keysOf(change)
    } catch (cause) {
      telemetry.trouble(subject, 'defect', 'the connector failed to name the keys of an event; all its states are loaded again', cause)
      for (const each of group.states.values()) each.history.clear()
      return [...group.states.values()]
    }
    const found = keys.flatMap((key) => {
      const own = group.states.get(key)
      // An account may be a state of its own, and a part of others.
      return own && !isAccountImage(change) ? own : [...(own ? [own] : []), ...(byAlias.get(key) ?? [])]
    })
    // A change may be named by a key and by what else its state is called.
    const concerned = followed.aliases ? new Set(found) : found
    for (const tracked of concerned) {
      const state = tracked.history.newest()
      if ((only && !only.has(tracked)) || state === undefined) continue
      const image = tracked.images && isAccountImage(change) ? change : undefined
      if (image && !tracked.images?.take(image)) continue
      const after = next(tracked.key, state, change)
      if (after === undefined) {
        tracked.history.clear()
        lost.push(tracked)
      } else if (after !== state) {
        tracked.history.put(image ? newerOf(BigInt(image.slot), tracked.history.newestFrom) : head.number, after)
        moved += 1
        if (image) changedAt.set(tracked, newerOf(BigInt(image.slot), changedAt.get(tracked)))
        if (!followed.aliases && !image) continue
        noteAliases(tracked)
        if (isCovered(tracked)) continue
        tracked.history.clear()
        lost.push(tracked)
      }
    }
  }
  // What changed at one slot does not go with what is known of an older one: a state is of one slot. What has not changed is of any.
  for (const [tracked, slot] of changedAt) {
    if (tracked.history.newest() === undefined || tracked.images?.reach(followedOf(followed, tracked), slot)) continue
    telemetry.trouble({ ...subject, what: tracked.key }, 'reload', 'its accounts were read at several slots; the state is loaded again')
    tracked.history.clear()
    lost.push(tracked)
  }
  if (moved > 0) telemetry.update(subject, moved)
  return lost
}

const newerOf = (one: bigint, other = 0n): bigint => (one > other ? one : other)

/** One state of a bundle. */
export interface BundlePart {
  readonly source: StateSource
  readonly key: string
  readonly about?: unknown
}

/** States after one block, in the order of the parts. `states` stays the same array until one of them changes. */
export interface StateSnapshot {
  readonly states: readonly unknown[]
  readonly head: Head
}

/** States of one network that are read together, again and again. */
export interface Bundle {
  readonly parts: readonly BundlePart[]
  /** Whether states may be newer than the head that they are shown with. */
  readonly images: boolean
  /** Reads without waiting: the same object until something may have changed. Undefined if `read` would have to wait. */
  peek(): StateSnapshot | undefined
  /** @throws SluiceError NETWORK if the network is away or too far ahead */
  read(at: At): Promise<StateSnapshot>
  /** Keeps the states in memory until the returned function is called. @throws SluiceError OVERLOADED if there is no room */
  hold(): () => void
  /**
   * What states of a snapshot need to know of its block besides the changes, and was not read yet: no answer may be made of a part of that, as
   * another one would have more.
   */
  unread(snapshot: StateSnapshot): readonly MissingState[]
  /** Reads that for the newest block. */
  readOfBlock(unread: readonly MissingState[], at: At): Promise<void>
  /** Loads some states again, with what a reader found missing in them. */
  loadMissing(missing: readonly MissingState[], at: At): Promise<void>
  /** Later loads do not ask for it again. The states keep what they know. */
  forgetMissing(missing: readonly MissingState[]): void
}

/** What a bundle uses of the synchroniser of its network. */
interface BundleHost {
  /** Increases whenever a state may have changed. */
  readonly version: number
  readonly images: boolean
  readonly tip: Head | undefined
  readonly telemetry: Telemetry
  isCurrent(): boolean
  requireCurrent(at: At): Promise<void>
  stateOf(part: BundlePart): TrackedState
  load(state: TrackedState, payer: Payer | undefined): Promise<void>
}

/** States that are read without a change are marked as used so often. */
const touchMs = 5_000
/** What readers found missing in one state; the oldest is given up beyond it. */
const maxMissing = 64

const nothingUnread: readonly never[] = []

export function createBundle(parts: readonly BundlePart[], host: BundleHost): Bundle {
  /** Of most exchanges no block says more than its changes do. */
  const needsOfBlocks = parts.some(({ source }) => source.followed.ofBlock)
  let checked: { readonly of: StateSnapshot; readonly unread: readonly MissingState[] } | undefined
  let snapshot: StateSnapshot | undefined
  let version = -1
  let touchedAt = -Infinity

  function touch(): void {
    touchedAt = performance.now()
    for (const part of parts) host.stateOf(part).usedAt = touchedAt
  }

  function peek(): StateSnapshot | undefined {
    const { tip } = host
    if (!tip || !host.isCurrent()) return undefined
    if (performance.now() - touchedAt > touchMs) touch()
    if (version === host.version && snapshot) return snapshot
    const states: unknown[] = []
    for (const part of parts) {
      const state = host.stateOf(part).history.newest()
      if (state === undefined) return undefined
      states.push(state)
    }
    const isSame = snapshot?.states.every((state, index) => state === states[index])
    snapshot = { states: isSame && snapshot ? snapshot.states : states, head: tip }
    version = host.version
    return snapshot
  }

  return {
    parts,
    images: host.images,
    peek,
    async read(at) {
      // A network without tracked states is not followed.
      touch()
      for (;;) {
        await host.requireCurrent(at)
        const now = peek()
        if (now) return now
        const loading: Promise<void>[] = []
        for (const part of parts) {
          const state = host.stateOf(part)
          if (state.history.newest() !== undefined) continue
          const failure = failureOf(state)
          if (failure !== undefined) throw failure
          loading.push(host.load(state, payerOf(at.signal)))
        }
        await abortable(Promise.all(loading), at.signal)
      }
    },
    hold() {
      // States with listeners are not dropped.
      const listener = () => {}
      const states = parts.map(host.stateOf)
      for (const { listeners } of states) listeners.add(listener)
      return () => {
        for (const { listeners } of states) listeners.delete(listener)
        touch()
      }
    },
    unread(of) {
      if (!needsOfBlocks) return nothingUnread
      if (checked?.of === of) return checked.unread
      const unread = parts.flatMap((part, index) =>
        neededOf(host.stateOf(part), of.states[index], of.head, host.telemetry).map((more) => ({ index, more })),
      )
      checked = { of, unread }
      return unread
    },
    async readOfBlock(unread, at) {
      const { tip } = host
      const loading = [...new Set(unread.map(({ index }) => index))].map((index) => {
        const part = parts[index]
        if (!part) throw new Error(`The bundle has no part ${index}.`)
        const state = host.stateOf(part)
        const isAsked = tip !== undefined && state.ofBlock.more.length > 0 && isSameHead(tip, state.ofBlock.head)
        if (!isAsked) state.ofBlock = { head: tip, more: unread.filter((each) => each.index === index).map(({ more }) => more) }
        return host.load(state, payerOf(at.signal))
      })
      await abortable(Promise.all(loading), at.signal)
    },
    async loadMissing(missing, at) {
      const loading = missing.map(async ({ index, more }) => {
        const part = parts[index]
        if (!part) throw new Error(`The bundle has no part ${index}.`)
        const state = host.stateOf(part)
        const includesMore = (list: readonly unknown[]) => list.some((each) => isDeepStrictEqual(each, more))
        if (!includesMore(state.more)) state.more.push(more)
        if (state.more.length > maxMissing) state.more.shift()
        // A load that began without it does not bring it.
        while (state.loading?.asked && !includesMore(state.loading.asked)) await state.loading.done.catch(() => {})
        return host.load(state, payerOf(at.signal))
      })
      await abortable(Promise.all(loading), at.signal)
    },
    forgetMissing(missing) {
      for (const { index, more } of missing) {
        const part = parts[index]
        const list = part && host.stateOf(part).more
        const at = list?.findIndex((each) => isDeepStrictEqual(each, more)) ?? -1
        if (at >= 0) list?.splice(at, 1)
      }
    },
  }
}
