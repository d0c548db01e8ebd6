import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../../../core/base/async.ts'
import type { Ask, Witnesses } from '../../../kits/nodes/rpc.ts'
import { createRounds } from '../../../kits/solana/rounds.ts'

/** How a node answers each batch: after so long, in the order of the batches. Then it never answers. */
type AnsweringNode = readonly number[]

/** Nodes that need several batches, each so many, for what they say. */
function start(nodes: readonly AnsweringNode[], batches: readonly number[] = [4, 4], deadMs = 100_000) {
  const taken: Witnesses<string>[] = []
  let batchesLeft = 0
  const rounds = createRounds<string, string>({
    rpc: {
      async onEveryNode(talk, { signal }) {
        const each = nodes.map((answering, node) => {
          let next = 0
          batchesLeft = batches[node] ?? 0
          const ask: Ask = async () => {
            const afterMs = answering[next++]
            // Timers that are late are late in their order: a busy machine changes nothing here.
            await sleep(afterMs ?? 600_000, undefined, { signal, ref: afterMs !== undefined })
            return []
          }
          return talk(ask)
        })
        return { told: await Promise.all(each), silent: 0 }
      },
    },
    keyOf: (item) => item,
    async talk(_items, ask) {
      const count = batchesLeft
      for (let batch = 0; batch < count; batch += 1) await ask([])
      return 'over'
    },
    take: (_items, said) => void taken.push(said),
    bounds: { silentMs: 60, mostMs: 400, deadMs },
  })
  const ended = async () => {
    await rounds.start(['a'])
    // As a poll looks again, by what is open.
    while (rounds.isOpen('a')) await withTimeout(new Promise(() => {}), 5, () => undefined)
    return taken
  }
  return { ended }
}

describe('a question to every node', () => {
  it('is heard to its end where the only node answers slowly, but answers', async () => {
    expect(await start([[40, 40, 40, 40]]).ended()).to.deep.equal([{ told: ['over'], silent: 0 }])
  })

  it('is heard to its end where no node has said anything yet, however slow each answer is', async () => {
    expect(await start([[90, 90, 90, 90]]).ended()).to.deep.equal([{ told: ['over'], silent: 0 }])
  })

  it('hears a slow node out beside a fast one, as long as it answers', async () => {
    expect(
      await start([
        [1, 1, 1, 1],
        [40, 40, 40, 40],
      ]).ended(),
    ).to.deep.equal([{ told: ['over', 'over'], silent: 0 }])
  })

  it('waits for a silent node no longer, once another one has said all', async () => {
    expect(await start([[1, 1, 1, 1], [1]]).ended()).to.deep.equal([{ told: ['over'], silent: 1 }])
  })

  it('waits no longer for one that goes on and on, once another one has said all', async () => {
    const drops = Array.from({ length: 1_000 }, () => 40)
    expect(await start([[1, 1], drops], [2, 1_000]).ended()).to.deep.equal([{ told: ['over'], silent: 1 }])
  })

  it('ends where no node answers at all', async () => {
    expect(await start([[1]], undefined, 80).ended()).to.deep.equal([{ told: [], silent: 1 }])
  })
})
