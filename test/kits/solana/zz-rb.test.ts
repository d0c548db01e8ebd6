import { expect } from 'chai'
import { getBase58Decoder, generateKeyPairSigner } from '@solana/kit'
import { failsAt } from '../../solana/faults.ts'
import { startFaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { freshStore, soon as at, until } from '../../transactions/site.ts'
import { chainOver, soon } from './test-cluster.ts'
import { comesTo, entryOf, looks, orderOf, startSolanaSite, transactionsAt, transfer } from './solana-site.ts'

const text = (length: number) => getBase58Decoder().decode(crypto.getRandomValues(new Uint8Array(length)))

describe('rb', function () {
  this.timeout(120_000)
  it('400 tokens', async () => {
    const site = await startSolanaSite()
    try {
      const tokens = Array.from({ length: 400 }, () => site.cluster.mints.USDC)
      const own = await Promise.all(tokens.map(async (each) => each))
      const r = await site.chain.balances(site.wallet.address, own, soon()).catch((e: unknown) => e)
      console.log(r instanceof Error ? r.message : (r as []).length, site.chain.nodes?.())
    } finally { await site.stop() }
  })
  it('700 open', async () => {
    const site = await startSolanaSite()
    try {
      const head = await site.chain.head(soon())
      const slot = { number: 1, blockhash: text(32), lastValidBlockHeight: 400_000_000, since: 1 }
      const open = Array.from({ length: 700 }, () => ({ id: text(64), from: site.wallet.address, slot, fees: { computeUnits: 1, price: '1' } }))
      const r = await site.chain.rail.look(open, head, soon()).catch((e: unknown) => e)
      console.log(r instanceof Error ? r.message : (r as { sightings: [] }).sightings.length, site.chain.nodes?.())
    } finally { await site.stop() }
  })
  it('70 finalized while away', async () => {
    let site = await startSolanaSite()
    const store = await freshStore()
    let tx = await transactionsAt(site, { store })
    const sent = await Promise.all(Array.from({ length: 70 }, () => tx.submit(orderOf(site, { plan: transfer(site, site.cluster.faucet.address, 5n) }), at())))
    await tx.stop(1000)
    site.cluster.blocks(60)
    tx = await transactionsAt(site, { store })
    for (const { txHash } of sent) await comesTo(site, tx, txHash, 'CONFIRMED')
    const entries = await Promise.all(sent.map(({ txHash }) => entryOf(tx, txHash)))
    console.log('fee 0:', entries.filter((e) => Object(e?.landed?.receipt).fee === '0').length)
    await tx.stop(1000)
    await store.close()
    await site.stop()
  })
  it('getTransaction fails for a moment', async () => {
    const proxy = await startFaultyProxy()
    const site = await startSolanaSite()
    proxy.target = site.cluster.url
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`] })
    const own = { ...site, chain, network: { ...site.network, impl: chain } }
    const tx = await transactionsAt(own)
    const { txHash } = await tx.submit(orderOf(own, { plan: transfer(own, site.cluster.faucet.address, 5n) }), at())
    await proxy.become(failsAt('getTransaction', { code: -32004, message: 'Block not available for slot' }))
    site.cluster.blocks(40)
    await new Promise((done) => setTimeout(done, 300))
    await proxy.become(async (e) => { await (await import('../../http/trouble/faulty-proxy.ts')).healthy(e) })
    await comesTo(own, tx, txHash, 'CONFIRMED')
    console.log((await entryOf(tx, txHash))?.landed?.receipt)
    await tx.stop(1000); await chain.stop?.(); await proxy.stop(); await site.stop()
  })
})
void [expect, until, looks, generateKeyPairSigner]
