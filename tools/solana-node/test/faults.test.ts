import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { expect } from 'chai'
import { healthy, startFaultyProxy, type FaultyProxy } from '../../../test/http/trouble/faulty-proxy.ts'
import { away, failsAt, losesAnswersOf, overItsLimit, slowBy } from '../faults.ts'
import { startSolana, type Solana } from '../start-solana.ts'
import { clientOf, send, sign, statusOf, transferTo, type Client } from './site.ts'

describe('a bad line to the test service', () => {
  let solana: Solana
  let proxy: FaultyProxy
  let [direct, through]: Client[] = []
  let wallet: KeyPairSigner

  before(async () => {
    solana = await startSolana({ slotMs: 'by hand' })
    proxy = await startFaultyProxy()
    proxy.target = solana.url
    ;[direct, through] = [clientOf(solana), clientOf({ url: `http://127.0.0.1:${proxy.port}` })]
    wallet = await generateKeyPairSigner()
    await solana.fund(wallet.address, 5_000_000_000n)
  })
  beforeEach(() => proxy.become(healthy))
  after(async () => {
    await proxy.stop()
    await solana.stop()
  })

  const failure = (of: Promise<unknown>) => of.then(() => undefined, String)
  const signed = (lamports: bigint) => sign(direct!, wallet, [transferTo(wallet, wallet.address, lamports)])

  it('is a good one as long as nothing is wrong with it', async () => {
    const transaction = await signed(1n)
    await send(through!, transaction)
    solana.blocks(1)
    expect((await statusOf(through!, transaction))?.err).to.equal(null)
  })

  it('is away: nothing comes through', async () => {
    await proxy.become(away)
    const transaction = await signed(2n)
    expect(await failure(send(through!, transaction))).to.include('fetch failed')
    solana.blocks(1)
    expect(await statusOf(direct!, transaction)).to.equal(null)
  })

  it('loses the answer to what it took', async () => {
    await proxy.become(losesAnswersOf('sendTransaction'))
    const transaction = await signed(3n)
    expect(await failure(send(through!, transaction))).to.include('fetch failed')
    expect(await through!.getSlot({ commitment: 'processed' }).send()).to.equal(solana.ledger.tip.slot)
    solana.blocks(1)
    expect((await statusOf(direct!, transaction))?.err).to.equal(null)
  })

  it('is over its limit, or answers one method with an error', async () => {
    await proxy.become(overItsLimit)
    expect(await failure(through!.getSlot().send())).to.include('429')
    await proxy.become(failsAt('getSignatureStatuses', { code: -32005, message: 'Node is behind' }))
    expect(await failure(statusOf(through!, await signed(4n)))).to.include('Node is')
    expect(await through!.getSlot({ commitment: 'processed' }).send()).to.equal(solana.ledger.tip.slot)
  })

  it('is slow, and answers all the same', async () => {
    await proxy.become(slowBy(20))
    expect(await through!.getSlot({ commitment: 'processed' }).send()).to.equal(solana.ledger.tip.slot)
  })
})
