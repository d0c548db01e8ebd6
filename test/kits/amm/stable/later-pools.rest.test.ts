import { expect } from 'chai'
import type { Head } from '../../../../core/contracts/index.ts'
import { amplificationAt, type Ramp, amountOut } from '../../../../kits/amm/stable/math.ts'
import { stablePoolMemory } from '../../../../kits/amm/stable/pools.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { portPool, type Act, type LaterKind } from './port-pool.ts'

type Random = ReturnType<typeof randomBits>
type Port = Awaited<ReturnType<typeof portPool>>

const blocksOfWalk = 60
const day = 86_400

describe('stable pools of later versions in memory', function () {
  this.timeout(300_000)
  let port: Port
  afterEach(() => port.close())

  /** Changed by logs alone, and compared with the contract after each block. */
  async function keptOf(kind: LaterKind) {
    port = await portPool(kind)
    const { apply, asOf } = stablePoolMemory([port.listed])
    let pool = await port.read((await port.block([])).block.number)
    const counted = { logs: 0, reloads: 0 }
    const asOfBlock = (head: Head) => {
      const now = asOf?.(pool, head)
      if (!now) throw new Error('The pool is filled.')
      return now
    }
    return {
      counted,
      asOf: asOfBlock,
      pool: () => pool,
      async block(acts: readonly Act[]): Promise<{ head: Head; statuses: readonly string[] }> {
        const { block, statuses } = await port.block(acts)
        const head = { number: BigInt(block.number), timestamp: block.timestamp }
        let lost = false
        for (const log of await port.logs(block.number)) {
          counted.logs += 1
          const next = lost ? 'reload' : apply(pool, log, head)
          if (next === 'reload' || next === null) lost = true
          else pool = next
        }
        if (lost) counted.reloads += 1
        const read = await port.read(block.number)
        if (lost) pool = read
        expect(pool, `after block ${block.number}`).to.deep.equal(read)
        return { head, statuses }
      },
      async expectOwn(head: Head, from: number, to: number, inRaw: bigint): Promise<void> {
        expect(amountOut(asOfBlock(head).state, from, to, inRaw)).to.equal(await port.gives(from, to, inRaw, Number(head.number)))
      },
    }
  }

  for (const kind of ['second', 'template'] as const) {
    it(`equal the contract’s state and quotes after every block, over random changes: ${kind}`, async () => {
      const memory = await keptOf(kind)
      const random = randomBits(kind === 'second' ? 20200906 : 20210108)
      for (let count = 0; count < blocksOfWalk; count += 1) {
        const acts = Array.from({ length: 1 + random.below(4) }, () => anything(port, random, kind))
        const { head } = await memory.block(acts)
        for (let quotes = 0; quotes < 5; quotes += 1) {
          const from = random.below(3)
          await memory.expectOwn(head, from, (from + 1 + random.below(2)) % 3, 10n ** 7n + random.bits(from === 0 ? 75 : 36))
        }
      }
      expect(memory.counted.logs, 'logs').to.be.above(blocksOfWalk)
      // The log does not say which coin was removed.
      expect(memory.counted.reloads, 'reloads').to.be.below(blocksOfWalk / 3)
    })
  }

  it('change with the block’s time while the amplification moves, and only then', async () => {
    const memory = await keptOf('template')
    const before = memory.pool()
    const { head: still } = await memory.block([])
    expect(memory.asOf(still)).to.equal(before)

    await memory.block([port.wait(2 * day)])
    const begun = await memory.block([port.swap(0, 1), port.rampUp(1000n, 20 * day), port.swap(0, 1)])
    expect(begun.statuses).to.deep.equal(['0x1', '0x1', '0x1'])
    const anns = new Set<bigint>()
    for (const seconds of [5 * day, 5 * day, 60]) {
      const { head, statuses } = await memory.block([port.wait(seconds), port.swap(1, 2, 50n), port.add([0]), port.swap(2, 0, 70n)])
      expect(statuses).to.deep.equal(['0x1', '0x1', '0x1'])
      expect(memory.asOf(head)).to.not.equal(memory.pool())
      anns.add(memory.asOf(head).state.ann)
      await memory.expectOwn(head, 0, 2, 10n ** 22n)
    }
    expect(anns.size).to.equal(3)

    const { head: stopped } = await memory.block([port.stop(), port.swap(1, 0)])
    expect(memory.asOf(stopped)).to.equal(memory.pool())
    await memory.block([port.wait(2 * day)])
    await memory.block([port.rampUp(900n, 15 * day)])
    const { head: over } = await memory.block([port.wait(16 * day), port.swap(0, 2)])
    expect(memory.asOf(over)).to.equal(memory.pool())
    await memory.expectOwn(over, 1, 0, 10n ** 9n)
    expect(memory.counted.reloads).to.equal(0)
  })
})

describe('the amplification of a stable pool', () => {
  it('rounds down on the way up, and rounds its decrease down on the way down', () => {
    const up: Ramp = { initial: 100n, future: 200n, initialTime: 1000n, futureTime: 1300n }
    const down: Ramp = { ...up, initial: 200n, future: 100n }
    const at = (ramp: Ramp) => [1000, 1001, 1002, 1003, 1299, 1300, 5000].map((timestamp) => amplificationAt(ramp, timestamp))
    expect(at(up)).to.deep.equal([100n, 100n, 100n, 101n, 199n, 200n, 200n])
    expect(at(down)).to.deep.equal([200n, 200n, 200n, 199n, 101n, 100n, 100n])
  })
})

function anything(port: Port, { below, bits }: Random, kind: LaterKind): Act {
  const [from, part] = [below(3), 5n + bits(20)]
  const to = (from + 1 + below(2)) % 3
  const indices = [0, 1, 2].filter(() => below(2) === 0)
  const moving: readonly (() => Act)[] = [
    () => port.rampUp(1n + bits(9), 14 * day + below(10 * day)),
    () => port.rampUp(1n + bits(9), 14 * day + below(10 * day)),
    () => port.stop(),
    () => port.wait(below(4 * day)),
    () => port.wait(below(4 * day)),
  ]
  const choices: readonly (() => Act)[] = [
    () => port.swap(from, to, part),
    () => port.swap(from, to, part),
    () => port.swap(from, to, part),
    () => port.swap(from, to, part),
    () => port.add(indices, part),
    () => port.add(indices, part),
    () => port.remove(part + 20n),
    () => port.removeSome(indices, part + 20n),
    () => port.removeSome(indices, part + 20n),
    () => port.removeOne(from, part + 50n),
    () => port.fee(bits(26)),
    () => port.adminFee(bits(32)),
    // The versions between have no digits to compare while it moves.
    ...(kind === 'template' ? moving : []),
  ]
  return (choices[below(choices.length)] ?? (() => port.swap(from, to)))()
}
