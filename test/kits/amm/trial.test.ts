import { expect } from 'chai'
import { dataLength } from 'ethers'
import { completeReading } from '../../../kits/amm/protocol.ts'
import { trialReading, type Trial } from '../../../kits/amm/trial.ts'
import { batchParts, isProbe } from '../../../kits/evm/multicall.ts'
import type { Call, CallResult, Probe } from '../../../kits/evm/types.ts'

const head = { number: 5n, timestamp: 1, hash: '0x01' }
const at = { signal: new AbortController().signal }
const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, '0')

const trialsOf = (count: number): readonly Trial[] =>
  Array.from({ length: count }, (_, index) => ({
    pool: '0x04',
    zeroForOne: true,
    exact: 'in',
    amountRaw: BigInt(1 + index),
    block: head.hash,
    number: head.number,
  }))

/** The calls of a reading of these, with a swap that keeps so many bytes: a node answers each by twice the input. */
async function read(trials: readonly Trial[], keptBytes: number) {
  const target = `0x${'11'.repeat(20)}`
  const reading = trialReading(trials, () => ({ target, kept: `0x${'22'.repeat(keptBytes)}` }))
  const probes: Probe[] = []
  let done = 0n
  const answer = (calls: readonly (Call | Probe)[]): readonly CallResult[] =>
    batchParts(calls, [])
      .flat()
      .filter(isProbe)
      .map((probe) => {
        probes.push(probe)
        // The number of swaps is the fourth word of the arguments.
        const count = Number(`0x${probe.args?.slice(2 + 2 * 64, 2 + 3 * 64)}`)
        const results = Array.from({ length: count }, () => `02${word((done += 1n))}${word(-2n * done)}${word(100n)}`)
        return { ok: true, data: `0x${results.join('')}` }
      })
  const reader = { read: async (calls: readonly (Call | Probe)[]) => ({ head, results: answer(calls) }) }
  const results = await completeReading(reading, { head, results: answer(reading.calls) }, reader, at)
  return { probes, results }
}

describe('swaps that are tried', () => {
  it('are tried by as many calls as fit into creation code, each swap once', async () => {
    const trials = trialsOf(90)
    // What a swap of Uniswap v4 keeps: the call of its manager.
    const { probes, results } = await read(trials, 324)
    expect(probes).to.have.length(2)
    for (const { args = '0x' } of probes) expect(dataLength(args)).to.be.below(40_000)
    expect(results.map(({ trial, done }) => [trial, done?.amountRaw])).to.deep.equal(trials.map((each) => [each, 2n * each.amountRaw]))
  })

  it('are tried by one call where they are small', async () => {
    const { probes, results } = await read(trialsOf(90), 0)
    expect([probes.length, results.length]).to.deep.equal([1, 90])
  })
})
