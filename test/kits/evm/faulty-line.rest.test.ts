import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { keccak256, parseUnits, Wallet } from 'ethers'
import type { BroadcastResult, Sealed } from '../../../core/contracts/index.ts'
import { send } from '../../../kits/evm/rail.ts'
import { evmRpc } from '../../../kits/evm/rpc.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'
import { healthy, startFaultyProxy, type Fault, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { at, startStillChain, type TestChain } from './test-chain.ts'

const wallet = new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const plain = { 'content-type': 'application/json' }

const isSending = (methods: readonly string[]) => methods.includes('eth_sendRawTransaction')
/** Only what happens to signed bytes. */
const whenSending =
  (fault: Fault): Fault =>
  (exchange) =>
    (isSending(exchange.methods) ? fault : healthy)(exchange)

/** Of each: what comes of the first sending through this line alone. */
const lines: Readonly<Record<string, { fault: Fault; is: BroadcastResult['is'] }>> = {
  'cuts after the node has them': {
    is: 'unclear',
    fault: whenSending(async ({ answer, request }) => {
      await answer()
      request.socket.destroy()
    }),
  },
  'cuts before the node has them': { is: 'unclear', fault: whenSending(({ request }) => request.socket.destroy()) },
  'answers too late': {
    is: 'unclear',
    fault: whenSending(async ({ answer, response }) => {
      const text = await answer()
      setTimeout(() => response.writeHead(200, plain).end(text), 6_000)
    }),
  },
  'never ends its answer': {
    is: 'unclear',
    fault: whenSending(async ({ answer, response }) => {
      response.writeHead(200, plain).write((await answer()).slice(0, 20))
      const dripping = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(dripping))
    }),
  },
  'says 429': { is: 'unclear', fault: whenSending(({ response }) => response.writeHead(429, { 'retry-after': '0' }).end()) },
  'says 502 although the node has them': {
    is: 'unclear',
    fault: whenSending(async ({ answer, response }) => {
      await answer()
      response.writeHead(502).end()
    }),
  },
  'makes garbage of the answer': {
    is: 'unclear',
    fault: whenSending(async ({ answer, response }) => response.writeHead(200, plain).end((await answer()).replaceAll('"', "'"))),
  },
  'gives the answer to another request': {
    is: 'unclear',
    fault: whenSending(async ({ answer, response }) => response.writeHead(200, plain).end((await answer()).replace(/"id":\d+/, '"id":1'))),
  },
  'delivers the request twice': {
    is: 'accepted',
    fault: whenSending(async ({ answer, response }) => {
      await answer()
      response.writeHead(200, plain).end(await answer())
    }),
  },
}

describe('signed bytes over a faulty connection to a real node', () => {
  let test: TestChain
  let proxy: FaultyProxy
  let rpcs: Rpc[] = []

  before(async () => {
    test = await startStillChain()
    proxy = await startFaultyProxy()
    proxy.target = test.rpcUrl
  })
  after(async () => {
    await proxy.stop()
    await test.stop()
  })
  afterEach(async () => {
    for (const rpc of rpcs.splice(0)) await rpc.stop()
  })

  function rpcOver(...rpcUrls: readonly string[]): Rpc {
    const health = { firstBackoffMs: 20 }
    const rpc = evmRpc({ rpcUrls, chainId: 31337, timeoutMs: 3_000, health, log: { info() {}, warn() {} }, meter: { rpc() {} } })
    rpcs.push(rpc)
    return rpc
  }

  const used = async () => Number(await test.rpc('eth_getTransactionCount', wallet.address, 'latest'))

  async function signed(): Promise<Sealed> {
    const fees = { maxFeePerGas: parseUnits('50', 'gwei'), maxPriorityFeePerGas: parseUnits('1', 'gwei') }
    const raw = await wallet.signTransaction({
      type: 2,
      chainId: 31337,
      to: wallet.address,
      gasLimit: 21_000,
      nonce: await used(),
      ...fees,
    })
    return { id: keccak256(raw), raw: Buffer.from(raw.slice(2), 'hex') }
  }

  for (const [what, { fault, is }] of Object.entries(lines)) {
    it(`that ${what} have one effect, however often they are sent, and never count as refused`, async () => {
      const before = await used()
      const sealed = await signed()
      const rpc = rpcOver(`http://127.0.0.1:${proxy.port}`)
      await proxy.become(fault)
      expect(await send(rpc, sealed, at)).to.include({ is })
      expect((await send(rpc, sealed, at)).is).to.not.equal('refused')
      await proxy.become(healthy)
      expect(await send(rpc, sealed, at)).to.include({ is: 'accepted' })
      await test.rpc('evm_mine')
      expect(await used()).to.equal(before + 1)
      expect(await send(rpc, sealed, at)).to.include({ is: 'unclear', meaning: 'sequence-used' })
    })

    it(`that ${what} are accepted when another connection works`, async () => {
      const before = await used()
      await proxy.become(fault)
      const rpc = rpcOver(`http://127.0.0.1:${proxy.port}`, test.rpcUrl)
      expect(await send(rpc, await signed(), at)).to.include({ is: 'accepted' })
      await test.rpc('evm_mine')
      expect(await used()).to.equal(before + 1)
    })
  }

  it('reads the answers of a batch in any order, and asks another node if one answers twice', async () => {
    const calls = ['latest', 'earliest'].map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] }))
    const rpc = rpcOver(`http://127.0.0.1:${proxy.port}`, test.rpcUrl)
    await proxy.become(healthy)
    const expected = await rpc.batch(calls, at)
    for (const shuffle of [(list: unknown[]) => list.toReversed(), (list: unknown[]) => [...list, ...list]]) {
      await proxy.become(async ({ answer, response }) => {
        const parsed: unknown = JSON.parse(await answer())
        response.writeHead(200, plain).end(JSON.stringify(Array.isArray(parsed) ? shuffle(parsed) : parsed))
      })
      expect(await rpc.batch(calls, at)).to.deep.equal(expected)
    }
  })

  it('gives up on a half-open connection, and uses it again when it works', async () => {
    const deaf = createServer((socket) => socket.on('error', () => {}))
    deaf.listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    const address = deaf.address()
    const port = address !== null && typeof address !== 'string' ? address.port : 0
    const rpc = rpcOver(`http://127.0.0.1:${port}`, test.rpcUrl)
    expect(await rpc.request('eth_chainId', [], at)).to.equal('0x7a69')
    expect(await send(rpc, await signed(), at)).to.include({ is: 'accepted' })
    const states = rpc.nodes().map(({ state }) => state)
    expect(states).to.deep.equal(['unreachable', 'good'])
    await rpc.stop()
    deaf.close()
    await test.rpc('evm_mine')
  })
})
