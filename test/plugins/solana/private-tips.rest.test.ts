import { expect } from 'chai'
import type { Address } from '@solana/kit'
import { startFaultyProxy, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'

describe('private trades on Solana, with a tip to who passes them on', function () {
  this.timeout(300_000)
  const account = 'GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ' as Address
  let site: AmmSite
  let relay: FaultyProxy
  before(async () => {
    relay = await startFaultyProxy()
    const network = { privateUrls: [`http://127.0.0.1:${relay.port}`], privateTip: { lamports: 20_000, accounts: [account] } }
    site = await startAmmSite({ withSol: true, network })
    relay.target = site.solana.url
    await site.solana.fund(account, 1_000_000n)
    site.solana.blocks(1)
  })
  after(async () => {
    await site?.stop()
    await relay?.stop()
  })

  const trade = (fields: object) =>
    site.client.post('/amm/trade', {
      ...here,
      connector: 'solswap',
      base: 'SOL',
      quote: 'USDC',
      amount: '0.5',
      address: site.wallets[0],
      ...fields,
    })
  const sendings = () => [site.proxy, relay].map(({ asked }) => asked.filter((method) => method === 'sendTransaction').length)
  const tips = () => (site.solana.svm.getBalance(account) ?? 0n) - 1_000_000n

  for (const [side, given] of [
    ['SELL', 20_000n],
    ['BUY', 40_000n],
  ] as const)
    it(`are signed with it, shown with it, and have a fill to the unit without it: ${side}`, async () => {
      for (const each of [site.proxy, relay]) each.asked.length = 0
      const answer = await trade({ side, privateOnly: true })
      expect(answer.status, answer.text).to.equal(200)
      const { txHash, tip, gasCost, amount, expectedAmount } = answer.body
      expect(tip).to.equal('0.000020000')
      expect(Number(gasCost)).to.be.within(0.000025, 0.000026)
      const { fill, txReceipt } = await site.polled(txHash, { txState: 'CONFIRMED' })
      const [paid, got] = side === 'SELL' ? [amount, expectedAmount] : [expectedAmount, amount]
      expect(fill).to.include({ amountIn: paid, amountOut: got })
      expect([txReceipt.tip, tips()]).to.deep.equal(['20000', given])
      const [open, private_] = sendings()
      expect([open, private_ !== undefined && private_ > 0]).to.deep.equal([0, true])
      const { transactions } = (await site.client.get('/transactions', { ...here, txHash })).body
      expect(transactions[0].cost.rawFee).to.equal(String(BigInt(txReceipt.fee) + 20_000n))
      const coin = transactions[0].movements.find(({ symbol }: { symbol?: string }) => symbol === 'SOL')
      expect(coin.amount).to.equal(side === 'SELL' ? '-0.5' : '0.5')
    })

  it('give none where they are not private', async () => {
    const before = tips()
    const { body } = await trade({ side: 'SELL' })
    expect(body).to.not.have.property('tip')
    await site.polled(body.txHash, { txState: 'CONFIRMED' })
    expect(tips()).to.equal(before)
  })
})
