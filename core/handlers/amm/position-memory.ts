// Positions that are asked for again and again, as bots do each second: all of one exchange are read together once for each block, and answered from
// memory until the next one.
import { isAbort } from '../../base/async.ts'
import { SluiceError } from '../../base/errors.ts'
import type { AMMRange, At, Head, RangePosition } from '../../contracts/index.ts'
import { isSameHead } from '../../live-state/blocks.ts'
import { tradingOf } from '../../plugins/index.ts'
import type { Services, TargetContext } from '../context.ts'
import { noteNewest } from './absent-positions.ts'

/** Who asks less often than that asks the exchange. */
const followedMs = 30_000
const maxFollowed = 1_000
/** Of reading all of them. */
const readingMs = 15_000
/** Blocks come while they are read. */
const maxTries = 3

interface PositionAtBlock {
  readonly head: Head
  readonly position: RangePosition
}

interface Reading {
  /** Of this block they are. */
  readonly head: Head
  /** The newest block that was known when they were read: not of another fork. */
  tip: Head
  readonly ids: ReadonlySet<string>
  readonly positions: ReadonlyMap<string, RangePosition>
}

type ReadById = (tokenIds: readonly string[], at: At) => ReturnType<NonNullable<AMMRange['positionsById']>>

class PositionMemory {
  /** By id, when it was asked for last. */
  readonly #asked = new Map<string, number>()
  #reading: Reading | undefined
  #underWay: Promise<Reading> | undefined
  /** The newest block when reading all of them failed. */
  #failed: Head | undefined

  isFollowed(tokenId: string): boolean {
    const askedMs = this.#asked.get(tokenId)
    return askedMs !== undefined && performance.now() - askedMs <= followedMs
  }

  follow(tokenId: string): void {
    const nowMs = performance.now()
    this.#asked.delete(tokenId)
    this.#asked.set(tokenId, nowMs)
    for (const [id, each] of this.#asked) {
      if (nowMs - each <= followedMs && this.#asked.size <= maxFollowed) break
      this.#asked.delete(id)
    }
  }

  /** What was read of the newest block. */
  known(tokenId: string, tip: Head): Reading | undefined {
    const reading = this.#reading
    if (!reading?.ids.has(tokenId) || reading.head.number < tip.number) return undefined
    // It was read a moment before that block was heard of.
    if (reading.head.number === tip.number && reading.head.timestamp === tip.timestamp && tip.number > reading.tip.number) reading.tip = tip
    return isSameHead(tip, reading.tip) ? reading : undefined
  }

  /** One after the other. Undefined where it failed and no block came since: whoever looks would wait for the same again. */
  async read(tip: Head, readById: ReadById): Promise<Reading | undefined> {
    if (this.#failed && isSameHead(this.#failed, tip)) return undefined
    this.#underWay ??= this.#readAll(tip, readById).finally(() => (this.#underWay = undefined))
    return this.#underWay
  }

  async #readAll(tip: Head, readById: ReadById): Promise<Reading> {
    // In one order, whoever asked last: the same calls for the same positions.
    const ids = [...this.#asked.keys()].toSorted()
    const { head, positions } = await readById(ids, { signal: AbortSignal.timeout(readingMs) }).catch((error: unknown) => {
      this.#failed = tip
      throw error
    })
    this.#reading = { head, tip, ids: new Set(ids), positions: new Map(positions.map((each) => [each.tokenId, each])) }
    return this.#reading
  }
}

/** By the version that requests name. */
const memories = new WeakMap<TargetContext<'connector'>['venue'], Map<string, PositionMemory>>()

function memoryOf(venue: TargetContext<'connector'>['venue'], version = ''): PositionMemory {
  const ofVenue = memories.get(venue) ?? new Map<string, PositionMemory>()
  memories.set(venue, ofVenue)
  const memory = ofVenue.get(version) ?? new PositionMemory()
  ofVenue.set(version, memory)
  return memory
}

/** It was shown to who may see it: it is read with the others for a while. */
export const followPosition = (tokenId: string, version: string | undefined, { venue }: Pick<TargetContext<'connector'>, 'venue'>): void =>
  memoryOf(venue, version).follow(tokenId)

type PositionContext = TargetContext<'connector'> & { readonly services: Pick<Services, 'following'> }
type NamedPosition = { readonly tokenId: string; readonly version: string | undefined }

/**
 * A position as it is at the newest block, where it was asked for a moment ago, too; at once if it was read. Undefined where the exchange has to be
 * asked for it alone: it says why there is none, too; and where all of them cannot be read together, as a node may do little at once, or refuse what
 * following it takes.
 */
export function positionFromMemory(
  position: NamedPosition,
  context: PositionContext,
  at: At,
): PositionAtBlock | undefined | Promise<PositionAtBlock | undefined> {
  const { network, venue, services } = context
  const { tokenId, version } = position
  const range = tradingOf('AMM_RANGE', venue)
  const { positionsById } = range
  if (!positionsById || !network.impl.changes || network.impl.images) return undefined
  const memory = memoryOf(venue, version)
  if (!memory.isFollowed(tokenId)) return undefined
  const tip = services.following.newestHead(network, at)
  if (!(tip instanceof Promise)) {
    noteNewest(tip, { venue })
    const reading = memory.known(tokenId, tip)
    if (reading) return positionIn(reading, tokenId)
  }
  const readById: ReadById = (tokenIds, own) => positionsById.call(range, { tokenIds, ...(version !== undefined && { version }) }, own)
  const newest = (tries: number) => (tries === 0 ? tip : services.following.newestHead(network, at))
  return readWithOthers(memory, tokenId, { newest, readById, venue, at })
}

const positionIn = ({ head, positions }: Reading, tokenId: string): PositionAtBlock | undefined => {
  const position = positions.get(tokenId)
  return position && { head, position }
}

interface ReadingContext extends Pick<PositionContext, 'venue'> {
  readonly newest: (tries: number) => Head | Promise<Head>
  readonly readById: ReadById
  readonly at: At
}

/** Waits no longer than the reading of all of them takes: what bounds the request needs no signal here, which costs more than the look itself. */
async function readWithOthers(
  memory: PositionMemory,
  tokenId: string,
  { newest, readById, venue, at }: ReadingContext,
): Promise<PositionAtBlock | undefined> {
  try {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const tip = await newest(tries)
      noteNewest(tip, { venue })
      const reading = memory.known(tokenId, tip) ?? (await memory.read(tip, readById))
      if (!reading) return undefined
      // One that was under way is of those that were asked for before, and maybe of an older block.
      const isOfTip = reading.head.number >= tip.number
      const found = isOfTip ? positionIn(reading, tokenId) : undefined
      if (found || (isOfTip && reading.ids.has(tokenId))) return found
    }
  } catch (error) {
    if (at.signal.aborted || !(error instanceof SluiceError || isAbort(error))) throw error
  }
  return undefined
}
