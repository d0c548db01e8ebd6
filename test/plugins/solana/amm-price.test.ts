import { expect } from 'chai'
import { startAmmSite, venue, type AmmSite } from './amm-site.ts'

describe('/amm/price on Solana', function () {
  this.timeout(60_000)
  let site: AmmSite
  before(async () => {
    site = await startAmmSite()
  })
  after(() => site?.stop())

  it('thin', async () => {
    console.log((await site.client.get('/plugins')).text)
    for (const side of ['BUY', 'SELL']) {
      const { body, status, text } = await site.client.get('/amm/price', { ...venue, base: 'BASE', quote: 'USDC', amount: '2', side })
      console.log(status, text)
      const t = await site.client.post('/amm/trade', { ...venue, address: site.wallet, base: 'BASE', quote: 'USDC', amount: '2', side })
      console.log(t.status, t.text)
      site.solana.blocks(40)
      await new Promise((r) => setTimeout(r, 1000))
      console.log((await site.client.get('/network/poll', { chain: 'solana', network: 'local', txHash: t.body.txHash })).text)
    }
    const t = await site.client.post('/amm/trade', { ...venue, address: site.poor, base: 'BASE', quote: 'USDC', amount: '2', side: 'BUY' })
    console.log(t.text)
    expect(1).to.equal(1)
  })
})
