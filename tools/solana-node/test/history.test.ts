import type { KeyPairSigner } from '@solana/kit'
import { expect } from 'chai'
import type { Solana } from '../start-solana.ts'
import { startSite, ask, clientOf, send, sign, statusOf, transferTo, type Client, type SignedTransfer } from './site.ts'

describe('the history of the test service', () => {
  let solana: Solana
  let client: Client
  let from: KeyPairSigner
  let to: KeyPairSigner

  beforeEach(async () => {
    ;({ solana, client, from, to } = await startSite({ skipped: 0.3 }))
  })
  afterEach(() => solana.stop())

  async function transfer(lamports: bigint): Promise<SignedTransfer> {
    const transaction = await sign(client, from, [transferTo(from, to.address, lamports)])
    await send(client, transaction)
    solana.blocks(1)
    return transaction
  }

  it('shows a transaction once it is confirmed, in each encoding', async () => {
    const transaction = await transfer(1_000_000_000n)
    const get = (encoding: string, commitment = 'confirmed', version: number | undefined = 0) =>
      ask(solana, 'getTransaction', [transaction.signature, { encoding, commitment, maxSupportedTransactionVersion: version }])
    expect((await get('json')).result).to.equal(null)
    solana.blocks(1)
    expect((await get('json', 'finalized')).result).to.equal(null)
    const { result } = await get('json')
    // The fields of the method's page: solana.com/docs/rpc/http/gettransaction and docs/rpc/json-structures.
    expect(result).to.have.all.keys('blockTime', 'meta', 'slot', 'transaction', 'version')
    const { meta, transaction: shown } = Object(result) as { meta: object; transaction: { message: object; signatures: string[] } }
    expect(meta).to.have.all.keys([
      'computeUnitsConsumed',
      'err',
      'fee',
      'innerInstructions',
      'loadedAddresses',
      'logMessages',
      'postBalances',
      'postTokenBalances',
      'preBalances',
      'preTokenBalances',
      'rewards',
      'status',
    ])
    expect(meta).to.deep.include({
      err: null,
      fee: 5000,
      preBalances: [5_000_000_000, 0, 1],
      postBalances: [3_999_995_000, 1_000_000_000, 1],
      status: { Ok: null },
    })
    expect(shown.signatures).to.deep.equal([transaction.signature])
    expect(shown.message).to.deep.include({
      accountKeys: [from.address, to.address, '11111111111111111111111111111111'],
      header: { numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1, numRequiredSignatures: 1 },
    })
    expect(Object((await get('base64')).result).transaction).to.deep.equal([transaction.wire, 'base64'])
    expect(Object((await get('jsonParsed')).result).transaction.message.accountKeys[0]).to.deep.equal({
      pubkey: from.address,
      signer: true,
      source: 'transaction',
      writable: true,
    })
    expect((await get('json', 'confirmed', null as never)).error?.code).to.equal(-32015)
  })

  it("lists an address's transactions, newest first, in pages", async () => {
    const all: string[] = []
    for (const lamports of [1_000_000n, 2n, 3n, 4n]) all.unshift((await transfer(lamports)).signature)
    solana.blocks(1)
    const list = async (config: object) =>
      (await client.getSignaturesForAddress(to.address, { commitment: 'confirmed', ...config }).send()).map(({ signature }) => signature)
    expect(await list({})).to.deep.equal(all)
    expect(await list({ limit: 2 })).to.deep.equal(all.slice(0, 2))
    expect(await list({ before: all[1] })).to.deep.equal(all.slice(2))
    expect(await list({ until: all[2] })).to.deep.equal(all.slice(0, 2))
    const [newest] = await client.getSignaturesForAddress(to.address, { commitment: 'confirmed', limit: 1 }).send()
    expect(newest).to.deep.include({ confirmationStatus: 'confirmed', err: null, memo: null })
    expect(await client.getSignaturesForAddress(to.address, { commitment: 'finalized' }).send()).to.deep.equal([])
  })

  it('has blocks in some slots and none in those that were skipped', async () => {
    const transaction = await transfer(1_000_000n)
    const { slot } = solana.ledger.tip
    solana.blocks(60)
    const slots = await client.getBlocks(slot, null as never, { commitment: 'confirmed' }).send()
    const last = slots.at(-1)!
    expect(last - slot + 1n > BigInt(slots.length)).to.equal(true)
    const get = (at: bigint) => client.getBlock(at, { maxSupportedTransactionVersion: 0, commitment: 'confirmed' }).send()
    const blocks = await Promise.all(slots.map(get))
    const heights = blocks.map((block) => block!.blockHeight)
    expect(heights).to.deep.equal(slots.map((_, index) => heights[0]! + BigInt(index)))
    expect(blocks.slice(1).map((block) => block!.previousBlockhash)).to.deep.equal(blocks.slice(0, -1).map((block) => block!.blockhash))
    expect(blocks.slice(1).map((block) => block!.parentSlot)).to.deep.equal(slots.slice(0, -1))
    expect(blocks[0]!.transactions[0]!.transaction.signatures).to.deep.equal([transaction.signature])
    const skipped = slots
      .map((each, index) => [each + 1n, slots[index + 1]])
      .find(([next, following]) => following && following > next!)![0]!
    for (const method of ['getBlock', 'getBlockTime']) expect((await ask(solana, method, [Number(skipped)])).error?.code).to.equal(-32007)
    expect(await client.getBlockTime(slot).send()).to.equal(blocks[0]!.blockTime)
  })

  it('finds an old transaction only where its search is asked for', async () => {
    const transaction = await transfer(1_000_000n)
    const without = async () => (await client.getSignatureStatuses([transaction.signature]).send()).value[0]
    solana.blocks(300)
    expect((await without())?.confirmationStatus).to.equal('finalized')
    solana.blocks(1)
    expect(await without()).to.equal(null)
    expect((await statusOf(client, transaction))?.confirmationStatus).to.equal('finalized')
  })

  it('of a node that lags is what it was, and of one that forgets is short', async () => {
    const [lagging, forgetful] = [await solana.addNode({ lagBlocks: 5 }), await solana.addNode({ historyBlocks: 40 })]
    const transaction = await transfer(1_000_000n)
    solana.blocks(3)
    expect(await statusOf(clientOf(lagging), transaction)).to.equal(null)
    expect((await clientOf(lagging).getBalance(to.address, { commitment: 'processed' }).send()).value).to.equal(0n)
    expect(await clientOf(lagging).getBlockHeight({ commitment: 'processed' }).send()).to.equal(solana.ledger.tip.height - 5n)
    lagging.options.lagBlocks = 0
    expect((await statusOf(clientOf(lagging), transaction))?.confirmations).to.equal(3n)
    expect((await statusOf(clientOf(forgetful), transaction))?.confirmations).to.equal(3n)
    solana.blocks(40)
    expect(await statusOf(clientOf(forgetful), transaction)).to.equal(null)
    expect((await statusOf(client, transaction))?.confirmationStatus).to.equal('finalized')
  })

  it('of a node that lies about heights has nothing to show for them', async () => {
    const lying = await solana.addNode({ aheadBlocks: 1000n })
    const height = (node: { url: string }) => clientOf(node).getBlockHeight({ commitment: 'finalized' }).send()
    expect((await height(lying)) - (await height(solana))).to.equal(1000n)
    const transaction = await sign(client, from, [transferTo(from, to.address, 1_000_000n)])
    expect((await height(lying)) > transaction.lastValidBlockHeight).to.equal(true)
    expect(await statusOf(clientOf(lying), transaction)).to.equal(null)
    await send(client, transaction)
    solana.blocks(1)
    expect((await statusOf(client, transaction))?.err).to.equal(null)
  })

  it('of a node that is ill: it says so, and sends nothing that it could not try', async () => {
    const ill = await solana.addNode({ slotsBehind: 42 })
    expect((await ask(ill, 'getHealth')).error).to.deep.equal({
      code: -32005,
      message: 'Node is behind by 42 slots',
      data: { numSlotsBehind: 42 },
    })
    const transaction = await sign(client, from, [transferTo(from, to.address, 1_000_000n)])
    const tried = await ask(ill, 'sendTransaction', [transaction.wire, { encoding: 'base64', preflightCommitment: 'processed' }])
    expect(tried.error?.code).to.equal(-32005)
    expect(await send(clientOf(ill), transaction)).to.equal(transaction.signature)
    expect(await client.getHealth().send()).to.equal('ok')
  })
})
