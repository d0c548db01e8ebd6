import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { proves } from '../../../core/handlers/amm/absent-positions.ts'
import { positionWitnesses } from '../../../kits/amm/position-witnesses.ts'
import { healthy, lyingAtNewest, startFaultyProxy, faults, type Fault, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { at, chainOver, startStillChain, type TestChain } from '../evm/test-chain.ts'

const manager = '0x00000000000000000000000000000000000a11ce'
const tokenId = '7'
/** `ownerOf(id)`: what storage has at the id; reverts with 32 bytes where that is nothing. */
const code = '0x600435548060005260105760206000fd5b60206000f3'
const slot = `0x${'7'.padStart(64, '0')}`
const owner = `0x${'1'.padStart(64, '0')}`
const json = { 'content-type': 'application/json' }

describe('what each of two nodes says of a position', function () {
  this.timeout(300_000)
  let still: TestChain
  let chain: TestChain['chain']
  const proxies: FaultyProxy[] = []
  let newest = 0n

  before(async () => {
    still = await startStillChain()
    for (let count = 0; count < 2; count += 1) proxies.push(Object.assign(await startFaultyProxy(), { target: still.rpcUrl }))
    chain = chainOver({ rpcUrls: proxies.map(({ port }) => `http://127.0.0.1:${port}`) }).chain
    await still.rpc('anvil_setCode', manager, code)
    await still.rpc('anvil_setStorageAt', manager, slot, owner)
    await still.rpc('anvil_mine', 10)
    newest = BigInt(String(await still.rpc('eth_blockNumber')))
  })
  beforeEach(async () => {
    await Promise.all(proxies.map((proxy) => proxy.become(healthy)))
    // One that failed is asked again after a while.
    while ((await chain.reader.readEach?.([], undefined, at))?.length !== proxies.length) await sleep(100)
  })
  after(async () => {
    await chain?.stop?.()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await still?.stop()
  })

  const ask = async (block?: bigint) => {
    const { positionWitnesses: read } = positionWitnesses(manager, chain.reader)
    return (await read?.({ tokenId }, block, at)) ?? expect.fail('no reader of each node')
  }
  /** As the server asks once it has not found it at any look. */
  const isGone = async () =>
    proves(
      await ask(newest - 1n),
      (await ask()).filter(({ number }) => number >= newest),
    )

  /** It has no block after this one. */
  const behind =
    (number: bigint): Fault =>
    async ({ calls, response, answer }) => {
      const text = await answer()
      const asked = calls.map((call) => {
        const { method, params } = call
        if (method !== 'eth_call') return call
        const block = params[1] === 'latest' ? number : BigInt(String(params[1]))
        return { ...call, params: [params[0], `0x${(block > number ? 10n ** 6n : block).toString(16)}`] }
      })
      const body = JSON.stringify(text.startsWith('[') ? asked : asked[0])
      const found = await fetch(still.rpcUrl, { method: 'POST', headers: json, body })
      response.writeHead(200, json).end(await found.text())
    }

  it('is one answer of each, at a block and at the newest one', async () => {
    expect(await ask(newest - 1n)).to.deep.equal([1, 2].map(() => ({ number: newest - 1n, exists: true })))
    expect(await ask()).to.deep.equal([1, 2].map(() => ({ number: newest, exists: true })))
    expect(await isGone()).to.equal(false)
  })

  for (const [index, which] of ['first', 'second'].entries())
    it(`does not prove that it is gone where the ${which} one lies at its newest block`, async () => {
      await proxies[index]?.become(lyingAtNewest(manager, proxies[index]))
      expect((await ask()).map(({ exists }) => exists)).to.have.members([false, true])
      expect(await isGone()).to.equal(false)
      // Also where the other one cannot be asked.
      await proxies[1 - index]?.become(faults('secret')['fails'] ?? expect.fail())
      expect(await isGone()).to.equal(false)
    })

  it('proves that it is gone by either of two that do not keep the final block, and not by one', async () => {
    await still.rpc('anvil_mine', 1)
    // Of the newest block: the one before it stays as it was.
    await still.rpc('anvil_setStorageAt', manager, slot, `0x${'0'.repeat(64)}`)
    newest += 1n
    // In the block before it was there: that is not final yet.
    expect(await isGone()).to.equal(false)
    const forgetful: Fault = async (exchange) => {
      const isOld = exchange.calls.some(({ method, params }) => method === 'eth_call' && params[1] !== 'latest')
      if (!isOld) return healthy(exchange)
      const answers = exchange.calls.map((each) => ({
        jsonrpc: '2.0',
        id: Reflect.get(each, 'id'),
        error: { code: -32_000, message: 'missing trie node' },
      }))
      return exchange.response.writeHead(200, json).end(JSON.stringify(answers))
    }
    await Promise.all(proxies.map((proxy) => proxy.become(forgetful)))
    expect(await ask(newest - 1n)).to.deep.equal([])
    expect(await isGone()).to.equal(true)
    await proxies[0]?.become(faults('secret')['fails'] ?? expect.fail())
    expect(await isGone()).to.equal(false)
  })

  it('proves it by one alone once the final block does not have it either', async () => {
    await still.rpc('anvil_mine', 2)
    newest += 2n
    expect(await isGone()).to.equal(true)
    await proxies[0]?.become(faults('secret')['fails'] ?? expect.fail())
    expect(await isGone()).to.equal(true)
  })

  it('does not count of one that is behind, and has it still, or does not have it yet', async () => {
    await proxies[1]?.become(behind(newest - 5n))
    expect(await ask(newest - 1n)).to.deep.equal([{ number: newest - 1n, exists: false }])
    expect(await isGone()).to.equal(true)
    await still.rpc('anvil_setStorageAt', manager, slot, owner)
    await still.rpc('anvil_mine', 3)
    newest += 3n
    expect(await isGone()).to.equal(false)
  })

  it('is nothing where the contract is not there', async () => {
    await still.rpc('anvil_setCode', manager, '0x')
    await still.rpc('anvil_mine', 3)
    expect(await ask()).to.deep.equal([])
  })
})
