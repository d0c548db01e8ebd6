import { expect } from 'chai'
import { soon } from '../../transactions/site.ts'
import { startFaultyProxy, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'
import { chainOver } from './test-cluster.ts'

describe('a private transaction on Solana', () => {
  let site: SolanaSite
  let open: FaultyProxy
  let relay: FaultyProxy
  before(async () => {
    site = await startSolanaSite()
    ;[open, relay] = [await startFaultyProxy(), await startFaultyProxy()]
    for (const each of [open, relay]) each.target = site.cluster.url
  })
  after(async () => {
    await Promise.all([open?.stop(), relay?.stop()])
    await site?.stop()
  })

  /** How often each was asked to pass on a transaction. */
  async function sendings(privateUrls: readonly string[], privateOnly?: true) {
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${open.port}`], privateUrls })
    const own = { ...site, chain, network: { ...site.network, impl: chain } }
    const transactions = await transactionsAt(own)
    for (const each of [open, relay]) each.asked.length = 0
    try {
      const order = orderOf(own, { plan: transfer(own, site.cluster.faucet.address, 1n), ...(privateOnly && { privateOnly }) })
      await transactions.submit(order, soon())
      return [open, relay].map(({ asked }) => asked.filter((method) => method === 'sendTransaction').length)
    } finally {
      await transactions.stop(1000)
      await chain.stop?.()
    }
  }

  it('goes to the relays alone, and one that is not goes to no relay', async () => {
    const urls = [`http://127.0.0.1:${relay.port}`]
    expect(await sendings(urls, true)).to.deep.equal([0, 1])
    expect(await sendings(urls)).to.deep.equal([1, 0])
  })

  it('is refused before anything is signed where there is no relay', async () => {
    const sent = site.cluster.sent.length
    const refused = await sendings([], true).then(
      () => 'sent',
      ({ name, message }: Error) => `${name} ${message}`,
    )
    expect(refused).to.match(/privateUrls/)
    expect(site.cluster.sent.length).to.equal(sent)
  })
})
