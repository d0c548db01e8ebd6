import { expect } from 'chai'
import { readSmallestInput, smallestInput } from '../../../kits/amm/index.ts'

/** A reproducible source of numbers: mulberry32. */
function randomOf(seed: number) {
  let state = seed
  return (below: bigint): bigint => {
    let number = 0n
    for (let digits = 0; digits < 8; digits += 1) {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      number = (number << 32n) | BigInt((mixed ^ (mixed >>> 14)) >>> 0)
    }
    return number % below
  }
}

/** What a pool of constant product gives, rounded down, as its contract rounds. */
const constantProduct = (reserveIn: bigint, reserveOut: bigint) => (inRaw: bigint) => {
  const afterFee = inRaw * 997n
  return (afterFee * reserveOut) / (reserveIn * 1000n + afterFee)
}

describe('buying on an exchange that only sells', () => {
  it('finds the input that gives at least the amount, of which a unit less gives less, in a bounded number of rounds', async () => {
    const random = randomOf(7)
    for (let trial = 0; trial < 300; trial += 1) {
      const reserveIn = 10n ** (4n + random(24n)) + random(1000n)
      const reserveOut = 10n ** (4n + random(24n)) + random(1000n)
      const outputOf = constantProduct(reserveIn, reserveOut)
      const wantedRaw = 1n + random(reserveOut / 2n)
      let rounds = 0

      const found = await readSmallestInput({ wantedRaw, guessRaw: (wantedRaw * reserveIn) / reserveOut }, async (inRaws) => {
        rounds += 1
        expect(inRaws.length).to.be.at.most(16)
        return inRaws.map(outputOf)
      })

      expect(found).to.be.a('bigint')
      expect(outputOf(found!) >= wantedRaw, `${wantedRaw} of ${reserveIn}/${reserveOut}`).to.equal(true)
      expect(outputOf(found! - 1n) < wantedRaw, `${wantedRaw} of ${reserveIn}/${reserveOut}`).to.equal(true)
      expect(smallestInput({ wantedRaw }, outputOf)).to.equal(found)
      expect(rounds, `${wantedRaw} of ${reserveIn}/${reserveOut}`).to.be.at.most(30)
    }
  })

  it('needs four rounds where both tokens have eighteen decimals', async () => {
    const outputOf = constantProduct(500n * 10n ** 18n, 1_495_000n * 10n ** 18n)
    let rounds = 0
    await readSmallestInput({ wantedRaw: 2_000n * 10n ** 18n, guessRaw: 6n * 10n ** 17n }, async (inRaws) => {
      rounds += 1
      return inRaws.map(outputOf)
    })
    expect(rounds).to.be.at.most(5)
  })

  it('finds none where the pools hold less, where inputs above a limit are refused, or above what may go in', () => {
    const outputOf = constantProduct(10n ** 18n, 10n ** 12n)
    expect(smallestInput({ wantedRaw: 10n ** 12n }, outputOf)).to.equal(undefined)
    const limited = (inRaw: bigint) => (inRaw > 10n ** 15n ? undefined : outputOf(inRaw))
    expect(smallestInput({ wantedRaw: outputOf(10n ** 15n) + 1n }, limited)).to.equal(undefined)
    expect(limited(smallestInput({ wantedRaw: outputOf(10n ** 15n) }, limited)!)).to.equal(outputOf(10n ** 15n))
    expect(smallestInput({ wantedRaw: outputOf(10n ** 15n), maxRaw: 10n ** 14n }, outputOf)).to.equal(undefined)
    expect(smallestInput({ wantedRaw: 0n }, outputOf)).to.equal(0n)
  })

  it('finds it where inputs are refused that are so small that nothing comes out, and none where all are refused', async () => {
    for (const [reserveIn, reserveOut] of [
      [10n ** 24n, 10n ** 20n],
      [10n ** 24n, 10n ** 9n],
      [10n ** 40n, 10n ** 8n],
    ] as const) {
      const given = constantProduct(reserveIn, reserveOut)
      // As contracts do: nothing comes out, or more goes in than the pool counts with.
      const outputOf = (inRaw: bigint) => (given(inRaw) === 0n || inRaw > reserveIn * 1000n ? undefined : given(inRaw))
      for (const wantedRaw of [1n, reserveOut / 7n, reserveOut / 2n]) {
        const found = smallestInput({ wantedRaw }, outputOf)
        expect(found, `${wantedRaw} of ${reserveIn}/${reserveOut}`).to.equal(smallestInput({ wantedRaw }, given))
        expect(found, `${wantedRaw} of ${reserveIn}/${reserveOut}`).to.be.a('bigint')
      }
      expect(smallestInput({ wantedRaw: reserveOut }, outputOf)).to.equal(undefined)
    }
    const given = constantProduct(10n ** 24n, 10n ** 20n)
    let failed: bigint | undefined
    const failsOnce = (inRaw: bigint) => {
      if (given(inRaw) < 10n) return undefined
      if (failed !== undefined) return given(inRaw)
      failed = inRaw
      return undefined
    }
    expect(() => smallestInput({ wantedRaw: 10n }, failsOnce)).to.throw('an input was refused once and taken once')
    let rounds = 0
    const none = await readSmallestInput({ wantedRaw: 5n }, async (inRaws) => {
      rounds += 1
      expect(inRaws.length).to.be.at.most(16)
      return inRaws.map(() => undefined)
    })
    expect(none).to.equal(undefined)
    expect(rounds).to.be.at.most(5)
  })

  it('works on prices in steps, and says so where outputs are returned for other inputs', async () => {
    const steps = (inRaw: bigint) => (inRaw / 1_000n) * 7n
    for (const wantedRaw of [1n, 7n, 8n, 700_001n]) {
      const found = smallestInput({ wantedRaw }, steps)!
      expect(steps(found) >= wantedRaw && steps(found - 1n) < wantedRaw).to.equal(true)
    }
    const failure = await readSmallestInput({ wantedRaw: 5n }, async () => [1n]).catch((error: Error) => error.message)
    expect(failure).to.match(/1 outputs were returned for \d+ inputs; return one for each/)
  })
})
