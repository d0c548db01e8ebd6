import { expect } from 'chai'
import { createPreferences, type Preferences } from '../../core/store/preferences.ts'
import type { Store } from '../../core/store/store.ts'
import { onBothStores, places } from './stores.ts'

const bot = { interface: 'bots', client: 'bot' }
const names = (count: number) => Array.from({ length: count }, (_, index) => `name ${index}`)

const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
  )

describe('what clients set for themselves', () => {
  onBothStores((place) => {
    let store: Store
    let preferences: Preferences
    beforeEach(async () => {
      store = await place().open()
      preferences = createPreferences(store)
    })

    it('is read at once by who has set it, by nobody else, and not by another interface', async () => {
      expect(await preferences.read(bot, 60_000)).to.deep.equal({})
      await preferences.set(bot, 'wallet', '0x1')
      await preferences.set(bot, '__proto__', 'polluted')
      await preferences.set(bot, 'wallet', '0x2')
      for (const maxAgeMs of [60_000, 0])
        expect(Object.entries(await preferences.read(bot, maxAgeMs))).to.have.deep.members([
          ['wallet', '0x2'],
          ['__proto__', 'polluted'],
        ])
      expect(await preferences.read({ ...bot, client: 'other' }, 0)).to.deep.equal({})
      expect(await preferences.read({ ...bot, interface: 'others' }, 0)).to.deep.equal({})
    })

    it('stays its own when it gets another name, until it sets something else', async () => {
      const renamed = { ...bot, client: 'entry', formerClient: 'bot' }
      await preferences.set(bot, 'wallet', '0x1')
      await preferences.set(bot, 'network', 'base')
      expect(await preferences.read(renamed, 60_000)).to.deep.equal({ wallet: '0x1', network: 'base' })
      await preferences.set(renamed, 'wallet', '0x2')
      for (const maxAgeMs of [60_000, 0])
        expect(await preferences.read(renamed, maxAgeMs)).to.deep.equal({ wallet: '0x2', network: 'base' })
      expect(await preferences.read(bot, 0)).to.deep.equal({ wallet: '0x1', network: 'base' })
      expect(await preferences.read({ ...bot, client: 'entry' }, 0)).to.deep.equal({ wallet: '0x2' })
    })

    it('stays when the server starts again', async () => {
      await preferences.set(bot, 'wallet', '0x1')
      await store.close()
      store = await place().open()
      expect(await createPreferences(store).read(bot, 60_000)).to.deep.equal({ wallet: '0x1' })
    })

    it('has bounds of size and number, within which it can be changed', async () => {
      for (const name of ['', 'n'.repeat(129), 'a\0'])
        expect(await refusal(preferences.set(bot, name, '1'))).to.match(/INCOMPLETE_PARAMS.*1 to 128/)
      for (const value of ['v'.repeat(1_001), '\0'])
        expect(await refusal(preferences.set(bot, 'name', value))).to.match(/INCOMPLETE_PARAMS.*at most 1000/)
      for (const name of names(100)) await preferences.set(bot, name, 'v'.repeat(1_000))
      expect(await refusal(preferences.set(bot, 'one more', '1'))).to.match(/INCOMPLETE_PARAMS.*at most 100/)
      await preferences.set(bot, 'name 7', 'changed')
      await preferences.set({ ...bot, client: 'other' }, 'one more', '1')
      const texts = await preferences.read(bot, 0)
      expect(Object.keys(texts)).to.have.members(names(100))
      expect(texts['name 7']).to.equal('changed')
    })

    it('is known while the store is away, for what only reads', async () => {
      await preferences.set(bot, 'wallet', '0x1')
      await preferences.read(bot, 60_000)
      await store.close()
      expect(await preferences.read(bot, 60_000)).to.deep.equal({ wallet: '0x1' })
    })
  })

  describe('on another server of the store', () => {
    const { place } = places('postgres')

    it('is read in time, and at once where that is asked for', async () => {
      const [one, other] = [createPreferences(await place().open()), createPreferences(await place().open())]
      await one.set(bot, 'wallet', '0x1')
      expect(await other.read(bot, 60_000)).to.deep.equal({ wallet: '0x1' })
      await one.set(bot, 'wallet', '0x2')
      expect(await other.read(bot, 60_000)).to.deep.equal({ wallet: '0x1' })
      expect(await other.read(bot, 0)).to.deep.equal({ wallet: '0x2' })
      expect(await other.read(bot, 60_000)).to.deep.equal({ wallet: '0x2' })
    })
  })
})
