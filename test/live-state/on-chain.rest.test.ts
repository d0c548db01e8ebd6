import { expect } from 'chai'
import type { Followed } from '../../core/contracts/index.ts'
import type { Evm } from '../../kits/evm/index.ts'
import { createSynchroniser, type Synchroniser } from '../../core/live-state/synchroniser.ts'
import type { StateSource } from '../../core/live-state/tracked-states.ts'
import { at, startStillChain, wallet, type TestChain } from '../kits/evm/test-chain.ts'
import { keeping } from './keeping.ts'
import { createRecorder, until } from './recorder.ts'

/**
 * Counters in storage: with two words it adds the second to the counter of the first and logs both, with one it gives that counter.
 * CALLDATASIZE 32 EQ JUMPI; SSTORE(key, SLOAD(key) + amount), LOG1 with topic 1; else SLOAD, RETURN.
 */
const counters = '0x00000000000000000000000000000000000000c0'
const countersCode = '0x3660201460225760203560003554016000355560406000600037600160406000a1005b6000355460005260206000f3'
const word = (value: number | bigint) => value.toString(16).padStart(64, '0')
const topic = `0x${word(1)}`

describe('states that follow a real node', function () {
  this.timeout(300_000)
  let test: TestChain
  let sync: Synchroniser
  let told: string[]
  let loads = 0
  let source: StateSource
  before(async () => {
    test = await startStillChain({ config: { pollingSeconds: 0.05 } })
    await test.rpc('anvil_setCode', counters, countersCode)
    await test.rpc('evm_mine')
    const followed: Followed<Evm, bigint> = {
      follow: [topic],
      keysOf: ({ address, data }) => (address === counters ? [String(BigInt(data.slice(0, 66)))] : []),
      async load(keys, after) {
        loads += 1
        const { head, results } = await test.chain.reader.read(
          keys.map((key) => ({ to: counters, data: `0x${word(BigInt(key))}` })),
          at,
          after,
        )
        return { head, states: new Map(keys.map((key, index) => [key, BigInt(results[index]?.data ?? '')])) }
      },
      apply: (state, { data }) => state + BigInt(`0x${data.slice(66)}`),
    }
    // As the directory hands a family's plugins to who knows no family.
    source = {
      subject: { chain: 'ethereum', network: 'local', connector: 'counters' },
      followed,
      same: (_key, inMemory, loaded) => inMemory === loaded,
    }
  })
  beforeEach(() => {
    const recorder = createRecorder()
    told = recorder.told
    const subject = { chain: 'ethereum', network: 'local' }
    sync = createSynchroniser({ chain: test.chain, subject, telemetry: recorder.telemetry, ...keeping, checkSeconds: 0.5, maxKeys: 2_000 })
  })
  afterEach(() => sync.stop())
  after(() => test.stop())

  const add = (key: number, amount: number) =>
    test.rpc('eth_sendTransaction', { from: wallet, to: counters, gas: '0x186a0', data: `0x${word(key)}${word(amount)}` })
  const newest = async () => (await test.chain.head(at)).hash
  const settled = async () => {
    const hash = await newest()
    await until(() => sync.tip?.hash === hash, `block ${hash}`)
  }
  /** What the contract says, at the block that memory says it is of. */
  const onChain = async (key: number, hash: string | undefined) =>
    BigInt(String(await test.rpc('eth_call', { to: counters, data: `0x${word(key)}` }, { blockHash: hash })))

  it('equal the contract’s answer at the same block, over reorganisations and bursts of blocks', async () => {
    // One seed, told where it fails.
    let seed = Number(process.env['SLUICE_SEED'] ?? 20_261_120)
    const dice = (sides: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor(seed / 65_536) % sides
    }
    const keys = [0, 1, 2, 3, 4]
    await Promise.all(keys.map((key) => sync.read(source, String(key), at)))
    const snapshots: unknown[] = []
    for (let turn = 0; turn < 60; turn++) {
      const what = dice(10)
      if (what < 6)
        for (let blocks = dice(4); blocks >= 0; blocks--) {
          for (let trades = dice(4); trades > 0; trades--) await add(dice(keys.length), 1 + dice(9))
          await test.rpc('evm_mine')
        }
      else if (what < 8 && (sync.tip?.number ?? 0n) > 10n) await test.rpc('anvil_reorg', 1 + dice(5), [])
      else if (what === 8) snapshots.push(await test.rpc('evm_snapshot'))
      else if (snapshots.length > 0) await test.rpc('evm_revert', snapshots.pop())
      if (dice(3) === 0) await settled()
      for (const key of keys) {
        // Where the node took back the very blocks that are being read, there is an error until it is known what came instead.
        const seen = await sync
          .read(source, String(key), at)
          .catch((error: unknown) => expect(error).to.include({ name: 'NETWORK' }) && undefined)
        if (!seen) continue
        const { state, head } = seen
        const theirs = await onChain(key, head.hash).catch(() => undefined)
        // A block that the node has taken back meanwhile cannot be asked about.
        if (theirs !== undefined) expect(state, `turn ${turn}, block ${head.number}, seed ${seed}`).to.equal(theirs)
      }
    }
    await test.rpc('evm_mine')
    await settled()
    for (const key of keys) {
      const { state, head } = await sync.read(source, String(key), at)
      expect(head.hash).to.equal(await newest())
      expect(state).to.equal(await onChain(key, head.hash))
    }
    expect(told).to.include('reorganisation')
    await until(() => told.some((each) => each.startsWith('equal'))).catch(() => expect.fail(told.join()))
    expect(told.filter((each) => each.startsWith('different') || each.startsWith('defect'))).to.deep.equal([])
  })

  it('cost one query a block for 10 as for 1,000 states, and none to be read', async () => {
    const calls = async (count: number) => {
      const names = Array.from({ length: count }, (_, index) => String(index))
      await Promise.all(names.map((key) => sync.read(source, key, at)))
      await settled()
      const before = loads
      test.asked()
      const asked: string[] = []
      for (let block = 0; block < 5; block++) {
        const next = (sync.tip?.number ?? 0n) + 1n
        await add(block, 1)
        await test.rpc('evm_mine')
        await until(() => (sync.tip?.number ?? 0n) >= next)
        asked.push(...test.asked())
      }
      for (const key of names) await sync.read(source, key, at)
      asked.push(...test.asked())
      // Samples are compared meanwhile; one may have been under way before.
      expect(asked.filter((method) => method === 'eth_call').length).to.be.within(loads - before, loads - before + 1)
      return asked.filter((method) => method === 'eth_getLogs').length
    }
    expect(await calls(10)).to.equal(5)
    expect(await calls(1_000)).to.equal(5)
  })
})
