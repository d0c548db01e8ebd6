import { expect } from 'chai'
import { Interface } from 'ethers'
import type { Head } from '../../../core/contracts/index.ts'
import type { EvmChainConfig } from '../../../kits/evm/index.ts'
import { answering, hangUp, json, startFakeNode, status, type Behaviour, type FakeNode } from './fake-node.ts'
import { at, chainOver, wallet } from './test-chain.ts'

const gwei = (amount: number) => `0x${(amount * 1e9).toString(16)}`
const hash = `0x${'ab'.repeat(32)}`

/** Half full, so that the next base fee is the same. */
function block(number: number, baseFeeGwei: number, hashDigits = number.toString(16).padStart(64, '0')) {
  return {
    number: `0x${number.toString(16)}`,
    hash: `0x${hashDigits}`,
    timestamp: '0x65000000',
    baseFeePerGas: gwei(baseFeeGwei),
    gasUsed: '0xe4e1c0',
    gasLimit: '0x1c9c380',
  }
}

/** What Multicall3 gives for number, timestamp and base fee of a block. */
const multicallHead = (number: number, baseFeeRaw: bigint) => multicallWords(BigInt(number), 0x65000000n, baseFeeRaw)

const aggregate = new Interface(['function aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool,bytes)[])'])

/** What Multicall3 gives where every call answers with a number. */
function multicallWords(...values: readonly bigint[]): string {
  const multicall = new Interface(['function aggregate3((address,bool,bytes)[]) returns ((bool,bytes)[])'])
  const words = values.map((value) => [true, `0x${value.toString(16).padStart(64, '0')}`])
  return multicall.encodeFunctionResult('aggregate3', [words])
}

/** A node at that head. */
const heads = (number: number, digits?: string) =>
  answering({ eth_getBlockByNumber: block(number, 1, digits), eth_maxPriorityFeePerGas: '0x0' })

describe('an EVM chain with scripted nodes', () => {
  let node: FakeNode
  let stop: () => Promise<void>

  async function chain(results: Record<string, unknown>, config: EvmChainConfig = {}) {
    node = await startFakeNode(answering(results))
    const over = chainOver({ rpcUrls: [node.url], ...config })
    stop = async () => {
      await over.chain.stop?.()
      await node.close()
    }
    return over.chain
  }
  afterEach(() => stop())

  it('says that a pending transaction pays too little when the base fee has risen above its offer', async () => {
    const pending = (maxFeeGwei: number) => ({
      eth_getTransactionByHash: { hash, nonce: '0x1', maxFeePerGas: gwei(maxFeeGwei) },
      eth_getTransactionReceipt: null,
      eth_getBlockByNumber: block(9, 20),
    })
    const subject = await chain(pending(19))
    expect(await subject.find(hash, at)).to.include({ pays: false })
    node.behave(answering(pending(20)))
    expect(await subject.find(hash, at)).to.include({ pays: true })
  })

  it('tells nothing of a transaction by the receipt of another one, or by another one itself', async () => {
    const other = hash.replaceAll('ab', 'cd')
    const receipt = {
      transactionHash: other,
      blockHash: hash,
      blockNumber: '0x9',
      from: wallet,
      to: wallet,
      gasUsed: '0x5208',
      logs: [],
      status: '0x1',
    }
    const mined = { eth_getTransactionByHash: { hash }, eth_getTransactionReceipt: receipt, eth_getBlockByNumber: block(9, 20) }
    const subject = await chain(mined)
    const found = () => subject.find(hash, at).then(String, (error: Error) => error.message)
    expect(await found()).to.match(/answered with another transaction/)
    node.behave(answering({ ...mined, eth_getTransactionByHash: { hash: other }, eth_getTransactionReceipt: null }))
    expect(await found()).to.match(/answered with another transaction/)
    node.behave(answering({ ...mined, eth_getTransactionReceipt: { ...receipt, transactionHash: hash.toUpperCase().replace('X', 'x') } }))
    expect(await subject.find(hash, at)).to.include({ blockNumber: 9 })
  })

  it('asks no node about a plan with what is no address or no bytes, for which nodes are put aside', async () => {
    const subject = await chain({})
    const [step, token] = [{ to: wallet, data: '0x', value: '0' }, hash.slice(0, 42)]
    const balance = { is: 'balance', token, amountRaw: 1n } as const
    const allowance = { is: 'allowance', token, spender: wallet, amountRaw: 1n } as const
    for (const [what, steps, needs] of [
      ['x', [{ ...step, to: 'x' }], []],
      ['0x1', [{ ...step, data: '0x1' }], []],
      ['zz', [step, { ...step, data: 'zz' }], []],
      ['undefined', [JSON.parse('{"to":"0x1111111111111111111111111111111111111111","value":"0"}')], []],
      ['x', [step], [{ ...balance, token: 'x' }]],
      [hash, [step], [balance, { ...allowance, token: hash }]],
      ['0x', [step], [{ ...allowance, spender: '0x' }]],
      ['y', [step], [{ ...allowance, permit2: 'y' }]],
    ] as const)
      expect(
        await subject.rail.check(steps, needs, wallet, { feeOverrides: {} }, at).then(String, ({ message }: Error) => message),
      ).to.match(new RegExp(`has ${what} .*nothing was signed`))
    expect(node.asked).to.deep.equal([])
  })

  it("uses the block's base fee if the node sets it to 0 in calls, as geth and reth do", async () => {
    const subject = await chain({ eth_call: multicallHead(9, 0n), eth_getBlockByNumber: block(8, 30), eth_maxPriorityFeePerGas: gwei(2) })
    await subject.head(at)
    const { head } = await subject.reader.read([], at)
    expect(head).to.deep.equal({ number: 9n, timestamp: 0x65000000, baseFeeRaw: 30_000_000_000n })
    expect((await subject.gas(1n, head, at)).gasPriceRaw).to.equal(32_000_000_000n)
  })

  it('does not predict a lower base fee, because rollups have far more room in blocks than their target', async () => {
    const roomy = { ...block(8, 30), gasLimit: `0x${(2n ** 50n).toString(16)}` }
    const subject = await chain({ eth_call: multicallHead(9, 0n), eth_getBlockByNumber: roomy, eth_maxPriorityFeePerGas: gwei(2) })
    await subject.head(at)
    const { head } = await subject.reader.read([], at)
    expect((await subject.gas(1n, head, at)).gasPriceRaw).to.equal(32_000_000_000n)
    expect((await subject.gas(1n, undefined, at)).gasPriceRaw).to.equal(32_000_000_000n)
    expect((await subject.gas(1n, { number: 20n, timestamp: 0x65000000 }, at)).gasPriceRaw).to.equal(32_000_000_000n)
  })

  it('uses the tips of recent blocks if the node suggests none', async () => {
    const reward = [3, 1, 2, 9, 8].map((tip) => [gwei(tip)])
    const subject = await chain({ eth_getBlockByNumber: block(8, 30), eth_feeHistory: { reward } })
    expect((await subject.gas(1n, undefined, at)).gasPriceRaw).to.equal(33_000_000_000n)
  })

  it('uses the percentile of the settings, and at least their minimum tip', async () => {
    const results = { eth_getBlockByNumber: block(8, 30), eth_feeHistory: { reward: [[gwei(1)]] }, eth_maxPriorityFeePerGas: gwei(7) }
    const subject = await chain(results, { feePolicy: { tipPercentile: 20, minTip: '1.5' } })
    expect((await subject.gas(1n, undefined, at)).gasPriceRaw).to.equal(31_500_000_000n)
    expect(node.asked).to.not.include('eth_maxPriorityFeePerGas')
  })

  /** What a node gives to the check of a transfer, besides a tip. */
  const transferable = {
    eth_getBlockByNumber: block(8, 30),
    eth_getTransactionCount: '0x1',
    eth_call: multicallWords(10n ** 18n),
    eth_estimateGas: '0x5208',
  }
  const fromBlocks = { eth_feeHistory: { reward: [[gwei(3)]] } }
  for (const { title, results, feePolicy } of [
    { title: 'what recent blocks were paid where the node suggests nothing', results: fromBlocks, feePolicy: {} },
    {
      title: 'what recent blocks were paid where the settings name a percentile',
      results: { ...fromBlocks, eth_maxPriorityFeePerGas: gwei(7) },
      feePolicy: { tipPercentile: 20 },
    },
    { title: "the node's suggestion", results: { eth_maxPriorityFeePerGas: gwei(3) }, feePolicy: {} },
  ]) {
    it(`signs with a tip of ${title}, also when nothing was known before`, async () => {
      const subject = await chain({ ...transferable, ...results }, { feePolicy })
      const { prepared } = await subject.rail.check([{ to: wallet, data: '0x', value: '0' }], [], wallet, { feeOverrides: {} }, at)
      expect(prepared[0]?.fees).to.include({ maxPriorityFeePerGas: '3000000000', maxFeePerGas: '63000000000' })
    })
  }

  const failing = (method: string, results: Record<string, unknown>): Behaviour => {
    const healthy = answering(results)
    return (asked, response) => {
      if (!asked.calls.some((call) => call.method === method)) return healthy(asked, response)
      const answers = asked.calls.map(({ id, method: each }) => ({
        jsonrpc: '2.0',
        id,
        ...(each === method
          ? { error: { code: -32603, message: 'internal error' } }
          : { result: each === 'eth_chainId' ? '0x7a69' : results[each] }),
      }))
      return json(response, asked.batched ? answers : answers[0])
    }
  }

  it('keeps taking the tip that nodes suggest after one of them has failed to', async () => {
    const results = { eth_getBlockByNumber: block(8, 30), eth_maxPriorityFeePerGas: gwei(2), eth_feeHistory: { reward: [[gwei(9)]] } }
    const subject = await chain(results)
    expect((await subject.gas(1n, undefined, at)).gasPriceRaw).to.equal(32_000_000_000n)
    node.behave(failing('eth_maxPriorityFeePerGas', results))
    await subject.head(at)
    expect((await subject.gas(1n, undefined, at)).gasPriceRaw).to.equal(32_000_000_000n)
    node.behave(answering({ ...results, eth_maxPriorityFeePerGas: gwei(4) }))
    for (let tries = 0; tries < 200 && (await subject.gas(1n, undefined, at)).gasPriceRaw !== 34_000_000_000n; tries += 1) {
      await subject.head(at)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect((await subject.gas(1n, undefined, at)).gasPriceRaw).to.equal(34_000_000_000n)
    expect(node.asked).to.not.include('eth_feeHistory')
  })

  it('gives no tip of 0 where recent blocks are empty, and none where a node could not tell', async () => {
    const quiet = { reward: ['0x0', '0x0', '0x0', '0x0', '0x0'].map((each) => [each]), gasUsedRatio: [0, 0, 0, 0, 0] }
    const subject = await chain({ eth_getBlockByNumber: block(8, 30), eth_feeHistory: quiet })
    expect((await subject.gas(1n, undefined, at)).gasPriceRaw).to.equal(31_000_000_000n)
    const one = { reward: [[gwei(3)], ['0x0'], ['0x0']], gasUsedRatio: [0.3, 0, 0] }
    await stop()
    const other = await chain({ eth_getBlockByNumber: block(8, 30), eth_feeHistory: one })
    expect((await other.gas(1n, undefined, at)).gasPriceRaw).to.equal(33_000_000_000n)
    await stop()
    const results = { eth_getBlockByNumber: block(8, 30), eth_maxPriorityFeePerGas: gwei(2) }
    const troubled = await chain(results)
    node.behave(failing('eth_maxPriorityFeePerGas', results))
    expect(await Promise.resolve(troubled.gas(1n, undefined, at)).catch((failure: unknown) => failure)).to.have.property('name', 'NETWORK')
  })

  it('reads logs in ranges that the node takes, finds out how many blocks these are, and asks in them from then on', async () => {
    for (const { max, message } of [
      { max: 500, message: 'You can make eth_getLogs requests with up to a 500 block range.' },
      { max: 100, message: 'block range is too wide' },
    ]) {
      const widths: number[] = []
      const head = 20_000
      const subject = await chain({})
      const rest = answering({ eth_call: multicallHead(head, 1n), eth_getBlockByNumber: block(head, 1) })
      node.behave((asked, response) => {
        if (asked.calls[0]?.method !== 'eth_getLogs') return rest(asked, response)
        const answers = asked.calls.map(({ id, params: [filter] }) => {
          const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
          const from = Number(fromBlock)
          const width = (toBlock === 'latest' ? head : Number(toBlock)) - from + 1
          widths.push(width)
          if (width > max) return { jsonrpc: '2.0', id, error: { code: -32600, message } }
          const log = { address: wallet, topics: [], data: '0x', transactionHash: hash, blockNumber: fromBlock }
          return { jsonrpc: '2.0', id, result: [log] }
        })
        return json(response, asked.batched ? answers : answers[0])
      })
      const filter = { address: wallet, topics: [], fromBlock: 0 }
      const found = await subject.reader.logs(filter, at)
      const blocks = found.map(({ blockNumber }) => blockNumber)
      expect(blocks).to.deep.equal(blocks.toSorted((one, other) => one - other))
      expect(widths.filter((width) => width <= max).reduce((sum, width) => sum + width, 0)).to.equal(head + 1)
      const learned = subject.nodes?.()[0]?.limits?.['eth_getLogs'] ?? 0
      expect(learned).to.be.within(max / 2, max)
      widths.length = 0
      await subject.reader.logs(filter, at)
      expect(Math.max(...widths)).to.be.at.most(learned)
      await stop()
    }
    await chain({})
  })

  it('says that the plan of a node is too small where it gives logs of a few blocks at a time', async () => {
    const subject = await chain({})
    const rest = answering({ eth_call: multicallHead(200_000, 1n), eth_getBlockByNumber: block(200_000, 1) })
    node.behave((asked, response) => {
      if (asked.calls[0]?.method !== 'eth_getLogs') return rest(asked, response)
      const error = { code: -32600, message: 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.' }
      return json(
        response,
        asked.calls.map(({ id }) => ({ jsonrpc: '2.0', id, error })),
      )
    })
    const failure = await subject.reader.logs({ address: wallet, topics: [], fromBlock: 0 }, at).catch((thrown: unknown) => thrown)
    expect(failure).to.have.property('name', 'NETWORK')
    expect(failure)
      .to.have.property('message')
      .that.matches(/logs of about 10 blocks at a time, and those of 100000 are needed/)
    expect(node.requests).to.be.at.most(4)
  })

  it('reads in several calls what is too large for one, or uses more gas than the node gives', async () => {
    for (const message of ['request body too large', 'out of gas']) {
      const subject = await chain({})
      const rest = answering({})
      node.behave((asked, response) => {
        if (asked.calls[0]?.method !== 'eth_call') return rest(asked, response)
        const answers = asked.calls.map(({ id, params: [call] }) => {
          const { data } = call as { data: string }
          if (data.length > 3_000) return { jsonrpc: '2.0', id, error: { code: -32000, message } }
          const [calls] = aggregate.decodeFunctionData('aggregate3', data)
          const values = Array.from({ length: Number(calls.length) }, (_, index) => (index === 0 ? 9n : index === 1 ? 0x65000000n : 1n))
          return { jsonrpc: '2.0', id, result: multicallWords(...values) }
        })
        return json(response, asked.batched ? answers : answers[0])
      })
      const { head, results } = await subject.reader.read(
        Array.from({ length: 40 }, () => ({ to: wallet, data: '0x313ce567' })),
        at,
      )
      expect(head.number).to.equal(9n)
      expect(results).to.have.length(40)
      await stop()
    }
    await chain({})
  })

  it('asks for what cannot be smaller again, whatever the node said of its size before', async () => {
    const subject = await chain({})
    const refuses: Behaviour = (asked, response) => {
      if (asked.calls[0]?.method !== 'eth_call') return answering({})(asked, response)
      const answers = asked.calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'response size exceeded' } }))
      return json(response, asked.batched ? answers : answers[0])
    }
    const read = (count: number) =>
      subject.reader.read(
        Array.from({ length: count }, () => ({ to: wallet, data: '0x313ce567' })),
        at,
      )
    for (const count of [1, 40, 0]) {
      node.behave(refuses)
      expect(await read(count).catch((failure: unknown) => failure)).to.have.property('name', 'NETWORK')
      node.behave((asked, response) => {
        if (asked.calls[0]?.method !== 'eth_call') return answering({})(asked, response)
        const answers = asked.calls.map(({ id, params: [call] }) => {
          const [calls] = aggregate.decodeFunctionData('aggregate3', (call as { data: string }).data)
          const values = Array.from({ length: Number(calls.length) }, (_, index) => (index === 1 ? 0x65000000n : 9n))
          return { jsonrpc: '2.0', id, result: multicallWords(...values) }
        })
        return json(response, asked.batched ? answers : answers[0])
      })
      expect((await read(count)).results).to.have.length(count)
    }
  })

  it('asks again for a block where the node answers for the next one while it takes that up, and not for ever', async () => {
    const subject = await chain({})
    const after = { number: 9n, timestamp: 0x65000000 }
    for (const [wrong, fails] of [
      [3, false],
      [Infinity, true],
    ] as const) {
      let asks = 0
      node.behave((asked, response) => {
        const [call] = asked.calls
        if (call?.method !== 'eth_call') return answering({})(asked, response)
        const answer = { jsonrpc: '2.0', id: call?.id, result: multicallHead((asks += 1) > wrong ? 9 : 10, 1n) }
        return json(response, asked.batched ? [answer] : answer)
      })
      const reading = await subject.reader.read([], at, after).catch((failure: unknown) => failure)
      if (fails)
        expect(reading)
          .to.include({ name: 'NETWORK' })
          .and.to.have.property('message')
          .that.includes('answered for block 10 of 1694498816 when it was asked for block 9 of 1694498816')
      else expect(reading).to.deep.equal({ head: after, results: [] })
      expect(asks).to.equal(fails ? 6 : 4)
    }
  })

  it('throws NETWORK if a node gives no tip by any method', async () => {
    const subject = await chain({ eth_getBlockByNumber: block(8, 30) })
    expect(await Promise.resolve(subject.gas(1n, undefined, at)).catch((failure: unknown) => failure)).to.have.property('name', 'NETWORK')
  })

  it('asks for the tip once for many concurrent callers', async () => {
    const subject = await chain({ eth_getBlockByNumber: block(8, 30), eth_maxPriorityFeePerGas: gwei(2) })
    await Promise.all(Array.from({ length: 20 }, async () => subject.gas(1n, undefined, at)))
    expect(node.asked).to.deep.equal(['eth_chainId', 'eth_getBlockByNumber', 'eth_maxPriorityFeePerGas'])
  })

  it('throws NETWORK for invalid blocks, receipts and call results', async () => {
    const subject = await chain({
      eth_getBlockByNumber: { number: 'x' },
      eth_call: '0x1234',
      eth_getTransactionByHash: { hash },
      eth_getTransactionReceipt: { logs: 7 },
    })
    const works = [() => subject.head(at), () => subject.balances(wallet, [subject.nativeCurrency], at), () => subject.find(hash, at)]
    for (const work of works) expect(await work().catch((failure: unknown) => failure)).to.have.property('name', 'NETWORK')
  })

  it('follows heads through a node that goes away and comes back, with one poll for all followers, and through reorganisations', async () => {
    const subject = await chain({}, { pollingSeconds: 0.05, requestTimeoutSeconds: 0.5 })
    node.behave(heads(1))
    const ends = new AbortController()
    const seen: bigint[] = []
    const other: Head[] = []
    const follow = async () => {
      for await (const head of subject.heads(ends.signal)) other.push(head)
    }
    const following = follow()
    for await (const { number } of subject.heads(ends.signal)) {
      seen.push(number)
      if (seen.length === 1) {
        const silence = setTimeout(() => node.behave(heads(2)), 600)
        silence.unref()
        node.behave(hangUp)
      }
      if (seen.length === 2) node.behave(heads(2, 'f'.repeat(64)))
      if (seen.length === 3) ends.abort()
    }
    await following
    expect(seen).to.deep.equal([1n, 2n, 2n])
    expect(other.map(({ number }) => number).slice(0, 2)).to.deep.equal([1n, 2n])
    const polled = node.requests
    await new Promise((resolve) => {
      setTimeout(resolve, 200)
    })
    expect(node.requests).to.equal(polled)
  })

  it('keeps following while nodes are over their rate limit', async () => {
    const subject = await chain({}, { pollingSeconds: 0.05 })
    node.behave(status(429))
    setTimeout(() => node.behave(heads(5)), 300).unref()
    const ends = new AbortController()
    for await (const { number } of subject.heads(ends.signal)) {
      expect(number).to.equal(5n)
      ends.abort()
    }
  })
})
