// Questions to every node that go on behind the polls: a node that hangs holds up neither a poll nor what is asked of the others.
import { withTimeout } from '../../core/base/async.ts'
import { SluiceError } from '../../core/contracts/index.ts'
import type { Ask, Rpc, Witnesses } from '../nodes/rpc.ts'

/** So long a poll waits for answers. What comes later is there for the next one, a third of a second later. */
const patienceMs = 250

/** How long a round waits for nodes. */
interface RoundBounds {
  /** Once one of them has said all: since the last answer of any. The others are silent then, however long their requests may take. */
  readonly silentMs: number
  /** Once one of them has said all: since the beginning, though others go on answering. */
  readonly mostMs: number
  /** Before that: since the last answer of any. To end earlier would teach nothing, and the next round would begin anew: on a busy machine for ever. */
  readonly deadMs: number
}

/** The last one is longer than any request takes: `requestTimeoutSeconds` is 120 at most. */
const usualBounds: RoundBounds = { silentMs: 10_000, mostMs: 60_000, deadMs: 150_000 }

interface RoundOptions<Item, Word> {
  rpc: Pick<Rpc, 'onEveryNode'>
  keyOf(item: Item): string
  /** Asks one node about all items. */
  talk(items: readonly Item[], ask: Ask): Promise<Word>
  /** Takes what the nodes said. */
  take(items: readonly Item[], said: Witnesses<Word>): void
  /** Absent: the usual ones. */
  readonly bounds?: RoundBounds
}

interface Rounds<Item> {
  /** Whether nodes are being asked about it. */
  isOpen(item: Item): boolean
  /** Asks about all that are not open, and waits a moment. @throws what a round before threw that is a defect */
  start(items: readonly Item[]): Promise<void>
}

export function createRounds<Item, Word>({ rpc, keyOf, talk, take, bounds = usualBounds }: RoundOptions<Item, Word>): Rounds<Item> {
  const open = new Set<string>()
  const defects: unknown[] = []

  async function ask(items: readonly Item[]): Promise<void> {
    const told: Word[] = []
    const stop = new AbortController()
    const patience = createPatience(bounds, () => told.length > 0)
    const talkWith = async (each: Ask) => {
      const word = await talk(items, async (calls) => {
        const answers = await each(calls)
        patience.heard()
        return answers
      })
      told.push(word)
      patience.heard()
    }
    try {
      const said = await Promise.race([rpc.onEveryNode(talkWith, stop), patience.ended])
      take(items, { told: [...told], silent: said ? said.silent : 1 })
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      take(items, { told: [...told], silent: 1 })
    } finally {
      patience.stop()
      stop.abort()
    }
  }

  return {
    isOpen: (item) => open.has(keyOf(item)),
    async start(items) {
      const asked = items.filter((item) => !open.has(keyOf(item)))
      if (asked.length > 0) {
        for (const item of asked) open.add(keyOf(item))
        const round = ask(asked)
          .catch((error: unknown) => void defects.push(error))
          .finally(() => {
            for (const item of asked) open.delete(keyOf(item))
          })
        await withTimeout(round, patienceMs, () => undefined)
      }
      if (defects.length > 0) throw defects.shift()
    },
  }
}

/** Ends when no node is waited for any longer. @param isTold whether one of them has said all */
function createPatience({ silentMs, mostMs, deadMs }: RoundBounds, isTold: () => boolean) {
  const begunMs = performance.now()
  let heardMs = begunMs
  let end = () => {}
  const ended = new Promise<undefined>((resolve) => (end = () => resolve(undefined)))
  const isOver = () => {
    const nowMs = performance.now()
    return isTold() ? nowMs - begunMs >= mostMs || nowMs - heardMs >= silentMs : nowMs - heardMs >= deadMs
  }
  let isStopped = false
  function look(): void {
    if (isOver()) end()
    else if (!isStopped) timer.refresh()
  }
  const timer = setTimeout(look, silentMs).unref()
  return {
    ended,
    heard() {
      heardMs = performance.now()
      look()
    },
    /** What is heard later is nobody's. */
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
