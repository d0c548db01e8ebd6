import { expect } from 'chai'
import { toQuantity } from 'ethers'
import type { OpenAttempt, AttemptStatus } from '../../../core/contracts/index.ts'
import { createChanges } from '../../../kits/evm/changes.ts'
import { createMinedFollower, type MinedFollower } from '../../../kits/evm/follow-mined.ts'
import type { EvmFees } from '../../../kits/evm/fees.ts'
import { createPoll } from '../../../kits/evm/poll.ts'
import { createRecentBlocks, type RecentBlocks } from '../../../kits/evm/recent-blocks.ts'
import { blockCall, evmRpc, readBlock, type Block } from '../../../kits/evm/rpc.ts'
import type { RpcAnswer } from '../../../kits/nodes/dialect.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'
import { addressOf, gwei, nowhere, silent, soon, startSite, until, type TestSite } from '../../transactions/site.ts'

type Attempt = OpenAttempt<string, number, EvmFees>
type Lie = (call: { method: string; params: readonly unknown[] }, answer: RpcAnswer) => RpcAnswer

const confirmations = 3
const fees = { gasLimit: '100000', maxFeePerGas: String(50n * gwei), maxPriorityFeePerGas: String(gwei) }
const from = addressOf(3)
const honest: Lie = (_call, answer) => answer
const receipt = 'eth_getTransactionReceipt'
/** What is asked about a transaction by itself: of the node, of its wallet, of it. */
const byItself = [
  'eth_getBlockByNumber',
  ...Array.from({ length: 3 }, () => 'eth_getTransactionCount'),
  receipt,
  'eth_getTransactionByHash',
]

describe('transactions followed by the blocks', () => {
  let site: TestSite
  let real: Rpc
  let rpc: Rpc
  let lie: Lie = honest
  let asked: string[] = []
  let blocks: RecentBlocks
  let follower: MinedFollower

  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
    real = evmRpc({ rpcUrls: [site.relay.url], chainId: 31337, meter: { rpc: () => {} }, log: silent, timeoutMs: 30_000 })
    rpc = {
      ...real,
      async batch(calls, at) {
        asked.push(...calls.map(({ method }) => method))
        const answers = await real.batch(calls, at)
        return calls.map((call, index) => lie(call, answers[index] ?? {}))
      },
    }
    await site.mine(10)
  })
  after(async () => {
    await real.stop()
    await site.stop()
  })
  beforeEach(async () => {
    lie = honest
    start()
    await head()
    asked = []
  })
  afterEach(async () => {
    await site.rpc('anvil_dropAllTransactions')
  })

  function start(): void {
    blocks = createRecentBlocks(rpc, confirmations)
    follower = createMinedFollower({ rpc, blocks, poll: createPoll(rpc, confirmations), blockMs: 1_000 })
  }

  /** The newest block, as the feed of heads reads it. */
  async function head(): Promise<Block> {
    const call = blockCall('latest')
    const answer = lie(call, { result: await real.request(call.method, call.params, { signal: soon() }) })
    const block = readBlock(rpc, answer.result)
    blocks.recordHead(block, answer.result)
    return block
  }

  async function look(open: readonly Attempt[], at?: Block): Promise<readonly AttemptStatus[]> {
    return (await follower.look(open, at ?? (await head()), { signal: soon() })).statuses
  }

  /** Sends it as a server does, with the next nonce of a wallet whose nonces were just checked. */
  async function send(): Promise<Attempt> {
    const sequence = Number(await site.rpc('eth_getTransactionCount', from, 'pending'))
    follower.noteCount(from, Number(await site.rpc('eth_getTransactionCount', from, 'latest')))
    const tx = { from, to: nowhere, value: '0x1', nonce: toQuantity(sequence), gas: '0x186a0', maxFeePerGas: toQuantity(50n * gwei) }
    const id = String(await site.rpc('eth_sendTransaction', { ...tx, maxPriorityFeePerGas: toQuantity(gwei) }))
    await until('the node has it', async () => (await site.rpc('eth_getTransactionByHash', id)) !== null)
    follower.sending(id)(true)
    return { id, from, step: null, sequence, fees }
  }

  /** As the watcher journals it. */
  function journaled(attempt: Attempt, status: AttemptStatus | undefined): Attempt {
    if (status?.is !== 'landed') throw new Error(`It has not landed: ${JSON.stringify(status)}`)
    return { ...attempt, landed: status }
  }

  it('asks for a receipt once, and for nothing else until it is final', async () => {
    const attempt = await send()
    expect(await look([attempt])).to.deep.equal([])
    await site.mine()
    const [mined] = await look([attempt])
    expect(mined).to.include({ id: attempt.id, is: 'landed', ok: true, depth: 1 })
    const known = journaled(attempt, mined)
    for (const depth of [2, 3]) {
      await site.mine()
      expect(await look([known])).to.deep.equal([{ ...mined, depth }])
    }
    expect(asked).to.deep.equal([receipt])
  })

  it('finds what is in a block between two polls, of which each is read once', async () => {
    const [one, other] = [await send(), await send()]
    await site.mine(3)
    const found = await look([one, other])
    expect(found.map(({ id, is }) => [id, is])).to.deep.equal([
      [one.id, 'landed'],
      [other.id, 'landed'],
    ])
    expect(found[0]).to.include({ depth: 3 })
    expect(asked).to.deep.equal(['eth_getBlockByNumber', 'eth_getBlockByNumber', receipt, receipt])
  })

  it('shares the blocks between two polls with what is followed of them', async () => {
    const attempt = await send()
    const before = await head()
    await site.mine(4)
    const after = await head()
    const changes = createChanges(rpc, 'ethereum/local', blocks.read)
    const [read, found] = await Promise.all([changes(before, after, { follow: [] }, { signal: soon() }), look([attempt], after)])
    expect(read).to.have.length(4)
    expect(found[0]).to.include({ is: 'landed', depth: 4 })
    expect(asked.filter((method) => method === 'eth_getBlockByNumber')).to.have.length(3)
  })

  it('asks for what three blocks did not have', async () => {
    const attempt = await send()
    lie = ({ method }, answer) => (method === 'eth_getBlockByNumber' ? { result: { ...Object(answer.result), transactions: [] } } : answer)
    for (const _ of [1, 2]) {
      await site.mine()
      expect(await look([attempt])).to.deep.equal([])
    }
    expect(asked).to.deep.equal([])
    await site.mine()
    const [found] = await look([attempt])
    expect(found).to.include({ is: 'landed', depth: 3 })
    expect(asked).to.deep.equal(byItself)
  })

  it('does not count blocks that it learns of only after a send, because they may be older', async () => {
    await site.mine(4)
    const attempt = await send()
    expect(await look([attempt])).to.deep.equal([])
    await site.mine()
    expect((await look([attempt]))[0]).to.include({ is: 'landed', depth: 1 })
    expect(asked.filter((method) => method !== 'eth_getBlockByNumber')).to.deep.equal([receipt])
  })

  it('does not count blocks that come while it is on its way to a node, or that were mined before it came there', async () => {
    const attempt = await send()
    await site.rpc('anvil_dropTransaction', attempt.id)
    const sent = follower.sending(attempt.id)
    for (let block = 0; block < 4; block += 1) {
      await site.mine()
      expect(await look([attempt])).to.deep.equal([])
    }
    await site.mine(4)
    sent(true)
    expect((await send()).id).to.equal(attempt.id)
    expect(await look([attempt])).to.deep.equal([])
    await site.mine()
    expect((await look([attempt]))[0]).to.include({ is: 'landed', depth: 1 })
    expect(asked.filter((method) => method !== 'eth_getBlockByNumber')).to.deep.equal([receipt])
  })

  it('asks for each at every block if blocks do not list their transactions', async () => {
    lie = ({ method }, answer) =>
      method === 'eth_getBlockByNumber' ? { result: { ...Object(answer.result), transactions: undefined } } : answer
    const attempt = await send()
    start()
    expect((await look([attempt])).map(({ is }) => is)).to.deep.equal(['pending'])
    await site.mine()
    expect((await look([attempt])).map(({ is }) => is)).to.deep.equal(['landed'])
  })

  it('asks at once for what an earlier server sent, and then follows it', async () => {
    const attempt = await send()
    start()
    expect((await look([attempt])).map(({ is }) => is)).to.deep.equal(['pending'])
    await site.mine()
    asked = []
    expect(await look([attempt])).to.have.length(1)
    expect(asked).to.deep.equal([receipt])
  })

  it('needs no receipt of what an earlier server saw in a block that is an ancestor of the head', async () => {
    const attempt = await send()
    await site.mine()
    const known = journaled(attempt, (await look([attempt]))[0])
    await site.mine(2)
    start()
    asked = []
    expect((await look([known]))[0]).to.include({ is: 'landed', depth: 3 })
    expect(new Set(asked)).to.deep.equal(new Set(['eth_getBlockByNumber']))
  })

  it('asks for what an earlier server saw in a block that a reorganisation undid', async () => {
    const attempt = await send()
    await site.mine()
    const known = journaled(attempt, (await look([attempt]))[0])
    await site.rpc('anvil_reorg', 1, [])
    await site.mine(3)
    start()
    for (const each of await look([known])) expect(each.is).to.be.oneOf(['unseen', 'pending'])
    expect(asked).to.include.members(byItself)
  })

  it('asks at once for what a reorganisation took out of its block', async () => {
    const attempt = await send()
    await site.mine(2)
    const known = journaled(attempt, (await look([attempt]))[0])
    await site.rpc('anvil_reorg', 2, [])
    await site.rpc('anvil_dropTransaction', attempt.id)
    expect((await look([known])).map(({ is }) => is)).to.deep.equal(['unseen'])
  })

  it('sees by which block a reorganisation mined it anew', async () => {
    const attempt = await send()
    const raw = await site.rpc('eth_getRawTransactionByHash', attempt.id)
    await site.mine(2)
    const known = journaled(attempt, (await look([attempt]))[0])
    await site.rpc('anvil_reorg', 2, [[raw, 1]])
    await site.mine()
    asked = []
    const [again] = await look([known])
    expect(again).to.include({ id: attempt.id, is: 'landed', depth: 2 })
    expect(again).to.not.have.property('blockHash', known.landed?.blockHash)
    expect(asked.filter((method) => method !== 'eth_getBlockByNumber')).to.deep.equal([receipt])
  })

  it('does not take the receipt of another fork for one of its block', async () => {
    const attempt = await send()
    await site.mine()
    lie = ({ method }, answer) =>
      method === receipt ? { result: { ...Object(answer.result), blockHash: `0x${'ab'.repeat(32)}` } } : answer
    const [found] = await look([attempt])
    // By itself it is asked for as well: that answer counts only while the wallet's nonces agree with it.
    expect(asked).to.deep.equal([receipt, ...byItself])
    expect(found).to.include({ depth: 1 })
    lie = honest
    expect((await look([journaled(attempt, found)]))[0]).to.include({ is: 'landed', depth: 1 })
  })

  it('waits for a receipt that the node does not have yet', async () => {
    const attempt = await send()
    await site.mine()
    lie = ({ method }, answer) => (method === receipt ? { result: null } : answer)
    expect(await look([attempt])).to.deep.equal([])
    lie = honest
    expect((await look([attempt]))[0]).to.include({ is: 'landed', depth: 1 })
    expect(asked).to.deep.equal([receipt, receipt])
  })

  it('goes by the next head if a node gives blocks of another fork, or lacks them', async () => {
    const attempt = await send()
    await site.mine(2)
    const top = await head()
    for (const wrong of [null, { hash: `0x${'cd'.repeat(32)}` }]) {
      lie = ({ method, params: [tag] }, answer) =>
        method === 'eth_getBlockByNumber' && tag !== 'latest' ? { result: wrong && { ...Object(answer.result), ...wrong } } : answer
      start()
      follower.sending(attempt.id)(true)
      // What is known of the blocks does not go back far enough.
      for (const each of await look([attempt], top)) expect(each).to.include({ is: 'landed', depth: 2 })
    }
    lie = honest
    expect((await look([attempt]))[0]).to.include({ is: 'landed', depth: 2 })
  })

  it('asks for what waits for a nonce that is not ours, at every block', async () => {
    const theirs = await send()
    const ours = await send()
    start()
    follower.noteCount(from, theirs.sequence)
    await head()
    follower.sending(ours.id)(true)
    asked = []
    for (const _ of [1, 2]) expect((await look([ours])).map(({ is }) => is)).to.deep.equal(['pending'])
    expect(asked).to.deep.equal([...byItself, ...byItself])
    await site.mine()
  })

  it('does not ask for the other attempts on the nonce of one that is mined', async () => {
    const attempt = await send()
    const other = { ...attempt, id: `0x${'ab'.repeat(32)}` }
    follower.sending(other.id)(true)
    await site.mine()
    const [mined] = await look([other, attempt])
    const known = journaled(attempt, mined)
    for (let block = 0; block < 3; block += 1) {
      await site.mine()
      expect(await look([other, known])).to.have.length(1)
    }
    expect(asked).to.deep.equal([receipt])
  })

  it('asks for what pays too little for the next block', async () => {
    const attempt = { ...(await send()), fees: { ...fees, maxFeePerGas: '1' } }
    expect((await look([attempt]))[0]).to.include({ is: 'pending', underpriced: true })
    await site.mine()
  })

  it('asks why one failed until it knows', async () => {
    const contract = '0x00000000000000000000000000000000000000c9'
    await site.rpc('anvil_setCode', contract, '0x5f5ffd')
    const sequence = Number(await site.rpc('eth_getTransactionCount', from, 'latest'))
    follower.noteCount(from, sequence)
    const id = String(await site.rpc('eth_sendTransaction', { from, to: contract, gas: '0x186a0' }))
    follower.sending(id)(true)
    await site.mine()
    const attempt = { id, from, step: null, sequence, fees }
    const failed = { is: 'landed', ok: false, reason: 'reverted without a reason' }
    const [found] = await look([attempt])
    expect(found).to.include(failed)
    asked = []
    await site.mine()
    const known = journaled(attempt, found)
    expect((await look([known]))[0]).to.include({ ...failed, depth: 2 })
    expect(asked).to.deep.equal([])
  })
})
