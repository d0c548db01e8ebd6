import { SluiceError } from '../../core/api/index.ts'
import type { Head, HeadChanges } from '../../core/contracts/index.ts'
import type { SynchroniserOptions } from '../../core/live-state/synchroniser.ts'

/** What happened: this key was changed so. */
export type ChainEvent = { topic: string; key: string; what: string }

interface Block extends HeadChanges {
  parent: Block | undefined
  happened: readonly ChainEvent[]
}

/** A chain in memory, as a family's kit shows one: forks, faults, and every question counted. @param bornAt the time of block 0 */
export function createForkChain(blockSeconds = 1, bornAt = 0) {
  const blocks = new Map<string, Block>()
  const followers = new Set<(head: Head) => void>()
  const asked: string[] = []
  let made = 0
  let naming = false
  let failing: { error: Error; what: string | undefined } | undefined
  let hold: { what: string | undefined; over: Promise<void> } | undefined

  function make(parent: Block | undefined, happened: readonly ChainEvent[]): Block {
    const number = (parent?.head.number ?? 99n) + 1n
    made += 1
    const hash = `0x${made.toString(16).padStart(64, '0')}`
    const timestamp = Math.floor(bornAt + Number(number) * blockSeconds)
    const head = { number, timestamp, hash, ...(parent?.head.hash !== undefined && { parentHash: parent.head.hash }) }
    const block = { head, parent, happened, changes: happened }
    blocks.set(hash, block)
    return block
  }

  let tip = make(undefined, [])

  const ancestor = (depth: number) => {
    let block = tip
    for (let i = 0; i < depth && block.parent; i++) block = block.parent
    return block
  }

  /** A question to a node: it takes a moment, may be held up, and may fail. */
  async function ask(what: string, signal: AbortSignal): Promise<void> {
    asked.push(what)
    await (hold && (hold.what ?? what) === what ? hold.over : Promise.resolve())
    signal.throwIfAborted()
    if (failing && (failing.what ?? what) === what) throw failing.error
  }

  const chain: SynchroniserOptions['chain'] = {
    local: true,
    async head({ signal }) {
      await ask('head', signal)
      return tip.head
    },
    async *heads(signal) {
      let next: Head | undefined = tip.head
      let wake = () => {}
      const hear = (head: Head) => {
        next = head
        wake()
      }
      followers.add(hear)
      signal.addEventListener('abort', () => wake(), { once: true })
      while (!signal.aborted) {
        const head = next
        next = undefined
        if (head) yield head
        else await new Promise<void>((resolve) => (wake = resolve))
      }
      followers.delete(hear)
    },
    async changes(after, to, interest, { signal }) {
      const { follow } = interest
      const from = naming ? (interest.from?.() ?? []) : undefined
      await ask('changes', signal)
      const found: HeadChanges[] = []
      for (let block = blocks.get(to.hash ?? ''); block; block = block.parent) {
        if (block.head.hash === after.hash) return found
        const changes = block.happened.filter(({ topic, key }) => follow.includes(topic) && (!from || from.includes(key)))
        found.unshift({ head: block.head, changes, ...(from && { from }) })
      }
      return 'forked'
    },
  }

  return {
    chain,
    asked,
    get tip() {
      return tip.head
    },
    get following() {
      return followers.size
    },
    /** Takes blocks back and makes others, of what happened in each; tells of the last unless it is not to. */
    make(back: number, next: readonly (readonly ChainEvent[])[], tell = true) {
      tip = ancestor(back)
      for (const happened of next) tip = make(tip, happened)
      if (tell) for (const hear of followers) hear(tip.head)
    },
    /** Everything of a key up to a block, oldest first. */
    replay(key: string, hash: string): readonly string[] {
      const whats: string[] = []
      for (let block = blocks.get(hash); block; block = block.parent)
        whats.unshift(...block.happened.filter((each) => each.key === key).map(({ what }) => what))
      return whats
    },
    async read(what: string, signal: AbortSignal) {
      await ask(what, signal)
    },
    /** All questions, or those of one kind. */
    fail(error: Error = new SluiceError('NETWORK', 'nobody there', { retryAfterSeconds: 1 }), what?: string) {
      failing = { error, what }
    },
    /** From now on it tells only of keys that are named. */
    nameKeys() {
      naming = true
    },
    heal() {
      failing = undefined
    },
    /** Holds all questions up, or those of one kind, until what it gives is called. */
    hold(what?: string): () => void {
      let release = () => {}
      const over = new Promise<void>((resolve) => {
        release = () => {
          hold = undefined
          resolve()
        }
      })
      hold = { what, over }
      return release
    },
  }
}

export type ForkChain = ReturnType<typeof createForkChain>
