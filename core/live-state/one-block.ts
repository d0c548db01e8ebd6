// Quotes of one request that are all of one block, however many blocks come while pools are read for them.
import { abortable, pause } from '../base/async.ts'
import type { At, KnownOf, MissingState } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import { isSameHead } from './blocks.ts'
import { requireRead } from './loading.ts'
import { markAsked, type Bundle, type BundlePart, type StateSnapshot } from './tracked-states.ts'

/** The states that a pair's quotes depend on, after one block, and what was read further of them for the quotes of one request. */
export interface PinnedStates {
  /** Another object after each read. */
  readonly snapshot: StateSnapshot
  /** Reads what quotes found missing, after the same block: together for all that ask in one turn of the event loop. */
  readMore(missing: readonly MissingState[], at: At): Promise<void>
  /** Reads what the states need to know of that block besides the changes. Undefined where all of it is there. */
  readOfBlock(at: At): Promise<void> | undefined
}

/** One request's view of the states in memory: the first quote of a pair decides after which block the others are computed. */
export class OneBlock {
  readonly #states = new Map<Bundle, PinnedStates>()

  /** At once where the states are in memory. */
  statesOf(bundle: Bundle, at: At): PinnedStates | Promise<PinnedStates> {
    return this.peek(bundle) ?? bundle.read(at).then((loaded) => this.#states.get(bundle) ?? this.#pin(bundle, loaded))
  }

  /** Undefined where `statesOf` would have to wait. */
  peek(bundle: Bundle): PinnedStates | undefined {
    const known = this.#states.get(bundle)
    if (known) return known
    const snapshot = bundle.peek()
    return snapshot && this.#pin(bundle, snapshot)
  }

  /** Whether all states are after the same block. */
  get isOne(): boolean {
    const [first, ...others] = [...this.#states.values()].map(({ snapshot }) => snapshot.head)
    // Two of one number may be of two forks.
    return first === undefined || others.every((head) => isSameHead(head, first))
  }

  #pin(bundle: Bundle, snapshot: StateSnapshot): PinnedStates {
    const pinned = pinnedStates(bundle, snapshot)
    this.#states.set(bundle, pinned)
    return pinned
  }
}

/** So often more is read of one block than what its changes say. */
const maxReadsOfBlock = 8

/** Of a bundle, after the block of this snapshot. */
export function pinnedStates(bundle: Pick<Bundle, 'parts' | 'images' | 'unread'>, first: StateSnapshot): PinnedStates {
  let snapshot = first
  let isWhole = false
  let readingOfBlock: Promise<void> | undefined
  let wanted: MissingState[] = []
  /** Of all that ask in this turn. */
  let next: Promise<void> | undefined
  /** One after the other: each keeps what those before it read. */
  let last = Promise.resolve()

  async function read(at: At): Promise<void> {
    const [missing, before] = [wanted, last]
    wanted = []
    next = undefined
    await before.catch(() => {})
    snapshot = await loadMore(bundle, snapshot, missing, at)
  }

  function readMore(missing: readonly MissingState[], at: At): Promise<void> {
    wanted.push(...missing)
    next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => (last = read(at)))
    return abortable(next, at.signal)
  }

  /** What is needed may tell only then what else is. */
  async function readAllOfBlock(at: At): Promise<void> {
    for (let reads = 0; reads < maxReadsOfBlock; reads += 1) {
      const unread = bundle.unread(snapshot)
      if (unread.length === 0) break
      await readMore(unread, at)
      for (const index of new Set(unread.map((each) => each.index))) {
        const more = unread.filter((each) => each.index === index).map((each) => each.more)
        markAsked(snapshot.states[index], { head: snapshot.head, more }, snapshot.head)
      }
    }
    isWhole = true
  }

  return {
    get snapshot() {
      return snapshot
    },
    readMore,
    readOfBlock(at) {
      if (isWhole) return undefined
      isWhole = bundle.unread(snapshot).length === 0
      if (isWhole) return undefined
      readingOfBlock ??= readAllOfBlock(at).finally(() => (readingOfBlock = undefined))
      return abortable(readingOfBlock, at.signal)
    },
  }
}

/** What one load asks for beyond the states: a kit that tries swaps reads so many at once. */
const maxMorePerLoad = 40
const retryMs = 100

/** The snapshot with what was missing in it, read after the same block. @throws SluiceError NETWORK where the nodes do not have that block any more */
async function loadMore(
  { parts, images }: Pick<Bundle, 'parts' | 'images'>,
  { states, head }: StateSnapshot,
  missing: readonly MissingState[],
  at: At,
): Promise<StateSnapshot> {
  const read = [...states]
  for (let from = 0; from < missing.length; from += maxMorePerLoad) {
    const bySource = new Map<BundlePart['source'], Map<number, unknown[]>>()
    for (const { index, more } of missing.slice(from, from + maxMorePerLoad)) {
      const source = parts[index]?.source
      if (!source) throw new Error(`The bundle has no part ${index}.`)
      const byIndex = bySource.get(source) ?? new Map<number, unknown[]>()
      bySource.set(source, byIndex.set(index, [...(byIndex.get(index) ?? []), more]))
    }
    await Promise.all([...bySource].map(([source, byIndex]) => loadPart(source, byIndex)))
  }
  return { states: read, head }

  async function loadPart({ followed }: BundlePart['source'], byIndex: ReadonlyMap<number, readonly unknown[]>): Promise<void> {
    const known = new Map<string, KnownOf>()
    for (const [index, more] of byIndex) {
      const part = parts[index]
      if (part) known.set(part.key, { about: part.about, more, state: read[index] })
    }
    const keys = [...known.keys()]
    const load = () => followed.load(keys, head, at, known)
    const loaded = await load().catch(async (error: unknown) => {
      // The node may not have the block yet, or another node takes over.
      if (!(error instanceof SluiceError) || error.name !== 'NETWORK') throw error
      await pause(retryMs, at.signal)
      return load()
    })
    requireRead(loaded.head, head, { images })
    for (const index of byIndex.keys()) read[index] = loaded.states.get(parts[index]?.key ?? '') ?? read[index]
  }
}
