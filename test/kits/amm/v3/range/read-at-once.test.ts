import { expect } from 'chai'
import type { Call } from '../../../../../kits/evm/index.ts'
import { type Read, readAtOnce } from '../../../../../kits/amm/v3/position-manager.ts'
import { rejection } from '../../v2/rejection.ts'

const at = { signal: new AbortController().signal }
const calls = Array.from({ length: 2500 }, (_, index): Call => ({ to: '0xAA', data: `0x${(index % 2200).toString(16)}` }))

/** A chain that answers its batches at these blocks, one after the other; each call returns its own data. */
function chainAt(numbers: readonly bigint[]): { read: Read; sizes: number[] } {
  const sizes: number[] = []
  const left = [...numbers]
  const read: Read = (asked) => {
    sizes.push(asked.length)
    return Promise.resolve({ head: { number: left.shift() ?? 0n, timestamp: 1 }, results: asked.map(({ data }) => ({ ok: true, data })) })
  }
  return { read, sizes }
}

describe('more calls than one batch holds', () => {
  it('go in several batches at one block, without reading the same call twice', async () => {
    const { read, sizes } = chainAt([7n, 7n, 7n])
    const { head, results } = await readAtOnce(read, calls, at)
    expect(head.number).to.equal(7n)
    expect(results.map(({ data }) => data)).to.deep.equal(calls.map(({ data }) => data))
    expect(sizes).to.deep.equal([1000, 1000, 200])
  })

  it('start again where a block came in between, and end in a refusal where one always does', async () => {
    const { read } = chainAt([7n, 8n, 8n, 9n, 9n, 9n])
    expect((await readAtOnce(read, calls, at)).head.number).to.equal(9n)
    const restless = chainAt(Array.from({ length: 100 }, (_, index) => BigInt(index)))
    expect(await rejection(readAtOnce(restless.read, calls, at))).to.include({ name: 'NETWORK' })
  })

  it('go in one batch where they fit', async () => {
    const { read, sizes } = chainAt([7n])
    await readAtOnce(read, calls.slice(0, 1000), at)
    expect(sizes).to.deep.equal([1000])
  })
})
