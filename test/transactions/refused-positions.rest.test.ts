import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import type { Store } from '../../core/store/store.ts'
import { createRefusedPositions } from '../../core/transactions/refused-positions.ts'
import { onBothStores, places } from '../store/stores.ts'
import { until } from './site.ts'

const log = { warn: () => {} }
const position = { chain: 'ethereum', network: 'local', connector: 'uniswap', version: 'v3', tokenId: '38', client: 'bot' }
const trouble = new SluiceError('NETWORK', 'no node answers')

describe('positions whose clients were refused', () => {
  onBothStores((place) => {
    let store: Store
    let writes = 0
    const clock = { nowMs: 1_000_000_000_000 }
    /** Of a server that starts now. */
    const started = () => {
      const counted: Pick<Store, 'kind' | 'read' | 'writeOnce'> = {
        kind: store.kind,
        read: (work) => store.read(work),
        writeOnce(statement) {
          writes += 1
          return store.writeOnce(statement)
        },
      }
      return createRefusedPositions(counted, log, { nowMs: () => clock.nowMs, steadyMs: () => clock.nowMs })
    }
    const listed = async (from = started()) =>
      (await from.list()).map(({ token_id: id, client, asked, error }) => [client, id, asked, error])

    beforeEach(async () => {
      store = await place().open()
      writes = 0
    })

    it('are kept until their client is answered, also by the next server', async () => {
      await started().refuse(position, 'position', trouble)
      const next = started()
      expect(await listed(next)).to.deep.equal([['bot', '38', 'position', 'NETWORK']])
      next.answer({ ...position, client: 'other' }, 'position')
      next.answer({ ...position, tokenId: '39' }, 'position')
      next.answer(position, 'position')
      await until('it is gone', async () => (await listed()).length === 0)
      expect(writes).to.equal(2)
    })

    it('are those of refusals alone that say nothing of the position', async () => {
      const refused = started()
      await refused.refuse(position, 'close', new SluiceError('INCOMPLETE_PARAMS', 'slippagePct'))
      expect(await listed()).to.deep.equal([])
      await refused.refuse({ ...position, tokenId: '3\0' }, 'close', trouble)
      await refused.refuse({ ...position, connector: 'u'.repeat(201) }, 'close', trouble)
      expect(await listed()).to.deep.equal([])
      await refused.refuse(position, 'close', new SluiceError('FORBIDDEN', 'stopped'))
      expect(await listed()).to.deep.equal([['bot', '38', 'close', 'FORBIDDEN']])
      await refused.refuse(position, 'position', new SluiceError('UNKNOWN_POSITION', 'gone'))
      await until('it is gone', async () => (await listed()).length === 0)
      await refused.refuse(position, 'position')
      expect(await listed()).to.deep.equal([['bot', '38', 'position', null]])
    })

    it('are written twice a minute however often their client asks, and not at all while it is answered', async () => {
      const refused = started()
      for (let second = 0; second < 60; second += 1) {
        await refused.refuse(position, 'position', trouble)
        clock.nowMs += 1_000
      }
      expect(writes).to.equal(2)
      refused.answer(position, 'position')
      await until('it is gone', async () => (await listed()).length === 0)
      for (let times = 0; times < 60; times += 1) refused.answer(position, 'position')
      expect(writes).to.equal(3)
    })

    it('stay after a refused close whatever their client is told of them, until they are closed', async () => {
      const refused = started()
      await refused.refuse(position, 'close', trouble)
      refused.answer(position, 'position')
      clock.nowMs += 60_000
      await refused.refuse(position, 'position', trouble)
      expect(await listed()).to.deep.equal([['bot', '38', 'close', 'NETWORK']])
      expect(writes).to.equal(1)
      refused.answer(position, 'close')
      await until('it is gone', async () => (await listed()).length === 0)
    })

    it('are the newest five hundred of each client', async () => {
      const { tokenId: _, ...of } = position
      const rows = Array.from({ length: 500 }, (_row, id) => {
        const refused_at = clock.nowMs + id
        return { ...of, token_id: String(id), asked: 'position' as const, refused_at, error: null }
      })
      await store.write((tx) => tx.insertInto('refused_positions').values(rows).execute())
      clock.nowMs += 500
      const refused = started()
      await refused.refuse({ ...position, client: 'other' }, 'position', trouble)
      for (const tokenId of ['500', '501', '502']) {
        clock.nowMs += 1
        await refused.refuse({ ...position, tokenId }, 'position', trouble)
      }
      const ids = (await listed()).filter(([client]) => client === 'bot').map(([, id]) => id)
      expect([ids.length, ids[0], ids.at(-1)]).to.deep.equal([500, '502', '3'])
      expect(await listed()).to.deep.include(['other', '38', 'position', 'NETWORK'])
    })
  })

  it('are told to their client as they are where the store is away', async () => {
    const away = async (): Promise<never> => {
      throw new Error('the store is away')
    }
    const refused = createRefusedPositions({ kind: 'embedded', read: away, writeOnce: away }, log)
    await refused.refuse(position, 'close', trouble)
    refused.answer(position, 'position')
  })

  describe('by one server', () => {
    const { place } = places('postgres')

    it('are gone once another server answers their client', async () => {
      let steadyMs = 0
      const store = await place().open()
      const [one, other] = [
        createRefusedPositions(store, log),
        createRefusedPositions(await place().open(), log, { steadyMs: () => steadyMs }),
      ]
      other.answer(position, 'position')
      await one.refuse(position, 'position', trouble)
      await until('another server has told it', async () => {
        steadyMs += 30_000
        other.answer(position, 'position')
        return (await one.list()).length === 0
      })
    })
  })
})
