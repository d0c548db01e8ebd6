import { expect } from 'chai'
import { createCheckpoints, type Checkpoints } from '../../core/books/checkpoints.ts'
import type { Store } from '../../core/store/store.ts'
import { onBothStores } from '../store/stores.ts'

const of = { chain: 'ethereum', network: 'local', wallet: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' }
const other = { ...of, wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }
const hourMs = 3_600_000
const day = Date.UTC(2026, 2, 5)

describe('balances that are kept at blocks', () => {
  onBothStores((stores) => {
    let store: Store
    let checkpoints: Checkpoints
    beforeEach(async () => {
      store = await stores().open()
      checkpoints = createCheckpoints(store)
    })

    const keep = (block: number, hours: number, raw = BigInt(block), wallet = of) =>
      checkpoints.keep(wallet, {
        block,
        timestampMs: day + hours * hourMs,
        balances: new Map([
          ['0xa', raw],
          ['0xb', 2n ** 255n],
        ]),
      })
    const blocks = async (first = 0, last = 1_000) => [...(await checkpoints.between(of, first, last)).keys()]

    it('are read again by wallet and block, to the unit', async () => {
      await keep(10, 1)
      await keep(11, 2, 7n, other)
      expect(await checkpoints.between(of, 10, 10)).to.deep.equal(
        new Map([
          [
            10,
            new Map([
              ['0xa', 10n],
              ['0xb', 2n ** 255n],
            ]),
          ],
        ]),
      )
      expect(await blocks(11)).to.deep.equal([])
      expect(await checkpoints.newest(of)).to.deep.equal({ block: 10, timestampMs: day + hourMs })
      expect(await checkpoints.newest({ ...of, network: 'mainnet' })).to.equal(undefined)
    })

    it('have the number of transactions beside them, which is no token', async () => {
      const balances = new Map([
        ['nonce', 4n],
        ['0xa', 1n],
      ])
      await checkpoints.keep(of, { block: 10, timestampMs: day, balances })
      expect((await checkpoints.between(of, 10, 10)).get(10)).to.deep.equal(balances)
      const rows = await store.read((db) => db.selectFrom('checkpoints').select(['token', 'nonce']).execute())
      expect(rows).to.deep.equal([{ token: '0xa', nonce: 4 }])
    })

    it('are at most one a day, and the newest', async () => {
      for (let hours = 0; hours < 72; hours += 6) await keep(100 + hours, hours)
      expect(await blocks()).to.deep.equal([100, 124, 148, 166])
    })

    it('are replaced by those of the same block', async () => {
      await keep(10, 1)
      await keep(10, 1, 9n)
      expect((await checkpoints.between(of, 10, 10)).get(10)?.get('0xa')).to.equal(9n)
    })
  })
})
