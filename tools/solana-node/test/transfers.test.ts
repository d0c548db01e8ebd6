import type { KeyPairSigner } from '@solana/kit'
import { expect } from 'chai'
import type { Solana } from '../start-solana.ts'
import { startSite, clientOf, send, sign, statusOf, transferTo, type Client } from './site.ts'

describe('a transfer on the test service, by the official client', () => {
  let solana: Solana
  let client: Client
  let from: KeyPairSigner
  let to: KeyPairSigner

  beforeEach(async () => {
    ;({ solana, client, from, to } = await startSite())
  })
  afterEach(() => solana.stop())

  it('is in the next block, then confirmed, then finalized 32 blocks later', async () => {
    const signed = await sign(client, from, [transferTo(from, to.address, 1_000_000_000n)])
    expect(await send(client, signed)).to.equal(signed.signature)
    expect(await statusOf(client, signed)).to.equal(null)
    solana.blocks(1)
    expect(await statusOf(client, signed)).to.deep.include({
      confirmations: 0n,
      confirmationStatus: 'processed',
      err: null,
      slot: solana.ledger.tip.slot,
    })
    solana.blocks(1)
    expect(await statusOf(client, signed)).to.deep.include({ confirmations: 1n, confirmationStatus: 'confirmed' })
    solana.blocks(30)
    expect(await statusOf(client, signed)).to.deep.include({ confirmations: 31n, confirmationStatus: 'confirmed' })
    solana.blocks(1)
    expect(await statusOf(client, signed)).to.deep.include({ confirmations: null, confirmationStatus: 'finalized' })
  })

  it('moves the lamports and takes the fee, at each commitment when its time has come', async () => {
    await send(client, await sign(client, from, [transferTo(from, to.address, 1_000_000_000n)]))
    solana.blocks(1)
    const balance = async (commitment: 'processed' | 'confirmed' | 'finalized') =>
      (await client.getBalance(to.address, { commitment }).send()).value
    expect([await balance('processed'), await balance('confirmed'), await balance('finalized')]).to.deep.equal([1_000_000_000n, 0n, 0n])
    solana.blocks(1)
    expect([await balance('confirmed'), await balance('finalized')]).to.deep.equal([1_000_000_000n, 0n])
    solana.blocks(31)
    expect(await balance('finalized')).to.equal(1_000_000_000n)
    expect((await client.getBalance(from.address, { commitment: 'processed' }).send()).value).to.equal(4_000_000_000n - 5000n)
  })

  it('happens once, however often and by whichever node it is sent', async () => {
    const [other, transaction] = [await solana.addNode({}), await sign(client, from, [transferTo(from, to.address, 1_000_000_000n)])]
    for (const node of [client, clientOf(other), client]) await send(node, transaction)
    solana.blocks(1)
    const first = await statusOf(client, transaction)
    await send(client, transaction)
    solana.blocks(1)
    expect((await statusOf(client, transaction))?.slot).to.equal(first?.slot)
    expect(solana.svm.getBalance(to.address)).to.equal(1_000_000_000n)
    expect(solana.sent.filter(({ signature }) => signature === transaction.signature).length).to.equal(4)
  })
})
