import { expect } from 'chai'
import { keccak256, parseUnits, Wallet } from 'ethers'
import type { BroadcastResult } from '../../../core/contracts/index.ts'
import { send } from '../../../kits/evm/rail.ts'
import { evmRpc } from '../../../kits/evm/rpc.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'
import { checked, error, hangUp, healthy, silent, startFakeNode, status, text, type Behaviour, type FakeNode } from './fake-node.ts'
import { at, startStillChain, type TestChain } from './test-chain.ts'

const rpcOver = (rpcUrls: readonly string[], chainId: number, timeoutMs: number): Rpc =>
  evmRpc({ rpcUrls, chainId, timeoutMs, log: { info() {}, warn() {} }, meter: { rpc() {} } })

const moment = () => new Promise((resolve) => setTimeout(resolve, 10))

describe('the broadcast result of signed bytes', () => {
  const raw = new Uint8Array([2, 3, 4])
  const id = keccak256(raw)
  let nodes: FakeNode[] = []
  let rpc: Rpc

  async function sentTo(...behaviours: readonly Behaviour[]): Promise<BroadcastResult> {
    nodes = await Promise.all(behaviours.map((behaviour) => startFakeNode(checked(behaviour))))
    rpc = rpcOver(
      nodes.map(({ url }) => url),
      1,
      3_000,
    )
    return send(rpc, { id, raw }, at)
  }
  afterEach(async () => {
    await rpc.stop()
    for (const node of nodes) await node.close()
  })

  const takes = healthy({ result: id })
  const says = (message: string) => error(-32000, message)

  it('says "accepted" if one node takes them, whatever the others say', async () => {
    expect(await sentTo(says('nonce too low'), hangUp, takes)).to.include({ is: 'accepted' })
    // The one that took them may be the first to answer; the others get them all the same.
    while (!nodes.every(({ asked }) => asked.includes('eth_sendRawTransaction'))) await moment()
  })

  it('says "accepted" if one node takes them after another returned a wrong hash', async () => {
    const late: Behaviour = (asked, response) => void setTimeout(() => takes(asked, response), 60)
    expect(await sentTo(healthy({ result: `0x${'ee'.repeat(32)}` }), late)).to.include({ is: 'accepted' })
  })

  it('says "accepted" if a node already has them, in any wording', async () => {
    expect(await sentTo(says('already known'), says('insufficient funds'))).to.include({ is: 'accepted' })
  })

  it('says "refused" only if every node refuses, with the most telling reason', async () => {
    expect(await sentTo(says('txpool is full'), says('insufficient funds for transfer'))).to.deep.equal({
      is: 'refused',
      reason: 'txpool is full; insufficient funds for transfer',
      meaning: 'unfunded',
    })
  })

  it('says "unclear" if one node refuses and another does not answer, and names both', async () => {
    const reception = await sentTo(says('transaction underpriced'), silent)
    expect(reception).to.include({ is: 'unclear', meaning: 'underpriced' })
    expect(reception)
      .to.have.property('reason')
      .that.matches(/^transaction underpriced; http:.* did not answer within 3 s$/)
  })

  it('says "unclear" if their nonce is used, because they may have used it', async () => {
    expect(await sentTo(says('nonce too low'))).to.deep.equal({ is: 'unclear', reason: 'nonce too low', meaning: 'sequence-used' })
  })

  it('says "unclear" for an unknown message', async () => {
    expect(await sentTo(says('the moon is full'))).to.deep.equal({ is: 'unclear', reason: 'the moon is full' })
  })

  const other = `0x${'ee'.repeat(32)}`
  const faults: Readonly<Record<string, Behaviour>> = {
    'the hash of something else': healthy({ result: other }),
    'no hash': healthy({ result: null }),
    'a revert, which no pool can know': error(3, 'execution reverted'),
    'too many requests': status(429, { 'retry-after': '1' }),
    'a failure of its own': status(500),
    garbage: text('<html>'),
    'half an answer': text('{"jsonrpc":"2.0","id":1,"res'),
    nothing: silent,
    'a cut line after it has them': hangUp,
  }
  for (const [fault, behaviour] of Object.entries(faults)) {
    it(`says "unclear" if the only node gives ${fault}`, async () => {
      expect(await sentTo(behaviour)).to.include({ is: 'unclear' })
    })
  }

  it('reaches a node that no longer tells its chain id, if it told the right one before', async () => {
    await sentTo(takes)
    const silly: Behaviour = (asked, response) =>
      (asked.calls[0]?.method === 'eth_chainId' ? error(-32000, 'internal error') : takes)(asked, response)
    nodes[0]?.behave(silly)
    await nodes[0]?.dropConnections()
    expect(await rpc.request('eth_gasPrice', [], at).catch(() => 'nothing')).to.equal('nothing')
    expect(await send(rpc, { id, raw }, at)).to.include({ is: 'accepted' })
  })

  it('reaches a node that is in its backoff', async () => {
    expect(await sentTo(hangUp)).to.include({ is: 'unclear' })
    nodes[0]?.behave(checked(takes))
    expect(await send(rpc, { id, raw }, at)).to.include({ is: 'accepted' })
  })
})

describe('the answers of a real node to signed bytes', () => {
  let test: TestChain
  let rpc: Rpc
  const rich = new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
  const gwei = (amount: string) => parseUnits(amount, 'gwei')

  before(async () => {
    test = await startStillChain()
    rpc = rpcOver([test.rpcUrl], 31337, 10_000)
  })
  after(async () => {
    await rpc.stop()
    await test.stop()
  })

  async function sent(
    fields: { nonce: number; maxFee?: string; gasLimit?: number; chainId?: number },
    wallet = rich,
  ): Promise<BroadcastResult> {
    const raw = await wallet.signTransaction({
      type: 2,
      chainId: 31337,
      to: rich.address,
      gasLimit: 21_000,
      maxFeePerGas: gwei(fields.maxFee ?? '50'),
      maxPriorityFeePerGas: gwei(fields.maxFee === undefined ? '1' : '0'),
      nonce: fields.nonce,
      ...(fields.gasLimit !== undefined && { gasLimit: fields.gasLimit }),
      ...(fields.chainId !== undefined && { chainId: fields.chainId }),
    })
    return send(rpc, { id: keccak256(raw), raw: Buffer.from(raw.slice(2), 'hex') }, at)
  }

  it('give the right result for each outcome', async () => {
    const next = Number(await test.rpc('eth_getTransactionCount', rich.address, 'pending'))
    expect(await sent({ nonce: next })).to.include({ is: 'accepted' })
    expect(await sent({ nonce: next }), 'the same again').to.include({ is: 'accepted' })
    expect(await sent({ nonce: next, maxFee: '49' }), 'too little to replace').to.include({ is: 'refused', meaning: 'outbid' })
    expect(await sent({ nonce: next + 1, maxFee: '0.000000001' }), 'below the base fee').to.include({
      is: 'refused',
      meaning: 'underpriced',
    })
    expect(await sent({ nonce: next + 1, gasLimit: 20_000 }), 'gas for nothing').to.include({ is: 'refused', meaning: 'invalid' })
    expect(await sent({ nonce: next + 1, gasLimit: 900_000_000 }), 'more gas than a block has').to.include({
      is: 'refused',
      meaning: 'invalid',
    })
    expect(await sent({ nonce: next + 1, chainId: 5 }), 'of another chain').to.include({ is: 'refused', meaning: 'invalid' })
    expect(await sent({ nonce: 0 }, new Wallet(`0x${'77'.repeat(32)}`)), 'of a poor wallet').to.include({
      is: 'refused',
      meaning: 'unfunded',
    })
    await test.rpc('evm_mine')
    expect(await sent({ nonce: next }), 'mined already').to.include({ is: 'unclear', meaning: 'sequence-used' })
  })
})
