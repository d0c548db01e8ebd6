import { expect } from 'chai'
import { healthy, startFaultyProxy, telling } from '../../http/trouble/faulty-proxy.ts'
import { soon } from '../../transactions/site.ts'
import { entryOf, orderOf, startSolanaSite, transactionsAt, transfer } from './solana-site.ts'
import { chainOver } from './test-cluster.ts'

describe('the priority fee of a transaction on Solana', () => {
  it('is a percentile of what was paid of late for the accounts that it writes', async () => {
    const proxy = await startFaultyProxy()
    const started = await startSolanaSite()
    proxy.target = started.cluster.url
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`], feePolicy: { percentile: 90 } })
    const site = { ...started, chain, network: { ...started.network, impl: chain } }
    const transactions = await transactionsAt(site)
    try {
      const { wallet, cluster } = site
      const asked: unknown[] = []
      await proxy.become(
        telling(({ method, params }) => {
          if (method !== 'getRecentPrioritizationFees') return undefined
          asked.push(params[0])
          return { result: Array.from({ length: 100 }, (_, slot) => ({ slot, prioritizationFee: (100 - slot) * 10_000 })) }
        }),
      )
      const order = orderOf(site, { plan: transfer(site, cluster.faucet.address, 5n) })
      const { txHash } = await transactions.submit(order, soon())
      expect(asked).to.deep.equal([[wallet.address, cluster.faucet.address]])
      const { price } = Object((await entryOf(transactions, txHash))?.attempts[0]?.fees)
      // Ninety of a hundred are below; rounded up for the digits that tell messages apart.
      expect(BigInt(price)).to.equal((910_000n / 4_096n + 1n) * 4_096n)
      await proxy.become(healthy)
    } finally {
      await transactions.stop(1000)
      await chain.stop?.()
      await started.stop()
      await proxy.stop()
    }
  })
})
