import { expect } from 'chai'
import type { Head } from '../../../core/contracts/index.ts'
import { chainOver, at, startStillChain, wallet, type TestChain } from './test-chain.ts'
import { answering, startFakeNode, type FakeNode } from './fake-node.ts'

/** Logs what comes after the first word of its input as data, with that word as the topic: CALLDATACOPY, MLOAD, SUB, LOG1. */
const logger = '0x00000000000000000000000000000000000000a0'
const loggerCode = '0x366000600037600051602036036020a100'
const topic = (digit: string) => `0x${digit.repeat(64)}`

describe('the changes between two blocks of an EVM chain', () => {
  let test: TestChain
  before(async () => {
    test = await startStillChain()
    await test.rpc('anvil_setCode', logger, loggerCode)
    await test.rpc('evm_mine')
  })
  after(() => test.stop())

  const log = (digit: string, data = '') =>
    test.rpc('eth_sendTransaction', { from: wallet, to: logger, gas: '0x186a0', data: `${topic(digit)}${data}` })
  const mine = async (): Promise<Head> => {
    await test.rpc('evm_mine')
    return test.chain.head(at)
  }
  const changes = (after: Head, to: Head, follow: readonly string[]) => {
    if (!test.chain.changes) throw new Error('An EVM chain has changes.')
    return test.chain.changes(after, to, { follow }, at)
  }
  const told = async (after: Head, to: Head, follow: readonly string[]) => {
    const blocks = await changes(after, to, follow)
    return blocks === 'forked'
      ? blocks
      : blocks.map(({ head, changes: logs }) => [head.number, logs.map(({ data, topics }) => [topics[0], data])])
  }

  it('returns the logs of the next block by their first topic, in order, in one request', async () => {
    const before = await test.chain.head(at)
    await log('1', 'aa')
    await log('2', 'bb')
    await log('3', 'cc')
    await log('1', 'dd')
    const head = await mine()
    test.asked()
    expect(await told(before, head, [topic('1'), topic('2')])).to.deep.equal([
      [
        head.number,
        [
          [topic('1'), '0xaa'],
          [topic('2'), '0xbb'],
          [topic('1'), '0xdd'],
        ],
      ],
    ])
    expect(test.asked()).to.deep.equal(['eth_getBlockTransactionCountByHash', 'eth_getLogs'])
    expect(await told(before, head, [])).to.deep.equal([[head.number, []]])
    expect(await changes(head, head, [topic('1')])).to.deep.equal([])
    expect(test.asked()).to.deep.equal([])
  })

  it('returns several blocks, each linked to the one before, in two batches', async () => {
    const before = await test.chain.head(at)
    await log('1', '01')
    const first = await mine()
    await mine()
    await log('1', '03')
    const last = await mine()
    test.asked()
    const blocks = await changes(before, last, [topic('1')])
    expect(test.asked()).to.deep.equal([
      ...Array<string>(2).fill('eth_getBlockByNumber'),
      ...Array<string>(3).fill('eth_getBlockTransactionCountByHash'),
      ...Array<string>(3).fill('eth_getLogs'),
    ])
    if (blocks === 'forked') expect.fail('it is no fork')
    expect(blocks.map(({ changes: logs }) => logs.map(({ data }) => data))).to.deep.equal([['0x01'], [], ['0x03']])
    expect(blocks.map(({ head }) => head.parentHash)).to.deep.equal([before.hash, first.hash, blocks[1]?.head.hash])
    expect(blocks.at(-1)?.head).to.equal(last)
  })

  it('returns "forked" if the first block is not an ancestor of the last', async () => {
    const base = await test.chain.head(at)
    await log('1', 'ee')
    const gone = await mine()
    await test.rpc('anvil_reorg', 1, [])
    const other = await test.chain.head(at)
    expect(other.number).to.equal(gone.number)
    expect(other.hash).to.not.equal(gone.hash)
    const next = await mine()
    await mine()
    const later = await mine()
    test.asked()
    expect(await changes(gone, other, [topic('1')])).to.equal('forked')
    expect(await changes(gone, next, [topic('1')])).to.equal('forked')
    expect(test.asked(), 'what the heads say by themselves').to.deep.equal([])
    expect(await changes(gone, later, [topic('1')])).to.equal('forked')
    expect(await told(base, later, [topic('1')])).to.deep.equal([
      [other.number, []],
      [next.number, []],
      [next.number + 1n, []],
      [later.number, []],
    ])
  })

  it('throws for a block that the node does not have', async () => {
    const before = await test.chain.head(at)
    const head = await mine()
    const unknown: Head = { ...head, hash: topic('9') }
    const refused = await changes(before, unknown, [topic('1')]).then(
      () => expect.fail('the node has no such block'),
      (error: unknown) => error,
    )
    expect(refused).to.include({ name: 'NETWORK' })
  })

  it('throws for heads without a parent hash', async () => {
    const { number, timestamp } = await test.chain.head(at)
    const refused = await changes({ number, timestamp }, await mine(), [topic('1')]).catch((error: unknown) => error)
    expect(refused).to.be.an('error')
  })

  it('reads a state at a given block, whatever came after it', async () => {
    const read = async (after?: Head) => {
      const { head, results } = await test.chain.reader.read([{ to: logger, data: topic('4') }], at, after)
      return { head, results }
    }
    const old = await test.chain.head(at)
    const newest = await mine()
    expect((await read()).head.number).to.equal(newest.number)
    expect((await read(old)).head).to.equal(old)
    await test.rpc('anvil_reorg', 1, [])
    const lost = await read(newest).catch((error: unknown) => error)
    expect(lost).to.include({ name: 'NETWORK' })
  })
})

describe('nodes that give wrong or incomplete answers', () => {
  let node: FakeNode
  before(async () => {
    node = await startFakeNode()
  })
  after(() => node.close())

  const hash = (digit: string) => `0x${digit.repeat(64)}`
  const head = (number: bigint, own: string, parent: string): Head => ({ number, timestamp: 1, hash: hash(own), parentHash: hash(parent) })
  const logOf = (fields: object = {}) => ({
    address: logger,
    topics: [topic('1')],
    data: '0x',
    blockNumber: '0x6',
    blockHash: hash('6'),
    transactionHash: topic('7'),
    logIndex: '0x0',
    ...fields,
  })
  const told = (logs: unknown, count: unknown = '0x1') => answering({ eth_getLogs: logs, eth_getBlockTransactionCountByHash: count })
  /** As some say of a block that they do not have. */
  const without = told([], null)
  const next = (chain: TestChain['chain'], from?: () => readonly string[]) =>
    chain
      .changes?.(head(5n, '5', '4'), head(6n, '6', '5'), { follow: [topic('1')], ...(from && { from }) }, at)
      .catch((error: unknown) => error)
  const outcome = async (from?: () => readonly string[]) => {
    const { chain } = chainOver({ rpcUrls: [node.url] })
    const blocks = await next(chain, from)
    await chain.stop?.()
    return blocks
  }

  it('get another question if the blocks in between do not link the two, or have other numbers', async () => {
    const block = (number: string, own: string, parent: string) => ({ number, timestamp: '0x1', hash: hash(own), parentHash: hash(parent) })
    const between = async (result: unknown) => {
      node.behave(answering({ eth_getBlockByNumber: result }))
      const { chain } = chainOver({ rpcUrls: [node.url] })
      const blocks = await chain.changes?.(head(5n, '5', '4'), head(7n, '7', '6'), { follow: [] }, at).catch((error: unknown) => error)
      await chain.stop?.()
      return blocks
    }
    expect(await between(block('0x6', '6', '5'))).to.have.length(2)
    expect(await between(block('0x6', '6', 'a'))).to.equal('forked')
    expect(await between(block('0x6', 'a', '5'))).to.include({ name: 'NETWORK' })
    expect(await between(block('0x8', '6', '5'))).to.include({ name: 'NETWORK' })
    expect(await between(null)).to.include({ name: 'NETWORK' })
  })

  it('get no trust if logs are of another block, were removed, are out of order or are invalid', async () => {
    node.behave(told([logOf(), logOf({ logIndex: '0x3' })]))
    expect(await outcome()).to.have.length(1)
    const wrong: unknown[] = [
      null,
      {},
      [logOf({ blockHash: hash('7') })],
      [logOf({ blockNumber: '0x7' })],
      [logOf({ removed: true })],
      [logOf({ logIndex: '0x1' }), logOf({ logIndex: '0x1' })],
      [logOf({ logIndex: '0x2' }), logOf({ logIndex: '0x1' })],
      [logOf({ logIndex: undefined })],
      [null],
      [logOf({ data: 'x' })],
    ]
    for (const result of wrong) {
      node.behave(told(result))
      expect(await outcome(), JSON.stringify(result)).to.include({ name: 'NETWORK' })
    }
  })

  it('get no trust about logs of a block that they do not have: the next node is asked', async () => {
    node.behave(told([]))
    expect(await outcome()).to.deep.equal([{ head: head(6n, '6', '5'), changes: [] }])
    node.behave(without)
    expect(await outcome()).to.include({ name: 'NETWORK' })
    const other = await startFakeNode(told([logOf()]))
    const { chain } = chainOver({ rpcUrls: [node.url, other.url] })
    expect(await next(chain)).to.include({ name: 'NETWORK' })
    // The other is met in the background.
    let blocks = await next(chain)
    while (!Array.isArray(blocks)) blocks = await next(chain)
    expect(blocks).to.have.nested.property('[0].changes').of.length(1)
    await chain.stop?.()
    await other.close()
  })

  it('get no trust about logs of named contracts either, if they refuse filters without addresses', async () => {
    const isNamed = ([filter]: unknown[]) => typeof filter === 'object' && filter !== null && 'address' in filter
    node.behave((asked, response) => {
      const refused = answering({ eth_getBlockTransactionCountByHash: '0x1' })
      const answer = asked.calls.some(({ params }) => isNamed(params)) ? without : refused
      answer(asked, response)
    })
    node.asked.length = 0
    expect(await outcome(() => [logger])).to.include({ name: 'NETWORK' })
    expect(node.asked.filter((method) => method === 'eth_getLogs')).to.have.length(2)
  })
})
