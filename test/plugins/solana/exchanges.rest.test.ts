import { expect } from 'chai'
import type { Address } from '@solana/kit'
import { holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { realProgram } from '../../../tools/solana-node/programs/real.ts'
import type { Answer, Client } from '../../../testkit/client.ts'
import programs from '../../../core/devnet/solana-programs.json' with { type: 'json' }
import { until } from '../../transactions/site.ts'
import { healthy } from '../../http/trouble/faulty-proxy.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'

const outcome = ({ status, body }: Answer): string => (status === 200 ? '200' : `${status} ${body?.name}`)
const confirmed = { txState: 'CONFIRMED', txStatus: 1 }

for (const [connector, program] of [
  ['raydium', 'raydium_cp_swap'],
  ['meteora', 'cp_amm'],
] as const) {
  const found = realProgram(program)
  const without = 'missing' in found ? ` (left out: ${found.missing})` : ''
  const title = `${connector} on its real program${without}`
  ;(without ? describe.skip : describe)(title, () => {
    let site: AmmSite
    let client: Client
    before(async () => {
      site = await startAmmSite({ exchanges: [connector] })
      client = site.client
      await site.solana.mintTo(site.wallets[0] as Address, site.solana.mints.FEES, 10n ** 12n)
      site.solana.blocks(2)
    })
    after(() => site?.stop())

    const venue = { ...here, connector }
    const pairs: readonly (readonly [string, string])[] = [
      ['BASE', 'USDC'],
      ['USDC', 'BASE'],
      ['SOL', 'USDC'],
      ['USDC', 'SOL'],
      ...(connector === 'raydium'
        ? ([
            ['FEES', 'USDC'],
            ['USDC', 'FEES'],
          ] as const)
        : []),
    ]

    for (const [base, quote] of pairs)
      for (const side of ['SELL', 'BUY'] as const)
        it(`fills a ${side} of ${base} for ${quote} as it was quoted, to the unit`, async () => {
          const swap = { ...venue, base, quote, side, amount: '0.25' }
          const price = await client.post('/amm/price', swap)
          expect(outcome(price), price.text).to.equal('200')
          const trade = await client.post('/amm/trade', { ...swap, address: site.wallets[0] })
          expect(outcome(trade), trade.text).to.equal('200')
          expect(trade.body.expectedAmount).to.equal(price.body.expectedAmount)
          const { fill } = await site.polled(trade.body.txHash, confirmed)
          const [paid, got] =
            side === 'BUY' ? [trade.body.expectedAmount, trade.body.amount] : [trade.body.amount, trade.body.expectedAmount]
          expect(fill).to.include({ amountIn: paid, amountOut: got })
        })

    it('is quoted by no other bytes of its program than those that it was held against', async () => {
      const { solana, proxy } = site
      const bytes = realProgram(program)
      if ('missing' in bytes) throw new Error(bytes.missing)
      const ask = () => client.post('/amm/price', { ...venue, base: 'BASE', quote: 'USDC', side: 'SELL', amount: '0.25' })
      const deploy = (code: Uint8Array) => {
        solana.svm.addProgram(programs[program].id as Address, code)
        solana.blocks(2)
      }
      // A byte of the ELF header that means nothing: another program, to whoever knows it by its bytes.
      const other = Uint8Array.from(bytes)
      other[9] = 1
      const before = await ask()
      expect(outcome(before)).to.equal('200')
      deploy(other)
      await until('the program is left out', async () => outcome(await ask()) === '404 PAIR_NOT_FOUND')
      expect((await ask()).body.message).to.match(
        /is left out: its program has bytes that it is not quoted by here \(sha256 [0-9a-f]{64}, since/,
      )
      // Deployed again, at another slot, the same bytes are the same program.
      deploy(bytes)
      await until('the program is quoted again, from memory', async () => (await ask()).body.source === 'memory')
      await site.priceAtTip()
      proxy.asked.length = 0
      expect((await ask()).body).to.include({ source: 'memory', expectedAmount: before.body.expectedAmount })
      // The head is followed beside all else, by the account of the clock.
      expect(proxy.asked.filter((method) => /Accounts/.test(method))).to.deep.equal([])
    })

    it('says in words that the price has moved past the limit, and that this is slippage', async () => {
      const trade = async (wallet: number, fields: object) => {
        const swap = { ...venue, base: 'BASE', quote: 'USDC', side: 'SELL', address: site.wallets[wallet], ...fields }
        const answer = await client.post('/amm/trade', swap)
        expect(outcome(answer), answer.text).to.equal('200')
        return answer.body.txHash
      }
      site.solana.lead(holdsAll)
      await trade(1, { amount: '50' })
      const late = await trade(0, { amount: '0.25', allowedSlippage: '0/1' })
      site.solana.lead(takesAll)
      const { reason, cause } = await site.polled(late, { txState: 'REVERTED', txStatus: 1 })
      expect(reason).to.match(/^the price has moved past the limit \(\w+: custom program error: 0x177\d \(/)
      expect(cause).to.equal('slippage')
    })
  })
}

const absent = (['raydium_cp_swap', 'cp_amm'] as const).flatMap((program) => {
  const found = realProgram(program)
  return 'missing' in found ? [found.missing] : []
})
const all = `connector=any on Solana${absent.length > 0 ? ` (left out: ${absent.join('; ')})` : ''}`
;(absent.length > 0 ? describe.skip : describe)(all, () => {
  let site: AmmSite
  before(async () => {
    site = await startAmmSite({ exchanges: ['raydium', 'meteora'] })
  })
  after(() => site?.stop())

  it('compares poolswap, raydium and meteora, takes the best for each amount, and trades there', async () => {
    const { client } = site
    const swap = { ...here, connector: 'any', base: 'BASE', quote: 'USDC', side: 'SELL' } as const
    const chosen: string[] = []
    // Meteora has the lower fee and Raydium is the deeper one.
    for (const amount of ['0.01', '100']) {
      const { body } = await client.post('/amm/price', { ...swap, amount })
      const each = await Promise.all(
        ['poolswap', 'raydium', 'meteora'].map(async (connector) => {
          const answer = await client.post('/amm/price', { ...swap, connector, amount })
          expect(outcome(answer), answer.text).to.equal('200')
          return [connector, Number(answer.body.expectedAmount)] as const
        }),
      )
      const [[best] = ['']] = each.toSorted((a, b) => b[1] - a[1])
      expect(body.connector, JSON.stringify(each)).to.equal(best)
      chosen.push(best)
    }
    expect(chosen).to.deep.equal(['meteora', 'raydium'])
    const trade = await client.post('/amm/trade', { ...swap, amount: '100', address: site.wallets[0] })
    expect(trade.body, trade.text).to.include({ connector: 'raydium' })
    const { fill } = await site.polled(trade.body.txHash, confirmed)
    expect(fill.amountOut).to.equal(trade.body.expectedAmount)
  })

  it('asks nobody for prices of pools in memory: one batch for each slot has all of them', async () => {
    const { client, proxy, solana } = site
    const price = (connector: string) =>
      client.post('/amm/price', { ...here, connector, base: 'BASE', quote: 'USDC', side: 'SELL', amount: '1' })
    for (const connector of ['raydium', 'meteora', 'any']) await price(connector)
    await site.priceAtTip()
    const batches: (readonly string[])[] = []
    await proxy.become(async (exchange) => {
      if (exchange.methods.includes('getMultipleAccounts')) batches.push(exchange.methods)
      await healthy(exchange)
    })
    for (const connector of ['raydium', 'meteora', 'any']) expect((await price(connector)).body.source, connector).to.equal('memory')
    expect(batches).to.deep.equal([])
    solana.blocks(1)
    await site.priceAtTip()
    // The accounts of all pools, and since when programs have their bytes.
    expect(batches).to.deep.equal([['getMultipleAccounts', 'getMultipleAccounts']])
  })
})
