import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import type { Chain } from '../../../core/contracts/index.ts'
import { addressFrom, type Solana } from '../../../kits/solana/index.ts'
import { chainOver, soon } from './test-cluster.ts'

const owner = addressFrom(new Uint8Array(32).fill(9))
const addresses = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => addressFrom(Uint8Array.from({ length: 32 }, (_byte, at) => (at === 0 ? from + index : 1))))

/** A node whose accounts hold the slot at which they are read. */
describe('accounts that belong together', () => {
  let server: Server
  let chain: Chain<Solana>
  /** How many accounts the node takes at once; by which slots it answers one call after the other, the last one for all further ones. */
  let most: number
  let slots: number[]
  let calls: number

  type Call = { readonly id: number; readonly method: string; readonly params: readonly (readonly string[])[] }
  function answer({ id, method, params }: Call) {
    if (method !== 'getMultipleAccounts') return { jsonrpc: '2.0', id, result: owner }
    const [keys = []] = params
    if (keys.length > most) return { jsonrpc: '2.0', id, error: { code: -32602, message: `Too many inputs provided; max ${most}` } }
    calls += 1
    const slot = (slots.length > 1 ? slots.shift() : slots[0]) ?? 0
    const account = { owner, lamports: 1, data: [Buffer.of(slot).toString('base64'), 'base64'] }
    return { jsonrpc: '2.0', id, result: { context: { slot }, value: keys.map(() => account) } }
  }

  beforeEach(async () => {
    most = 100
    slots = [50]
    calls = 0
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const asked: Call | readonly Call[] = JSON.parse(body)
        const told = 'method' in asked ? answer(asked) : asked.map(answer)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told))
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    chain = chainOver({ rpcUrls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`] }).chain
  })
  afterEach(async () => {
    await chain.stop?.()
    server.close()
  })

  const sets = async (of: readonly (readonly string[])[]) => {
    const { head, sets: read } = await chain.reader.sets(of, soon())
    return { head: head.number, read: read.map((set) => set.map((account) => account?.data[0])) }
  }

  it('are of one slot, where all are more than a node takes at once', async () => {
    slots = [60, 61]
    const shared = addresses(1, 200)
    const many = Array.from({ length: 50 }, (_, index) => [...addresses(3, index * 3), ...shared])
    const { head, read } = await sets(many)
    for (const set of read) expect(new Set(set).size).to.equal(1)
    expect(new Set(read.flat())).to.deep.equal(new Set([60, 61]))
    expect([head, calls]).to.deep.equal([60n, 2])
  })

  it('are read again where a node that takes fewer went on between two calls', async () => {
    most = 2
    slots = [70, 71, 72]
    expect(await sets([addresses(4)])).to.deep.equal({ head: 72n, read: [[72, 72, 72, 72]] })
    expect(calls).to.equal(4)
  })

  it('are not there where it goes on each time', async () => {
    most = 2
    slots = [70, 71, 72, 73]
    const refusal = await sets([addresses(4)]).catch((error: unknown) => error)
    expect(refusal).to.include({ name: 'NETWORK' })
  })

  it('say as images by which slot each of them was read', async () => {
    most = 2
    slots = [80, 81]
    const head = { number: 80n, timestamp: 1 }
    const blocks = await chain.changes?.(head, head, { follow: addresses(4) }, soon())
    if (!blocks || blocks === 'forked') throw new Error('There are no images.')
    expect(blocks.map((block) => [block.head.number, block.changes.map(({ slot }) => slot)])).to.deep.equal([[80n, [80, 80, 81, 81]]])
  })
})
