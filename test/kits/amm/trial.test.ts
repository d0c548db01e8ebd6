import { expect } from 'chai'
import { AbiCoder, dataLength } from 'ethers'
import { completeReading } from '../../../kits/amm/protocol.ts'
import { trialReading, trialsAmong, type Trial } from '../../../kits/amm/trial.ts'
import { batchParts, isProbe } from '../../../kits/evm/multicall.ts'
import type { Call, CallResult, Probe } from '../../../kits/evm/types.ts'

const head = { number: 5n, timestamp: 1, hash: '0x01' }
const at = { signal: new AbortController().signal }
const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, '0')

const trialsOf = (count: number, pool = '0x04'): readonly Trial[] =>
  Array.from({ length: count }, (_, index) => ({
    pool,
    zeroForOne: true,
    exact: 'in',
    amountRaw: BigInt(1 + index),
    block: head.hash,
    number: head.number,
  }))

/** The pool whose swaps spend all gas that they get. */
const spender = '0x06'
/** Of these a node has gas for so many in one call. */
const spentAtOnce = 5
const targetOf = ({ pool }: Pick<Trial, 'pool'>) => `0x${pool.slice(2).repeat(20)}`
const argTypes = ['bytes32', 'tuple(address target, bool zeroForOne, int256 amount, bytes kept)[]']

/** The calls of a reading of these, with a swap that keeps so many bytes: a node answers each by twice the input. */
async function read(trials: readonly Trial[], keptBytes: number) {
  const reading = trialReading(trials, (trial) => ({ target: targetOf(trial), kept: `0x${'22'.repeat(keptBytes)}` }))
  const probes: Probe[] = []
  let done = 0n
  const answer = (calls: readonly (Call | Probe)[]): readonly CallResult[] =>
    batchParts(calls, [])
      .flat()
      .filter(isProbe)
      .map((probe) => {
        probes.push(probe)
        const [, swaps]: [string, readonly { target: string }[]] = AbiCoder.defaultAbiCoder().decode(argTypes, probe.args ?? '0x') as never
        let spent = 0
        const results = swaps.map(({ target }) => {
          if (spent === spentAtOnce) return '00'.repeat(97)
          if (target !== targetOf({ pool: spender })) return `02${word((done += 1n))}${word(-2n * done)}${word(100n)}`
          spent += 1
          return `01${word(0n)}${word(0n)}${word(2_900_000n)}`
        })
        return { ok: true, data: `0x${results.join('')}` }
      })
  const reader = { read: async (calls: readonly (Call | Probe)[]) => ({ head, results: answer(calls) }) }
  const results = await completeReading(reading, { head, results: answer(reading.calls) }, reader, at)
  return { probes, results }
}

describe('swaps that are tried', () => {
  it('take as few calls as creation code has room for, each swap once', async () => {
    const trials = trialsOf(90)
    // What a swap of Uniswap v4 keeps: the call of its manager.
    const { probes, results } = await read(trials, 324)
    expect(probes).to.have.length(2)
    for (const { args = '0x' } of probes) expect(dataLength(args)).to.be.below(40_000)
    expect(results.map(({ trial, done }) => [trial, done?.amountRaw])).to.deep.equal(trials.map((each) => [each, 2n * each.amountRaw]))
  })

  it('take one call where they are small', async () => {
    const { probes, results } = await read(trialsOf(90), 0)
    expect([probes.length, results.length]).to.deep.equal([1, 90])
  })

  it('leave others of their pool to a later reading where each spends all gas, and do not keep those of other pools', async () => {
    const { probes, results } = await read([...trialsOf(60, spender), ...trialsOf(1)], 0)
    expect(probes).to.have.length(3)
    expect(results.filter(({ trial }) => trial.pool === spender)).to.have.length(2 * spentAtOnce)
    expect(results.filter(({ done }) => done).map(({ trial }) => trial.pool)).to.deep.equal(['0x04'])
  })

  it('begin with the newest, for which somebody waits', () => {
    const [first, second] = trialsOf(2)
    expect(trialsAmong([first, second], new Set(['0x04']))).to.deep.equal([second, first])
  })
})
