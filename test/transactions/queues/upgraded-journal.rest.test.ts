// What an earlier version signed is ended by today's server: also what it signed above a free nonce, which only its caller could have mined.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { Transaction, hexlify, toQuantity } from 'ethers'
import { readAccount } from '../../../core/limits/account.ts'
import { createSpendingLimits } from '../../../core/limits/spending-limits.ts'
import { openStore } from '../../../core/store/open-store.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { addressOf, gwei, sign, silent, startSite, transactionsOn, until, type TestSite } from '../site.ts'

const journalBefore = new URL('../../fixtures/store-before-ends/sluice.db.gz', import.meta.url)

describe('a journal of before transactions ended by themselves', function () {
  let [site, store]: [TestSite?, Store?] = []
  let dataDir = ''
  before(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-before-'))
    await writeFile(path.join(dataDir, 'sluice.db'), gunzipSync(await readFile(journalBefore)))
    site = await startSite({ flags: ['--no-mining'] })
    store = await openStore({ dataDir, serverName: 'test', log: silent })
  })
  after(async () => {
    await store?.close()
    await site?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('has its trades cancelled past their deadlines and its orders past their time, and no gap below them filled before', async () => {
    const [chain, journal] = [site, store]
    if (!chain || !journal) throw new Error('They did not start.')
    const losses = async () => {
      const { body } = await journal.read((db) =>
        db.selectFrom('budgets').select('body').where('owner', '=', 'client client').executeTakeFirstOrThrow(),
      )
      const { open, spent } = readAccount(body)
      const gas = [...spent.day.values()].reduce((sum, each) => sum + (each['gas:ethereum/local']?.net ?? 0n), 0n)
      return { held: open['loss'] ?? 0n, gas }
    }
    const signed: string[] = []
    const nameOf = (address: string) => (address === addressOf(0) ? 'first' : 'second')
    let laterMs = 0
    const transactions: Transactions = await transactionsOn({
      store: journal,
      budgets: createSpendingLimits(() => ({ maxDailyLoss: '3000', maxDailyGas: '1' })),
      sites: [chain.network],
      steadyMs: () => performance.now() + laterMs,
      sign(request) {
        signed.push(`${nameOf(request.address)} ${Transaction.from(hexlify(request.signable.bytes)).nonce}`)
        return sign(request)
      },
    })
    try {
      const mine = async () => {
        await chain.rpc('anvil_setNextBlockBaseFeePerGas', toQuantity(20n * gwei))
        await chain.mine()
      }
      expect(await losses()).to.deep.equal({ held: 400n, gas: 0n })
      await until('both trades have their cancels', async () => {
        await mine()
        return signed.length >= 2
      })
      let asked = 0
      chain.relay.meddle = () => ((asked += 1), 'pass')
      await until('many blocks were looked at', async () => {
        await mine()
        return asked > 60
      })
      expect(signed.toSorted(), 'no fill has the order above it mined').to.deep.equal(['first 2', 'second 1'])
      laterMs = 301_000
      await until('all are final', async () => {
        await mine()
        const { entries } = await transactions.list({})
        return entries.every(({ state }) => ['CONFIRMED', 'CANCELLED'].includes(state))
      })
      const { entries } = await transactions.list({})
      const shown = entries.map(({ address, nonce, kind, state }) => `${nameOf(address)} ${nonce} ${kind} ${state}`)
      expect(shown.toSorted()).to.deep.equal([
        'first 0 fill CONFIRMED',
        'first 1 cancel CONFIRMED',
        'first 1 order CANCELLED',
        'first 2 cancel CONFIRMED',
        'first 2 trade CANCELLED',
        'second 0 cancel CONFIRMED',
        'second 0 order CANCELLED',
        'second 1 cancel CONFIRMED',
        'second 1 trade CANCELLED',
      ])
      expect(signed.indexOf('first 1'), 'the cancel comes before the fill').to.be.below(signed.indexOf('first 0'))
      const { held, gas } = await losses()
      expect(held).to.equal(0n)
      expect(gas > 4n * 21_000n * 20n * gwei, 'its client pays for the four cancels').to.equal(true)
    } finally {
      await transactions.stop(1000)
    }
  })
})
