// Questions to every node that go on behind the polls: a node that hangs holds up neither a poll nor what is asked of the others.
import { withTimeout } from '../../core/base/async.ts'
import { SluiceError } from '../../core/contracts/index.ts'
import type { Ask, Rpc, Witnesses } from '../nodes/rpc.ts'

/** So long a poll waits for answers. What comes later is there for the next one, a third of a second later. */
const patienceMs = 250
/** A node that has not answered by then is silent, however long its requests may take. */
const maxRoundMs = 10_000

interface RoundOptions<Item, Word> {
  rpc: Pick<Rpc, 'onEveryNode'>
  keyOf(item: Item): string
  /** Asks one node about all items. */
  talk(items: readonly Item[], ask: Ask): Promise<Word>
  /** Takes what the nodes said. */
  take(items: readonly Item[], said: Witnesses<Word>): void
}

interface Rounds<Item> {
  /** Whether nodes are being asked about it. */
  isOpen(item: Item): boolean
  /** Asks about all that are not open, and waits a moment. @throws what a round before threw that is a defect */
  start(items: readonly Item[]): Promise<void>
}

export function createRounds<Item, Word>({ rpc, keyOf, talk, take }: RoundOptions<Item, Word>): Rounds<Item> {
  const open = new Set<string>()
  const defects: unknown[] = []

  async function ask(items: readonly Item[]): Promise<void> {
    const told: Word[] = []
    const stop = new AbortController()
    const round = rpc.onEveryNode(async (each) => void told.push(await talk(items, each)), stop)
    try {
      const said = await withTimeout(round, maxRoundMs, () => undefined)
      take(items, { told: [...told], silent: said ? said.silent : 1 })
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      take(items, { told: [...told], silent: 1 })
    } finally {
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
