import { expect } from 'chai'
import { dataLength, Interface } from 'ethers'
import * as fc from 'fast-check'
import { batchParts, maxCreationBytes, packBatch } from '../../../kits/evm/multicall.ts'
import type { Head } from '../../../core/contracts/index.ts'
import type { Call, Probe } from '../../../kits/evm/index.ts'
import { json, startFakeNode, type Behaviour } from './fake-node.ts'
import { at, chainOver, startStillChain, type TestChain } from './test-chain.ts'

/** Creation code that reverts with its arguments: CODECOPY of what is behind its 13 bytes, REVERT. */
const echo = '0x600d380380600d6000396000fd'
/** Reverts with so many zeros. */
const zeros = (bytes: number) => `0x61${bytes.toString(16).padStart(4, '0')}6000fd`
const silent = '0x60006000fd'
const deployed = '0x60006000f3'
/** Calls it, and reverts with what that gave. */
const calling = (address: string) => `0x6000600060006000600073${address.slice(2)}5af1503d600060003e3d6000fd`
/** The precompile that returns what it is given. */
const identity = (data: string): Call => ({ to: '0x0000000000000000000000000000000000000004', data })
const filled = (bytes: number, byte: string) => `0x${byte.repeat(bytes)}`

const bytes = fc.uint8Array({ maxLength: 100 }).map((data) => `0x${Buffer.from(data).toString('hex')}`)
const call = bytes.map(identity)
const probe = bytes.map((args) => ({ code: echo, args }))

describe('a batch of calls and probes', () => {
  let site: TestChain
  before(async () => {
    site = await startStillChain()
  })
  after(() => site.stop())

  it('returns the results of calls and the revert data of probes, in their order', async () => {
    const batch = fc.array(fc.oneof(call, probe), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(batch, async (items) => {
        const { results } = await site.chain.reader.read(items, at)
        const given = items.map((item) => ('code' in item ? item.args : item.data))
        // A probe that reverts with nothing has failed.
        expect(results).to.deep.equal(items.map((item, index) => ({ ok: !('code' in item && item.args === '0x'), data: given[index] })))
      }),
      { numRuns: 40 },
    )
  })

  it('returns the head of the block, in one request', async () => {
    await site.chain.reader.read([{ code: echo, args: '0x12' }], at)
    site.asked()
    const { head } = await site.chain.reader.read([{ code: echo, args: '0x12' }], at)
    expect(site.asked()).to.deep.equal(['eth_call'])
    expect(head).to.deep.equal((await site.chain.reader.read([], at)).head)
  })

  it('returns the other results when calls or probes fail', async () => {
    const reverting = '0x00000000000000000000000000000000000000aa'
    await site.rpc('anvil_setCode', reverting, '0x63deadbeef6000526004601cfd')
    const items = [{ to: reverting, data: '0x' }, { code: silent }, { code: deployed }, { code: calling(reverting) }, identity('0x01')]
    const { results } = await site.chain.reader.read(items, at)
    expect(results).to.deep.equal([
      { ok: false, data: '0xdeadbeef' },
      { ok: false, data: '0x' },
      { ok: false, data: '0x' },
      { ok: true, data: '0xdeadbeef' },
      { ok: true, data: '0x01' },
    ])
  })

  it('returns what others give beside contracts that use up their gas, or return more than there is gas for', async () => {
    const site = await startStillChain({ flags: ['--gas-limit', '30000000'] })
    const [eater, endless, large] = ['e1', 'e2', 'e3'].map((end) => `0x00000000000000000000000000000000000000${end}`)
    await site.rpc('anvil_setCode', eater, '0xfe')
    await site.rpc('anvil_setCode', endless, '0x5b600056')
    await site.rpc('anvil_setCode', large, '0x620f42406000f3')
    // It counts down from 20,000, which takes half a million gas, and returns 42: more than is left of 30 million by one that uses up its gas.
    const busy = '0x00000000000000000000000000000000000000e4'
    await site.rpc('anvil_setCode', busy, '0x62004e205b6001900380600457602a60005260206000f3')
    const silent = { ok: false, data: '0x' }
    const others = [identity('0x01'), identity('0x02'), { to: busy, data: '0x' }]
    const given = ['0x01', '0x02', `0x${'2a'.padStart(64, '0')}`].map((data) => ({ ok: true, data }))
    for (const code of [[], [{ code: echo, args: '0x12' }]])
      for (const bad of [eater, endless, large])
        for (const count of [1, 3]) {
          const items = [...Array.from({ length: count }, () => ({ to: bad ?? '', data: '0x' })), ...code, ...others]
          const { results, head } = await site.chain.reader.read(items, at)
          expect(head).to.deep.equal((await site.chain.reader.read([], at)).head)
          if (bad !== large) expect(results.slice(0, count)).to.deep.equal(Array.from({ length: count }, () => silent))
          expect(results.slice(count)).to.deep.equal([...code.map(({ args }) => ({ ok: true, data: args })), ...given])
        }
    const alone = await site.chain.reader.read([{ to: eater ?? '', data: '0x' }], at)
    expect(alone.results).to.deep.equal([silent])
    await site.stop()
  })

  it('returns results shorter and longer than the maximum contract size', async () => {
    for (const size of [23_700, 23_900, 24_000, 24_576, 65_000]) {
      const { results } = await site.chain.reader.read([{ code: zeros(size) }, identity('0x01')], at)
      expect(results).to.deep.equal([
        { ok: true, data: filled(size, '00') },
        { ok: true, data: '0x01' },
      ])
    }
  })

  it('sends several pieces of creation code in one request', async () => {
    const args = ['11', '22', '33', '44', '55'].map((byte) => filled(20_000, byte))
    site.asked()
    const { results } = await site.chain.reader.read([...args.map((each) => ({ code: echo, args: each })), identity('0x01')], at)
    expect(results.map(({ data }) => data)).to.deep.equal([...args, '0x01'])
    expect(site.asked()).to.deep.equal(['eth_call', 'eth_call', 'eth_call'])
  })

  it('fills creation code to the byte, sends each probe code once, and refuses what can never fit', () => {
    const sizeOf = (part: readonly (Call | Probe)[]) => dataLength(packBatch([...head, ...part]))
    const head = [identity('0x'), identity('0x')]
    const code = filled(5_000, '5b')
    const item = fc.oneof(
      call,
      fc.nat(30_000).map((size) => identity(filled(size, '11'))),
      fc.constantFrom(code, echo).map((each) => ({ code: each, args: filled(40, '11') })),
    )
    fc.assert(
      fc.property(fc.array(item, { maxLength: 40 }), (items) => {
        const parts = batchParts(items, head)
        expect(parts.flat()).to.deep.equal(items)
        for (const [index, part] of parts.entries()) {
          expect(sizeOf(part)).to.be.at.most(maxCreationBytes)
          const [next] = parts[index + 1] ?? []
          if (next) expect(sizeOf([...part, next])).to.be.greaterThan(maxCreationBytes)
        }
      }),
    )
    // What of the second part is the first of it to have the code.
    const twice = [{ code }, identity(filled(30_000, '11')), identity(filled(30_000, '11')), { code }, identity(filled(15_000, '11'))]
    for (const part of batchParts(twice, head)) expect(sizeOf(part)).to.be.at.most(maxCreationBytes)
    const roomBytes = maxCreationBytes - sizeOf([identity('0x')])
    const fullest = identity(filled(roomBytes - (roomBytes % 32), '11'))
    expect(batchParts([fullest], head)).to.have.length(1)
    expect(() => batchParts([identity(`${fullest.data}11`)], head)).to.throw('does not fit into creation code')
    expect(
      batchParts(
        Array.from({ length: 100 }, () => ({ code, args: '0x11' })),
        head,
      ),
    ).to.have.length(1)
    expect(() => batchParts([{ code: filled(48_000, '5b') }], head)).to.throw('48')
  })

  it('runs on chains without PUSH0', async () => {
    const old = await startStillChain({ flags: ['--hardfork', 'berlin'] })
    try {
      const items = [{ code: echo, args: '0x1234' }, identity('0x01')]
      expect((await old.chain.reader.read(items, at)).results.map(({ data }) => data)).to.deep.equal(['0x1234', '0x01'])
    } finally {
      await old.stop()
    }
  })
})

describe('a batch in parts, while blocks are mined', () => {
  const answers = new Interface(['function aggregate3((address,bool,bytes)[]) returns ((bool,bytes)[])'])
  const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
  const long = ['11', '22'].map((byte) => ({ code: echo, args: filled(30_000, byte) }))
  const partAt = (block: number) =>
    answers.encodeFunctionResult('aggregate3', [[word(block), word(block * 10), word(7), '0x01'].map((data) => [true, data])])

  /** @param blockOf the block that the `index`th call of the `times`th request is answered from */
  async function readOver(blockOf: (times: number, index: number, tag: unknown) => number, after?: Head) {
    let times = 0
    const behaviour: Behaviour = ({ calls, batched }, response) => {
      const isBatch = calls[0]?.method === 'eth_call'
      const results = calls.map(({ id, params }, index) => ({
        jsonrpc: '2.0',
        id,
        result: isBatch ? partAt(blockOf(times, index, params[1])) : '0x7a69',
      }))
      if (isBatch) times += 1
      json(response, batched ? results : results[0])
    }
    const node = await startFakeNode(behaviour)
    const { chain } = chainOver({ rpcUrls: [node.url] })
    try {
      return await chain.reader.read(long, at, after)
    } finally {
      await chain.stop?.()
      await node.close()
    }
  }

  it('reads again at the older of the blocks', async () => {
    const tags: unknown[] = []
    const { head } = await readOver((times, index, tag) => {
      tags.push(tag)
      return times === 0 && index === 1 ? 9 : 8
    })
    expect(tags).to.deep.equal(['latest', 'latest', '0x8', '0x8'])
    expect(head).to.deep.equal({ number: 8n, timestamp: 80, baseFeeRaw: 7n })
  })

  it('reads once more at a block for which a node answers with another one, as while it takes up a new one', async () => {
    const block = { number: 8n, timestamp: 80, hash: `0x${'12'.repeat(32)}` }
    const { head } = await readOver((times) => (times === 0 ? 9 : 8), block)
    expect(head).to.equal(block)
    const error = await readOver(() => 9, block).catch((failure: unknown) => failure)
    expect(error).to.have.property('name', 'NETWORK')
  })

  it('throws NETWORK if the parts never come from one block', async () => {
    const error = await readOver((times, index) => times + index).catch((failure: unknown) => failure)
    expect(error).to.have.property('name', 'NETWORK')
  })
})
