import { expect } from 'chai'
import { AbiCoder, toQuantity } from 'ethers'
import { SluiceError, type AttemptStatus } from '../../../core/contracts/index.ts'
import { createPoll } from '../../../kits/evm/poll.ts'
import { evmRpc } from '../../../kits/evm/rpc.ts'
import type { RpcAnswer } from '../../../kits/nodes/dialect.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'
import { addressOf, gwei, nowhere, silent, soon, startSite, until, wallets, type TestSite } from '../../transactions/site.ts'

type Lie = (call: { method: string; params: readonly unknown[] }, answer: RpcAnswer) => RpcAnswer

const confirmations = 3
const fees = { gasLimit: '100000', maxFeePerGas: String(50n * gwei), maxPriorityFeePerGas: String(gwei) }
const nobody = `0x${'ab'.repeat(32)}`
const honest: Lie = (_call, answer) => answer
/** The block that a count is asked at. */
const blockOf = ([, tag]: readonly unknown[], head: bigint) => (tag === 'latest' || tag === 'pending' ? head : BigInt(String(tag)))
const quantity = (value: unknown) => Number(BigInt(String(value)))

describe('a poll of open transactions', () => {
  let site: TestSite
  let real: Rpc
  let lie: Lie = honest
  let asked: (readonly string[])[] = []
  /** Whether nodes fail whenever they are asked for more than the first batch. */
  let failing = false
  let look: ReturnType<typeof createPoll>
  const from = addressOf(3)

  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
    real = evmRpc({ rpcUrls: [site.relay.url], chainId: 31337, meter: { rpc: () => {} }, log: silent, timeoutMs: 30_000 })
  })
  after(async () => {
    await real.stop()
    await site.stop()
  })
  beforeEach(() => {
    lie = honest
    failing = false
    asked = []
    const rpc: Rpc = {
      ...real,
      async batch(calls, at) {
        if (failing && !calls.some(({ method }) => method === 'eth_getTransactionReceipt')) throw new SluiceError('NETWORK', 'away')
        if (calls.length > 0) asked.push(calls.map(({ method }) => method))
        const answers = await real.batch(calls, at)
        return calls.map((call, index) => lie(call, answers[index] ?? {}))
      },
    }
    look = createPoll(rpc, confirmations)
  })

  const number = async () => BigInt(String(await site.rpc('eth_blockNumber')))
  const count = async () => quantity(await site.rpc('eth_getTransactionCount', from, 'latest'))
  async function lookAt(id: string, sequence: number, head?: bigint): Promise<AttemptStatus | undefined> {
    const { statuses } = await look([{ id, from, sequence, fees }], { number: head ?? (await number()), timestamp: 0 }, { signal: soon() })
    return statuses[0]
  }
  const send = async (more: object = {}): Promise<string> => {
    const hash = String(await site.rpc('eth_sendTransaction', { from, to: nowhere, value: '0x1', gas: '0x186a0', ...more }))
    await until('the node has it', async () => (await site.rpc('eth_getTransactionByHash', hash)) !== null)
    return hash
  }

  it('takes one batch if nothing failed', async () => {
    const sequence = await count()
    const hash = await send()
    expect(await lookAt(hash, sequence)).to.deep.equal({ id: hash, is: 'pending', underpriced: false, next: true })
    await site.mine()
    expect(await lookAt(hash, sequence)).to.include({ is: 'landed', ok: true, depth: 1 })
    await site.mine(2)
    expect(await lookAt(hash, sequence)).to.include({ is: 'landed', depth: 3 })
    expect(asked).to.have.length(3)
  })

  it('says which attempt waits behind others, and which pays too little for the next block', async () => {
    const sequence = await count()
    const [first, second] = [await send(), await send()]
    const open = [
      { id: first, from, sequence, fees },
      { id: second, from, sequence: sequence + 1, fees: { ...fees, maxFeePerGas: '1' } },
      { id: nobody, from, sequence: sequence + 2, fees: { ...fees, maxFeePerGas: '1' } },
    ]
    const { statuses } = await look(open, { number: await number(), timestamp: 0 }, { signal: soon() })
    expect(statuses).to.deep.equal([
      { id: first, is: 'pending', underpriced: false, next: true },
      { id: second, is: 'pending', underpriced: true, next: false },
      { id: nobody, is: 'unseen', underpriced: true, next: false },
    ])
    await site.mine()
  })

  it('names the transaction that used a nonce, once it is final', async () => {
    const sequence = await count()
    const theirs = await send()
    await site.mine(20)
    await send()
    await site.mine(20)
    expect(await lookAt(nobody, sequence)).to.deep.equal({ id: nobody, is: 'dead', by: theirs })
    // And is not asked for it again.
    asked = []
    expect(await lookAt(nobody, sequence)).to.deep.equal({ id: nobody, is: 'dead', by: theirs })
    expect(asked).to.have.length(1)
  })

  const refusals = {
    'as anvil does': 'BlockOutOfRangeError: block height is 476 but requested was 0',
    'in words that are in no list': 'this block lies before my time',
  }
  for (const [how, message] of Object.entries(refusals))
    it(`names it where the node refuses all older blocks ${how}`, async () => {
      const sequence = await count()
      const theirs = await send()
      await site.mine(confirmations)
      const head = await number()
      lie = ({ method, params }, answer) =>
        method === 'eth_getTransactionCount' && blockOf(params, head) < head - 5n ? { error: { code: -32602, message } } : answer
      expect(await lookAt(nobody, sequence)).to.deep.equal({ id: nobody, is: 'dead', by: theirs })
    })

  it('says nothing where a limit of the node hides a count', async () => {
    const sequence = await count()
    const theirs = await send()
    await site.mine(confirmations)
    const head = await number()
    lie = ({ method, params }, answer) =>
      method === 'eth_getTransactionCount' && blockOf(params, head) < head - 5n
        ? { error: { code: -32005, message: 'too many requests, please slow down' } }
        : answer
    expect(await lookAt(nobody, sequence)).to.equal(undefined)
    lie = honest
    expect(await lookAt(nobody, sequence)).to.deep.equal({ id: nobody, is: 'dead', by: theirs })
  })

  it('does not name the transaction that used a nonce before it is final', async () => {
    const sequence = await count()
    await send()
    await site.mine(confirmations - 1)
    expect(await lookAt(nobody, sequence)).to.include({ is: 'unseen' })
    await site.mine()
    expect(await lookAt(nobody, sequence)).to.include({ is: 'dead' })
  })

  it('needs no search if one of our attempts used the nonce', async () => {
    const sequence = await count()
    const ours = await send()
    await site.mine(confirmations)
    const open = [
      { id: nobody, from, sequence, fees },
      { id: ours, from, sequence, fees },
    ]
    const { statuses } = await look(open, { number: await number(), timestamp: 0 }, { signal: soon() })
    expect(statuses[0]).to.deep.equal({ id: nobody, is: 'dead', by: ours })
    expect(asked).to.have.length(1)
  })

  const lies: Record<
    string,
    (call: { method: string; params: readonly unknown[] }, sequence: number, head: bigint) => RpcAnswer | undefined
  > = {
    'counts are too high at every block': ({ method }, sequence) =>
      method === 'eth_getTransactionCount' ? { result: toQuantity(sequence + 7) } : undefined,
    'counts are too high at recent blocks': ({ method, params }, sequence, head) =>
      method === 'eth_getTransactionCount' && blockOf(params, head) > head - 10n ? { result: toQuantity(sequence + 1) } : undefined,
    'counts are too high at old blocks only': ({ method, params }, sequence, head) =>
      method === 'eth_getTransactionCount' && blockOf(params, head) < head - 3n ? { result: toQuantity(sequence + 1) } : undefined,
  }
  for (const [how, told] of Object.entries(lies)) {
    it(`counts an attempt as alive when ${how}, because no block confirms it`, async () => {
      await site.mine(20)
      const [sequence, head] = [await count(), await number()]
      lie = (call, answer) => told(call, sequence, head) ?? answer
      expect(await lookAt(nobody, sequence)).to.include({ is: 'unseen' })
      expect(await lookAt(nobody, sequence)).to.include({ is: 'unseen' })
    })
  }

  it('does not trust a receipt alone, which may be of a block that a reorganisation undid', async () => {
    const sequence = await count()
    const hash = await send()
    await site.mine()
    const receipt = await site.rpc('eth_getTransactionReceipt', hash)
    await site.rpc('anvil_reorg', 1, [])
    await site.rpc('anvil_dropTransaction', hash)
    await site.mine(confirmations)
    lie = (call, answer) => (call.method === 'eth_getTransactionReceipt' ? { result: receipt } : answer)
    expect(await lookAt(hash, sequence)).to.equal(undefined)
    lie = honest
    expect(await lookAt(hash, sequence)).to.include({ is: 'unseen' })
  })

  it('goes by the count alone if the node has lost the state of old blocks', async () => {
    const sequence = await count()
    await send()
    await site.mine(20)
    const head = await number()
    lie = ({ method, params }, answer) =>
      method === 'eth_getTransactionCount' && blockOf(params, head) < head - 5n
        ? { error: { code: -32000, message: 'missing trie node' } }
        : answer
    expect(await lookAt(nobody, sequence)).to.deep.equal({ id: nobody, is: 'dead' })
  })

  for (const message of ['missing trie node', 'Height is not available (of 41)'])
    it(`goes by the count of the latest block if that of the final one is refused, too: ${message}`, async () => {
      const sequence = await count()
      await send()
      lie = ({ method, params: [, tag] }, answer) =>
        method === 'eth_getTransactionCount' && tag !== 'latest' && tag !== 'pending' ? { error: { code: -32000, message } } : answer
      expect(await lookAt(nobody, sequence)).to.include({ is: 'unseen' })
      await site.mine()
      expect(await lookAt(nobody, sequence)).to.deep.equal({ id: nobody, is: 'dead' })
    })

  it('says nothing while a limit keeps the count of the final block back', async () => {
    const sequence = await count()
    await send()
    await site.mine()
    lie = ({ method, params: [, tag] }, answer) =>
      method === 'eth_getTransactionCount' && tag !== 'latest' && tag !== 'pending'
        ? { error: { code: -32005, message: 'daily request count exceeded, request rate limited' } }
        : answer
    expect(await lookAt(nobody, sequence)).to.equal(undefined)
  })

  it('reports the other attempts when a further question fails', async () => {
    const sequence = await count()
    const theirs = await send()
    await site.mine(confirmations)
    const mined = await send()
    await site.mine()
    const open = [
      { id: nobody, from, sequence, fees },
      { id: mined, from, sequence: sequence + 1, fees },
    ]
    failing = true
    const { statuses } = await look(open, { number: await number(), timestamp: 0 }, { signal: soon() })
    expect(statuses.map((each) => each.id)).to.deep.equal([mined])
    failing = false
    expect(await lookAt(nobody, sequence)).to.deep.equal({ id: nobody, is: 'dead', by: theirs })
  })

  it("finds the authorization that used the nonce in somebody else's transaction", async () => {
    const [authority, payer] = [wallets[4], wallets[5]]
    if (!authority || !payer) throw new Error('There are ten wallets.')
    const authorization = await authority.authorize({ address: nowhere, nonce: 0, chainId: 31337 })
    const tx = { type: 4, chainId: 31337, nonce: 0, to: nowhere, gasLimit: 100_000, maxFeePerGas: 50n * gwei, maxPriorityFeePerGas: gwei }
    const raw = await payer.signTransaction({ ...tx, authorizationList: [authorization] })
    const theirs = String(await site.rpc('eth_sendRawTransaction', raw))
    await site.mine(confirmations)
    const open = [{ id: nobody, from: authority.address, sequence: 0, fees }]
    const { statuses } = await look(open, { number: await number(), timestamp: 0 }, { signal: soon() })
    expect(statuses).to.deep.equal([{ id: nobody, is: 'dead', by: theirs }])
  })

  it('trusts what a lagging node has, and not what it lacks', async () => {
    const sequence = await count()
    const mined = await send()
    await site.mine()
    const ahead = (await number()) + 1n
    expect(await lookAt(mined, sequence, ahead)).to.include({ is: 'landed' })
    expect(await lookAt(nobody, sequence + 1, ahead)).to.equal(undefined)
    await site.mine(confirmations)
    expect(await lookAt(nobody, sequence, (await number()) + 1n)).to.equal(undefined)
    const { synced } = await look(
      [{ id: nobody, from, sequence, fees }],
      { number: (await number()) + 1n, timestamp: 0 },
      { signal: soon() },
    )
    expect(synced.size).to.equal(0)
  })

  it('ignores an answer about another transaction', async () => {
    const sequence = await count()
    const [mined, waiting] = [await send(), await send()]
    lie = ({ method }, answer) => (method === 'eth_getTransactionByHash' ? { result: { ...Object(answer.result), hash: nobody } } : answer)
    expect(await lookAt(waiting, sequence + 1)).to.equal(undefined)
    await site.mine()
    lie = ({ method }, answer) =>
      method === 'eth_getTransactionReceipt' ? { result: { ...Object(answer.result), transactionHash: nobody } } : answer
    expect(await lookAt(mined, sequence)).to.equal(undefined)
  })

  it('counts nothing as final by a head that only one answer has', async () => {
    const sequence = await count()
    const hash = await send()
    await site.mine()
    lie = ({ method }, answer) =>
      method === 'eth_getBlockByNumber' ? { result: { ...Object(answer.result), number: toQuantity(1_000_000) } } : answer
    expect(await lookAt(hash, sequence)).to.include({ is: 'landed', depth: 1 })
  })

  it('gives the reason of a failure, and asks for it once', async () => {
    const contract = '0x00000000000000000000000000000000000000c7'
    const words = AbiCoder.defaultAbiCoder().encode(['string'], ['UniswapV2Router: EXPIRED']).slice(2)
    const data = `08c379a0${words}`
    const size = (data.length / 2).toString(16).padStart(4, '0')
    await site.rpc('anvil_setCode', contract, `0x61${size}600f5f3961${size}5ffd000000${data}`)
    const sequence = await count()
    const hash = await send({ to: contract, value: '0x0' })
    await site.mine()
    expect(await lookAt(hash, sequence)).to.include({ is: 'landed', ok: false, reason: 'UniswapV2Router: EXPIRED' })
    asked = []
    expect(await lookAt(hash, sequence)).to.include({ reason: 'UniswapV2Router: EXPIRED' })
    expect(asked).to.have.length(1)
  })

  it('says that a transaction used up its gas, and gives no reason if the node cannot call at that block', async () => {
    const [endless, plain] = ['0x00000000000000000000000000000000000000c8', '0x00000000000000000000000000000000000000c9']
    await site.rpc('anvil_setCode', endless, '0x5b5f56')
    await site.rpc('anvil_setCode', plain, '0x5f5ffd')
    const sequence = await count()
    const [spent, reverted] = [await send({ to: endless, value: '0x0' }), await send({ to: plain, value: '0x0' })]
    await site.mine()
    lie = ({ method }, answer) => (method === 'eth_call' ? { error: { code: -32000, message: 'missing trie node' } } : answer)
    expect(await lookAt(spent, sequence)).to.include({ ok: false, reason: 'it used up all of its gas' })
    expect(await lookAt(reverted, sequence + 1))
      .to.include({ ok: false })
      .and.not.to.have.property('reason')
    lie = honest
    expect(await lookAt(reverted, sequence + 1)).to.include({ ok: false, reason: 'reverted without a reason' })
  })
})
