import type { Head, HeadChanges } from '../../contracts/index.ts'

/** A block, what happened in it, and of what that was asked for: of nothing where it is not known any more. */
export interface TrailBlock extends HeadChanges {
  readonly asked: ReadonlySet<string>
}

/** The newest blocks, each the parent of the next. */
export interface Trail {
  readonly tip: Head | undefined
  readonly oldest: Head | undefined
  /** Newest first. */
  heads(): readonly Head[]
  /** What came after a block; undefined where it is none of these. */
  after(hash: string | undefined): readonly TrailBlock[] | undefined
  push(block: TrailBlock): void
  /** Forgets what came after a block. */
  rollBack(hash: string | undefined): void
  /** Nothing is known but that this is the newest block. */
  restart(head: Head | undefined): void
}

/** How far back a reorganisation is followed block by block; a deeper one makes everything be loaded anew. */
export const mostBlocks = 64
/** So many of the newest remember what happened in them, for states that are loaded meanwhile. */
const mostRemembered = 8

const forgetful = (head: Head): TrailBlock => ({ head, changes: [], asked: new Set() })

export function createTrail(): Trail {
  let blocks: TrailBlock[] = []
  const placeOf = (hash: string | undefined) => (hash === undefined ? -1 : blocks.findLastIndex(({ head }) => head.hash === hash))
  return {
    get tip() {
      return blocks.at(-1)?.head
    },
    get oldest() {
      return blocks[0]?.head
    },
    heads: () => blocks.map(({ head }) => head).toReversed(),
    after(hash) {
      const place = placeOf(hash)
      return place < 0 ? undefined : blocks.slice(place + 1)
    },
    push(block) {
      blocks.push(block)
      const forgotten = blocks.length - 1 - mostRemembered
      const old = blocks[forgotten]
      if (old) blocks[forgotten] = forgetful(old.head)
      if (blocks.length > mostBlocks) blocks.shift()
    },
    rollBack(hash) {
      blocks.length = placeOf(hash) + 1
    },
    restart(head) {
      blocks = head ? [forgetful(head)] : []
    },
  }
}
