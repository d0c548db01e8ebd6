import { expect } from 'chai'
import { pause } from '../../core/base/async.ts'
import type { Client, ClientLimits } from '../../core/config/clients.ts'
import type { ClientChange } from '../../core/config/live-clients.ts'
import { createServerLimits, strictest } from '../../core/limits/server-limits.ts'
import type { ServerLeases, Store } from '../../core/store/store.ts'
import { places } from '../store/stores.ts'

const log = { info: () => {}, warn: () => {} }
const clientsOf = (limits: Record<string, ClientLimits>): Client[] =>
  Object.entries(limits).map(([name, each]) => ({ name, permissions: ['trade'], wallets: 'all', limits: each }))

describe('the limits of servers on one store', () => {
  describe('in PostgreSQL', () => {
    const { place } = places('postgres')
    let store: Store
    const leases: ServerLeases[] = []
    beforeEach(async () => {
      store = await place().open()
    })
    afterEach(async () => {
      for (const each of leases.splice(0)) await each.stop()
    })

    async function server(serverId: string, first: Record<string, ClientLimits>, of: Store = store) {
      const lease = store.openLeases(
        { serverId, serverName: `host of ${serverId}`, log },
        { requested: () => {}, granted: () => {}, freed: () => {}, owned: () => {} },
      )
      leases.push(lease)
      await lease.revive()
      const said: Record<string, unknown>[] = []
      let list = clientsOf(first)
      const listeners: ((changes: readonly ClientChange[]) => void)[] = []
      const clients = {
        get list() {
          return list
        },
        onChange: (listener: (changes: readonly ClientChange[]) => void) => void listeners.push(listener),
      }
      const limits = createServerLimits({
        store: of,
        serverId,
        clients,
        log: { warn: (fields, message) => void said.push({ ...fields, message }) },
      })
      limits.stop()
      await limits.refresh()
      return {
        ...limits,
        said,
        lease,
        change(to: Record<string, ClientLimits>) {
          list = clientsOf(to)
          for (const listener of listeners) listener([])
        },
      }
    }

    it('hold the stricter of each until they are equal, and say so', async () => {
      const one = await server('one', { bot: { maxFee: '1' }, same: { maxFee: '3' } })
      const other = await server('other', { bot: { maxFee: '0.5', transactionsPerHour: 9 }, same: { maxFee: '3' }, more: { maxFee: '4' } })
      await one.refresh()
      for (const each of [one, other]) {
        expect(each.strictestOf('bot')).to.deep.equal({ maxFee: '0.5', transactionsPerHour: 9 })
        expect(each.limitsOf('bot')).to.have.length(2)
        expect(each.limitsOf('same')).to.have.length(1)
        expect(each.strictestOf('more')).to.deep.equal({ maxFee: '4' })
        expect(each.limitsOf('nobody')).to.deep.equal([])
      }
      expect(one.said).to.have.length(1)
      expect(one.said[0]).to.deep.include({ clients: ['bot', 'more'], servers: ['host of other'] })
      other.change({ same: { maxFee: '3' }, bot: { maxFee: '1' } })
      await other.refresh()
      await one.refresh()
      expect(one.strictestOf('bot')).to.deep.equal({ maxFee: '1' })
      expect(one.strictestOf('more')).to.equal(undefined)
      expect(one.said.at(-1)?.['message']).to.match(/same limits of clients again/)
      expect(one.areThere()).to.equal(true)
    })

    it('hold the leverage that a limit of losses brings on one server, whatever the other one allows', async () => {
      const one = await server('one', { bot: { maxDailyLoss: '9' } })
      await server('other', { bot: { maxDailyLoss: '9', maxLeverage: 5 } })
      await one.refresh()
      expect(one.strictestOf('bot')).to.deep.equal({ maxDailyLoss: '9', maxLeverage: 1 })
    })

    it('are in the store as they were changed last, also where writing those before took longer', async () => {
      let [isHeld, release] = [false, () => {}]
      let held: Promise<unknown> | undefined
      const slow: Store = {
        ...store,
        writeOnce(statement) {
          if (!isHeld) return store.writeOnce(statement)
          isHeld = false
          const write = new Promise<void>((resolve) => (release = resolve)).then(() => store.writeOnce(statement))
          held = write
          return write
        },
      }
      const one = await server('one', { bot: { maxFee: '3' } }, slow)
      const other = await server('other', {})
      isHeld = true
      one.change({ bot: { maxFee: '2' } })
      one.change({ bot: { maxFee: '1' } })
      const written = one.refresh()
      await Promise.race([written, pause(200)])
      release()
      await Promise.all([held, written])
      await other.refresh()
      expect(other.strictestOf('bot')).to.deep.equal({ maxFee: '1' })
    })

    it('are no longer those of a server that has ended', async () => {
      const one = await server('one', {})
      expect(one.areThere()).to.equal(false)
      const other = await server('other', { bot: { maxFee: '0.5' } })
      await one.refresh()
      expect(one.strictestOf('bot')).to.deep.equal({ maxFee: '0.5' })
      await other.lease.stop()
      await one.refresh()
      expect(one.strictestOf('bot')).to.equal(undefined)
    })

    it('allow nothing but taking back where another server has limits that this version does not know', async () => {
      const one = await server('one', {})
      await server('other', { bot: { maxMoons: '1' } as ClientLimits })
      await one.refresh()
      expect(one.limitsOf('bot')).to.deep.equal([{ allowed: { actions: [] } }])
    })
  })

  it('are of amounts by network the lower on networks that both name, and by one amount for all of them', () => {
    const byNetwork = { maxFee: { 'a/b': '2', 'a/c': '3' } }
    expect(strictest(byNetwork, { maxFee: { 'a/b': '1', 'a/d': '4' } })).to.deep.equal({ maxFee: { 'a/b': '1' } })
    for (const merged of [strictest(byNetwork, { maxFee: '2.5' }), strictest({ maxFee: '2.5' }, byNetwork)])
      expect(merged).to.deep.equal({ maxFee: { 'a/b': '2', 'a/c': '2.5' } })
  })

  it('are of each amount the lower, of what either has', () => {
    const merged = strictest(
      { maxFee: '2', maxLeverage: 3, tokens: { 'a/b': { X: { perDay: '5', perHour: '1' }, Y: { perDay: '1' } } }, value: { perDay: '9' } },
      { maxFee: '10', maxLeverage: 2, maxDailyGas: '1', tokens: { 'a/b': { X: { perDay: '4' } }, 'c/d': {} }, value: { perHour: '3' } },
    )
    expect(merged).to.deep.equal({
      maxFee: '2',
      maxLeverage: 2,
      maxDailyGas: '1',
      tokens: { 'a/b': { X: { perDay: '4', perHour: '1' } } },
      value: { perDay: '9', perHour: '3' },
    })
  })
})
