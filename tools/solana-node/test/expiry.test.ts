import type { KeyPairSigner } from '@solana/kit'
import { expect } from 'chai'
import { dropsAll, holdsAll, takesAfter, takesAll } from '../ledger/leaders.ts'
import { startSolana, type Solana } from '../start-solana.ts'
import { startSite, clientOf, send, sign, statusOf, transferTo, type Client, type SignedTransfer } from './site.ts'

describe('a blockhash on the test service', () => {
  let solana: Solana
  let client: Client
  let wallet: KeyPairSigner

  beforeEach(async () => {
    ;({ solana, client, from: wallet } = await startSite({ skipped: 0.4 }))
  })
  afterEach(() => solana.stop())

  const signed = () => sign(client, wallet, [transferTo(wallet, wallet.address, 1n)])
  const height = () => client.getBlockHeight({ commitment: 'processed' }).send()
  const slot = () => client.getSlot({ commitment: 'processed' }).send()
  const isValid = async ({ wire }: SignedTransfer, blockhash: string) => {
    const { value } = await client.simulateTransaction(wire, { encoding: 'base64', commitment: 'processed' }).send()
    const told = await client.isBlockhashValid(blockhash as never, { commitment: 'processed' }).send()
    expect(value.err).to.equal(told.value ? null : 'BlockhashNotFound')
    return told.value
  }

  it('is good for 150 blocks, however many slots were skipped among them', async () => {
    const { value: latest } = await client.getLatestBlockhash({ commitment: 'processed' }).send()
    const [first, transaction] = [await slot(), await signed()]
    expect(latest.lastValidBlockHeight).to.equal((await height()) + 150n)
    solana.blocks(150)
    expect((await slot()) - first > 180n).to.equal(true)
    expect(await height()).to.equal(latest.lastValidBlockHeight)
    expect(await slot()).to.be.greaterThan(Number(latest.lastValidBlockHeight))
    expect(await isValid(transaction, latest.blockhash)).to.equal(true)
    solana.blocks(1)
    expect(await isValid(transaction, latest.blockhash)).to.equal(false)
  })

  it('lets a transaction into the block after its last valid height, as validators do, and into none later', async () => {
    const [inTime, late] = [await signed(), await sign(client, wallet, [transferTo(wallet, wallet.address, 2n)])]
    solana.lead(holdsAll)
    await send(client, inTime)
    await send(client, late)
    solana.blocks(150)
    solana.lead(({ wire }) => (wire.signature === inTime.signature ? 'takes' : 'holds'))
    solana.blocks(1)
    expect(solana.ledger.tip.height).to.equal(inTime.lastValidBlockHeight + 1n)
    expect((await statusOf(client, inTime))?.err).to.equal(null)
    solana.lead(takesAll)
    solana.blocks(40)
    expect(await statusOf(client, late)).to.equal(null)
    expect(solana.ledger.waiting).to.deep.equal([])
  })

  it('is of one cluster: another seed has none of it', async () => {
    const other = await startSolana({ slotMs: 'by hand', seed: 'another one' })
    const { value } = await client.getLatestBlockhash().send()
    const told = await clientOf(other).isBlockhashValid(value.blockhash).send()
    expect(told.value).to.equal(false)
    expect(other.genesisHash).to.not.equal(solana.genesisHash)
    await other.stop()
  })

  it('a transaction that leaders drop is lost, where its node does not send it again', async () => {
    const [lost, kept] = [await signed(), await sign(client, wallet, [transferTo(wallet, wallet.address, 2n)])]
    solana.lead(dropsAll)
    await send(client, lost)
    await client.sendTransaction(kept.wire, { encoding: 'base64', skipPreflight: true }).send()
    solana.blocks(3)
    solana.lead(takesAll)
    solana.blocks(1)
    expect([await statusOf(client, lost), (await statusOf(client, kept))?.err]).to.deep.equal([null, null])
    await send(client, lost)
    solana.blocks(1)
    expect((await statusOf(client, lost))?.err).to.equal(null)
  })

  it('a transaction may be late, or forgotten', async () => {
    const [late, forgotten] = [await signed(), await sign(client, wallet, [transferTo(wallet, wallet.address, 2n)])]
    solana.lead(takesAfter(3))
    await send(client, late)
    await send(client, forgotten)
    solana.ledger.forget(forgotten.signature)
    solana.blocks(3)
    expect(await statusOf(client, late)).to.equal(null)
    solana.blocks(1)
    expect((await statusOf(client, late))?.slot).to.equal(solana.ledger.tip.slot)
    expect(await statusOf(client, forgotten)).to.equal(null)
  })

  it('slots pass by themselves, and stop where they are held', async () => {
    const running = await startSolana({ slotMs: 5, skipped: 0 })
    const began = running.ledger.slot
    while (running.ledger.slot < began + 3n) await new Promise((resolve) => setTimeout(resolve, 5))
    running.pause()
    const held = running.ledger.slot
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(running.ledger.slot).to.equal(held)
    await running.stop()
  })
})
