import { expect } from 'chai'
import { AbiCoder, Interface, formatUnits, keccak256, toBeHex } from 'ethers'
import { createCheckpoints, type Checkpoints } from '../../core/books/checkpoints.ts'
import { createDailyChecks, type DailyChecks, type UnexplainedCount } from '../../core/books/daily-checks.ts'
import { createTokenBook } from '../../core/live-state/token-book.ts'
import type { NetworkEntry } from '../../core/plugins/index.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { Store } from '../../core/store/store.ts'
import { at, startDevnetChain, wallet, type TestChain } from '../kits/evm/test-chain.ts'
import { places } from '../store/stores.ts'

const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const of = { chain: 'ethereum', network: 'local', wallet }

describe('the daily check of books', function () {
  this.timeout(300_000)
  let test: TestChain
  const { place } = places('embedded')
  let store: Store
  let checkpoints: Checkpoints
  let checks: DailyChecks
  let counts: readonly UnexplainedCount[]
  let warnings: Record<string, unknown>[]

  before(async () => {
    test = await startDevnetChain()
    await test.chain.start?.(at.signal)
  })
  after(() => test.stop())

  function createChecks(
    rebasing: readonly string[] = [],
    history = test.chain.evm?.history,
    entries: readonly Entry[] = [],
    onChecked = (found: readonly UnexplainedCount[]) => void (counts = found),
  ): DailyChecks {
    const { evm } = test.chain
    const impl = { ...test.chain, ...(evm && history && { evm: { ...evm, history } }) }
    const on: NetworkEntry = {
      chain: 'ethereum',
      network: 'local',
      impl,
      tokens: createTokenBook(impl, impl.reader.intermediates, 'ethereum/local'),
      required: true,
      notReady: () => undefined,
      trouble: () => undefined,
      wake: async () => {},
    }
    return createDailyChecks({
      networks: () => [on],
      wallets: () => [
        { chain: 'ethereum', address: wallet },
        { chain: 'solana', address: 'none' },
      ],
      source: { list: async () => ({ entries }), find: async () => undefined },
      checkpoints,
      leases: { use: (_name, _signal, work) => work({ queue: 'books', fencingToken: 1 }) },
      rebasing,
      log: { info() {}, warn: (what: object) => void warnings.push({ ...what }) },
      onChecked,
    })
  }

  beforeEach(async () => {
    ;[counts, warnings] = [[], []]
    store = await place().open()
    checkpoints = createCheckpoints(store)
    checks = createChecks()
  })
  afterEach(async () => {
    await checks.stop()
  })

  async function passDay(): Promise<void> {
    await test.rpc('evm_increaseTime', 24 * 3_600)
    for (let blocks = 0; blocks < 4; blocks += 1) await test.rpc('evm_mine')
  }
  const newestBlock = async () => (await checkpoints.newest(of))?.block ?? expect.fail('no checkpoint')

  it('keeps what wallets hold the first time, and checks a day later what moved since', async () => {
    await checks.run()
    const first = await newestBlock()
    expect(counts).to.deep.equal([])
    await checks.run()
    expect(await newestBlock()).to.equal(first)
    await test.rpc('eth_sendTransactionSync', { from: other, to: wallet, value: toBeHex(5n) })
    await passDay()
    await checks.run()
    expect(await newestBlock()).to.be.greaterThan(first)
    expect(counts).to.deep.equal([{ chain: 'ethereum', network: 'local', token: 'ETH', count: 0 }])
    expect(warnings).to.deep.equal([])
  })

  it('counts and says what nothing explains', async () => {
    await checks.run()
    await test.rpc('anvil_setBalance', wallet, toBeHex(BigInt(String(await test.rpc('eth_getBalance', wallet, 'latest'))) - 1n))
    const block = Number(await test.rpc('eth_blockNumber'))
    await passDay()
    await checks.run()
    expect(counts).to.deep.equal([{ chain: 'ethereum', network: 'local', token: 'ETH', count: 1 }])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include({ token: 'ETH', kind: 'inside-a-call', amount: '-0.000000000000000001', firstBlock: block })
    await passDay()
    await checks.run()
    expect(counts).to.deep.equal([{ chain: 'ethereum', network: 'local', token: 'ETH', count: 0 }])
  })

  it('says what nothing explains also where the answer of the store to its checkpoint is lost', async () => {
    await checks.run()
    await test.rpc('anvil_setBalance', wallet, toBeHex(BigInt(String(await test.rpc('eth_getBalance', wallet, 'latest'))) - 1n))
    await passDay()
    const { keep } = checkpoints
    checkpoints = {
      ...checkpoints,
      async keep(...of) {
        await keep(...of)
        throw new Error('the connection was closed')
      },
    }
    checks = createChecks()
    await checks.run()
    await checks.run()
    expect(counts).to.deep.equal([{ chain: 'ethereum', network: 'local', token: 'ETH', count: 1 }])
    expect(warnings.filter(({ kind }) => kind === 'inside-a-call')).to.have.length(1)
  })

  it('counts on the server alone that has checked last', async () => {
    let ofOther: readonly UnexplainedCount[] = []
    const another = createChecks([], undefined, [], (found) => void (ofOther = found))
    try {
      await checks.run()
      await test.rpc('anvil_setBalance', wallet, toBeHex(BigInt(String(await test.rpc('eth_getBalance', wallet, 'latest'))) - 1n))
      await passDay()
      await checks.run()
      await another.run()
      expect([counts[0]?.count, ofOther]).to.deep.equal([1, []])
      await passDay()
      await another.run()
      await checks.run()
      expect([counts[0]?.count, ofOther[0]?.count]).to.deep.equal([0, 0])
    } finally {
      await another.stop()
    }
  })

  it('reads the fee of what an earlier version journaled from its receipt', async () => {
    await checks.run()
    const block = (await newestBlock()) + 1
    // It was final, and a reorganisation took it back.
    const receipt = { gasUsed: '21000', effectiveGasPrice: '7' }
    const landed = { id: `0x${'1'.repeat(64)}`, ok: true, blockNumber: block, blockHash: `0x${'2'.repeat(64)}`, receipt }
    checks = createChecks([], undefined, [{ address: wallet, landed, movements: {} } as unknown as Entry])
    await passDay()
    await checks.run()
    expect(warnings.map(({ token, kind, amount, firstBlock }) => [token, kind, amount, firstBlock])).to.deep.equal([
      ['ETH', 'taken-back', '0.000000000000147', block],
    ])
  })

  it('does not warn of tokens that are known to change by themselves', async () => {
    const [, usdc] = test.chain.reader.intermediates
    const { address = '' } = usdc ?? {}
    checks = createChecks(['USDC'])
    await checks.run()
    const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [wallet, 3]))
    await test.rpc('anvil_setStorageAt', address, slot, toBeHex(7n, 32))
    await passDay()
    await checks.run()
    expect(counts).to.deep.include({ chain: 'ethereum', network: 'local', token: 'USDC', count: 1 })
    expect(warnings).to.deep.equal([])
  })

  it('tells alerts of what it warns of, and of no token that is known to change by itself', async () => {
    const [, usdc] = test.chain.reader.intermediates
    const { address = '' } = usdc ?? {}
    const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [wallet, 3]))
    const warned: number[] = []
    for (const rebasing of [['USDC'], []]) {
      const own = createChecks(rebasing)
      await own.run()
      await test.rpc('anvil_setStorageAt', address, slot, toBeHex(BigInt(11 + warned.length), 32))
      await passDay()
      await own.run()
      warned.push(own.warned().find(({ token }) => token === 'USDC')?.count ?? expect.fail('not counted'))
      expect(counts).to.deep.include({ chain: 'ethereum', network: 'local', token: 'USDC', count: 1 })
      await own.stop()
    }
    expect(warned).to.deep.equal([0, 1])
  })

  it('needs the state of the newest blocks alone', async () => {
    const history = test.chain.evm?.history ?? expect.fail('no history')
    checks = createChecks([], {
      ...history,
      async holdings(of, tokens, blocks, at) {
        const newest = Number(await test.rpc('eth_blockNumber'))
        const read = await history.holdings(of, tokens, blocks, at)
        return read.map((each, index) => ((blocks[index] ?? 0) < newest - 3 ? undefined : each))
      },
    })
    await checks.run()
    const first = await newestBlock()
    const [, usdc] = test.chain.reader.intermediates
    const data = new Interface(['function transfer(address, uint256)']).encodeFunctionData('transfer', [other, 1n])
    await test.rpc('eth_sendTransactionSync', { from: wallet, to: usdc?.address, data })
    // It moves nothing but its fee, and no event tells it.
    await test.rpc('eth_sendTransactionSync', { from: wallet, to: other, gasPrice: '0x77359400', gas: '0x5208' })
    await test.rpc('eth_sendTransactionSync', { from: other, to: wallet, value: toBeHex(5n) })
    const block = Number(await test.rpc('eth_blockNumber'))
    await passDay()
    await checks.run()
    // The value of a transaction of others is found by the state of its block, and who sent it by the number of transactions.
    const inThem = { token: 'ETH', firstBlock: first + 1, lastBlock: await newestBlock(), unknownTransactions: 1 }
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include({ ...inThem, amount: formatUnits(5n - 21_000n * 2_000_000_000n, 18) })
    expect(block).to.be.within(first + 1, await newestBlock())
  })
})
