import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { FlashbotsBundleProvider, FlashbotsTransactionResolution } from '@flashbots/ethers-provider-bundle'
import { expect } from 'chai'
import { startAnvil, type Anvil } from '../../core/devnet/anvil.ts'
import { startPrivateRelay, type PrivateRelay } from './private-relay.ts'
import { gwei, nowhere, wallets } from './site.ts'

/** The client is CommonJS, and so are the types of what it is given. */
type Ethers = typeof import('ethers', { with: { 'resolution-mode': 'require' } })
const ethers: Ethers = createRequire(import.meta.url)('ethers')
const { JsonRpcProvider, Transaction, Wallet } = ethers

const chainId = 31337

/** Flashbots' own client is the judge of the relay that stands for theirs. */
describe('the private relay of the tests, as Flashbots’ own client finds it,', function () {
  let anvil: Anvil
  let node: InstanceType<Ethers['JsonRpcProvider']>
  let relay: PrivateRelay
  let client: FlashbotsBundleProvider
  let nonce = 0

  before(async () => {
    anvil = await startAnvil(0, ['--no-mining'])
    node = new JsonRpcProvider(anvil.rpcUrl, chainId, { staticNetwork: true, pollingInterval: 20, cacheTimeout: -1 })
    relay = await startPrivateRelay(anvil.rpc)
    client = await clientOf()
  })
  after(async () => {
    node?.destroy()
    client?.destroy()
    await relay?.stop()
    await anvil?.stop()
  })
  beforeEach(async () => {
    relay.expire()
    nonce = await node.getTransactionCount(signer.address)
  })

  /** Whoever asks is known by a key that holds nothing. */
  const clientOf = () => FlashbotsBundleProvider.create(node, Wallet.createRandom(), relay.url, chainId)
  const signer = new Wallet(wallets[3]?.privateKey ?? '')
  const signed = (more: object = {}) =>
    signer.signTransaction({
      to: nowhere,
      value: 1n,
      nonce,
      gasLimit: 30_000n,
      maxFeePerGas: 30n * gwei,
      maxPriorityFeePerGas: gwei,
      chainId,
      type: 2,
      ...more,
    })
  async function sent(by: FlashbotsBundleProvider, opts: { maxBlockNumber?: number } = {}) {
    const answer = await by.sendPrivateTransaction({ signedTransaction: await signed() }, opts)
    if ('error' in answer) throw new Error(answer.error.message)
    return answer
  }
  /** The client looks at each new block. */
  async function whileBlocksCome<T>(result: Promise<T>): Promise<T> {
    let isOver = false
    void result.finally(() => (isOver = true))
    while (!isOver) {
      await anvil.rpc('anvil_mine', '0x1')
      await sleep(50)
    }
    return result
  }
  const hashes = () => relay.held().map(({ hash }) => hash)

  it('takes a private transaction, shows it to no node, and has it included', async () => {
    const { transaction, wait, receipts } = await sent(client)
    expect(hashes()).to.deep.equal([transaction.hash])
    expect(await node.getTransaction(transaction.hash)).to.equal(null)
    const included = wait()
    await relay.include()
    expect(await whileBlocksCome(included)).to.equal(FlashbotsTransactionResolution.TransactionIncluded)
    expect((await receipts()).map(({ hash }) => hash)).to.deep.equal([transaction.hash])
  })

  it('drops it after its last block, which is 25 blocks away at most', async () => {
    const { wait } = await sent(client, { maxBlockNumber: (await node.getBlockNumber()) + 2 })
    const dropped = wait()
    await anvil.rpc('anvil_mine', '0x3')
    await relay.include()
    expect(await whileBlocksCome(dropped)).to.equal(FlashbotsTransactionResolution.TransactionDropped)
    expect(hashes()).to.deep.equal([])
    await sent(client, { maxBlockNumber: (await node.getBlockNumber()) + 1_000 })
    await anvil.rpc('anvil_mine', '0x19')
    await relay.include()
    expect(hashes()).to.deep.equal([])
    expect(await node.getTransactionCount(signer.address)).to.equal(nonce)
  })

  it('cancels it for whom it came from, and for nobody else', async () => {
    const { transaction } = await sent(client)
    const stranger = await clientOf()
    expect(await stranger.cancelPrivateTransaction(transaction.hash)).to.have.nested.property('error.message', 'tx not found')
    expect(hashes()).to.deep.equal([transaction.hash])
    expect(await client.cancelPrivateTransaction(transaction.hash)).to.equal(true)
    expect(hashes()).to.deep.equal([])
    expect(await client.cancelPrivateTransaction(transaction.hash)).to.have.nested.property('error.code', -32603)
    stranger.destroy()
  })

  it('needs a signature for these two, and none for eth_sendRawTransaction, which Sluice uses', async () => {
    const plain = new JsonRpcProvider(relay.url, chainId, { staticNetwork: true })
    const raw = await signed()
    const send = (bytes: string) => plain.send('eth_sendRawTransaction', [bytes])
    expect(String(await plain.send('eth_sendPrivateTransaction', [{ tx: raw }]).catch(String))).to.contain('signature is required')
    expect([await send(raw)]).to.deep.equal(hashes())
    // A transaction to oneself without data withdraws it, and is not included itself.
    await send(await signed({ to: signer.address, value: 0n, maxFeePerGas: 40n * gwei }))
    expect(hashes()).to.deep.equal([])
    // With data it is one like any other.
    const other = await signed({ to: signer.address, value: 0n, data: '0x00000000', maxFeePerGas: 50n * gwei })
    await send(other)
    await relay.include()
    expect(await node.getTransactionReceipt(Transaction.from(other).hash ?? '')).to.include({ status: 1 })
    plain.destroy()
  })
})
