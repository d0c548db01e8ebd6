// Positions that are asked for again and again, as bots do each second: all of one exchange are read together once for each block, and answered from
// memory until the next one.
import { abortable, isAbort } from '../../base/async.ts'
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

/**
 * A position as it is at the newest block, where it was asked for a moment ago, too. Undefined where the exchange has to be asked for it alone: it says
 * why there is none, too; and where all of them cannot be read together, as a node may do little at once, or refuse what following it takes.
 */
export async function positionFromMemory(
  { tokenId, version }: { readonly tokenId: string; readonly version: string | undefined },
  { network, venue, services }: TargetContext<'connector'> & { readonly services: Pick<Services, 'following'> },
  at: At,
): Promise<{ head: Head; position: RangePosition } | undefined> {
  const range = tradingOf('AMM_RANGE', venue)
  const { positionsById } = range
  if (!positionsById || !network.impl.changes || network.impl.images) return undefined
  const memory = memoryOf(venue, version)
  if (!memory.isFollowed(tokenId)) return undefined
  const readById: ReadById = async (tokenIds, own) =>
    positionsById.call(range, { tokenIds, ...(version !== undefined && { version }) }, own)
  try {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const tip = await services.following.newestHead(network, at)
      noteNewest(tip, { venue })
      const reading = memory.known(tokenId, tip) ?? (await abortable(memory.read(tip, readById), at.signal))
      if (!reading) return undefined
      const position = reading.positions.get(tokenId)
      // One that was under way is of those that were asked for before, and maybe of an older block.
      if (position && reading.head.number >= tip.number) return { head: reading.head, position }
      if (reading.ids.has(tokenId) && reading.head.number >= tip.number) return undefined
    }
  } catch (error) {
    if (at.signal.aborted || !(error instanceof SluiceError || isAbort(error))) throw error
  }
  return undefined
}
