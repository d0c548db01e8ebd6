import { expect } from 'chai'
import { Interface, toBeHex } from 'ethers'
import type { Token, WalletHistory } from '../../../core/contracts/index.ts'
import { json, startFakeNode, type Behaviour, type FakeNode, type NodeRequest } from './fake-node.ts'
import { at, chainOver, mined, startDevnetChain, wallet, type TestChain } from './test-chain.ts'

const erc20 = new Interface(['function transfer(address to, uint256 value)', 'function deposit()'])
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

type Call = NodeRequest['calls'][number]

/** The real node behind it answers, but for what a provider refuses. */
const forwarding =
  (url: string, refuse: (call: Call) => object | undefined): Behaviour =>
  ({ calls, batched }, response) =>
    void Promise.all(
      calls.map(async (call) => {
        const error = refuse(call)
        if (error) return { jsonrpc: '2.0', id: call.id, error }
        const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(call) })
        return answer.json()
      }),
    ).then((answers) => json(response, batched ? answers : answers[0]))

const rangeOf = ({ params: [filter] }: Call): readonly [number, number] => {
  const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
  return [Number(fromBlock), Number(toBlock)]
}

describe('what wallets held at past blocks', function () {
  this.timeout(300_000)
  let test: TestChain
  let node: FakeNode
  let weth: Token
  let usdc: Token
  let first: number
  let last: number

  before(async () => {
    test = await startDevnetChain()
    node = await startFakeNode()
    const [one, two] = test.chain.reader.intermediates
    weth = one ?? expect.fail('no WETH')
    usdc = two ?? expect.fail('no USDC')
    first = await newest()
    await send({ to: weth.address, data: erc20.encodeFunctionData('deposit'), value: toBeHex(5n) })
    await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [other, 3n]) })
    await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [wallet, 4n]) })
    await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [other, 0n]) })
    await send({ to: other, value: toBeHex(7n) })
    last = await newest()
  })
  after(async () => {
    await test.stop()
    await node.close()
  })

  const newest = async () => Number(await test.rpc('eth_blockNumber'))
  async function send(tx: object): Promise<void> {
    await mined(test, await test.rpc('eth_sendTransaction', { from: wallet, ...tx }))
  }

  async function withNode<T>(refuse: (call: Call) => object | undefined, use: (history: WalletHistory) => Promise<T>): Promise<T> {
    node.behave(forwarding(test.rpcUrl, refuse))
    const { chain } = chainOver({ rpcUrls: [node.url] })
    try {
      return await use(chain.evm?.history ?? expect.fail('no history'))
    } finally {
      await chain.stop?.()
    }
  }
  const shown = ({ transfers, since }: Awaited<ReturnType<WalletHistory['transfers']>>) => ({
    transfers: transfers.map(({ token, amountRaw, blockNumber }) => [token, amountRaw, blockNumber - first]),
    since: since === undefined ? undefined : since - first,
  })
  const all = () => [
    [weth.address, 5n, 1],
    [usdc.address, -3n, 2],
  ]

  it('reads what events say that moved, without sums of 0, and the balances of any number of blocks, each in one request', async () => {
    await withNode(
      () => undefined,
      async (history) => {
        await history.blocks([first], at)
        node.requests = 0
        const [before, after] = await history.holdings(wallet, [weth.address, usdc.address], [first, last], at)
        expect(node.requests).to.equal(1)
        expect((after?.nonce ?? 0) - (before?.nonce ?? 0)).to.equal(5)
        expect(after?.balances.map((each, index) => (each ?? 0n) - (before?.balances[index] ?? 0n))).to.deep.equal([5n, -3n])
        expect(shown(await history.transfers([wallet], { from: first + 1, to: last }, at))).to.deep.equal({
          transfers: all(),
          since: undefined,
        })
        const [block] = await history.blocks([last], at)
        expect(block?.number).to.equal(last)
      },
    )
  })

  it('asks for events in ranges that the node takes', async () => {
    const found = await withNode(
      (call) => {
        if (call.method !== 'eth_getLogs') return undefined
        const [from, to] = rangeOf(call)
        return to - from >= 2 ? { code: -32005, message: 'query exceeds max block range 2' } : undefined
      },
      (history) => history.transfers([wallet], { from: first + 1, to: last }, at),
    )
    expect(shown(found)).to.deep.equal({ transfers: all(), since: undefined })
  })

  it('says from which block on a node has events', async () => {
    const found = await withNode(
      (call) =>
        call.method === 'eth_getLogs' && rangeOf(call)[0] < first + 2 ? { code: 4444, message: 'pruned history unavailable' } : undefined,
      (history) => history.transfers([wallet], { from: first - 10, to: last }, at),
    )
    expect(shown(found)).to.deep.equal({ transfers: all().slice(1), since: 2 })
  })

  it('tells no balance of a block whose state the node has lost, and those of the others', async () => {
    const isOld = ({ params }: Call) =>
      params.some((each) => typeof each === 'string' && /^0x[0-9a-f]{1,8}$/.test(each) && Number(each) < last)
    const found = await withNode(
      (call) =>
        ['eth_getBalance', 'eth_getTransactionCount', 'eth_call'].includes(call.method) && isOld(call)
          ? { code: -32000, message: 'missing trie node 0123 (path ) state 0x0123 is not available' }
          : undefined,
      (history) => history.holdings(wallet, [usdc.address], [first, last], at),
    )
    expect(found.map((each) => each !== undefined)).to.deep.equal([false, true])
  })

  it('reads what transactions of blocks did to the coin, with their fees', async () => {
    const history = test.chain.evm?.history ?? expect.fail('no history')
    const [move, ...others] = await history.coinMoves(wallet, [last], at)
    expect(others).to.deep.equal([])
    expect(move).to.include({ blockNumber: last, amountRaw: -7n })
    expect(move?.feeRaw).to.be.a('bigint')
    const [received] = await history.coinMoves(other, [last], at)
    expect(received).to.deep.equal({ blockNumber: last, txHash: move?.txHash, amountRaw: 7n })
  })

  it('refuses a block that no node has', async () => {
    const refused = await withNode(
      () => undefined,
      (history) => history.holdings(wallet, [], [last + 100], at).catch((error: unknown) => error),
    )
    expect(refused).to.include({ name: 'NETWORK' })
  })
})
