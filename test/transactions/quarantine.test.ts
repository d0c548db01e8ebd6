import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { openStore } from '../../core/store/open-store.ts'
import { StoreUnavailable, type Store } from '../../core/store/store.ts'
import { createQuarantine, type Breach } from '../../core/transactions/quarantine.ts'

const silent = { info: () => {}, warn: () => {} }
const breach = (key: string, more: Partial<Breach> = {}): Breach => ({
  key,
  plugin: 'trap',
  at: 1_700_000_000_000,
  chain: 'ethereum',
  network: 'mainnet',
  address: '0xA1',
  txHash: `0x${key}`,
  version: 'abcd',
  lost: [{ token: '0xC3', minGainRaw: '-500', gainRaw: `-${10n ** 40n}` }],
  ...more,
})
const nameOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'signed',
    (error: Error) => error.name,
  )

describe('the quarantine of plugins', () => {
  let dataDir: string
  let store: Store
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-store-'))
    store = await openStore({ dataDir, serverName: 'test', log: silent })
  })
  afterEach(async () => {
    await store.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** As a server has it. */
  function serverOn(of: Pick<Store, 'read' | 'writeOnce'> = store) {
    const [told, shown]: [Breach[], (readonly Breach[])[]] = [[], []]
    const quarantine = createQuarantine({
      store: of,
      log: silent,
      onBreach: (each) => void told.push(each),
      onChange: (all) => void shown.push(all),
    })
    quarantine.stop()
    return { ...quarantine, told, shown }
  }

  it('reports a plugin once, and holds on every server of the store, also on one that starts later', async () => {
    const [one, other] = [serverOn(), serverOn()]
    expect(await nameOf(other.refuse('trap'))).to.equal('signed')
    await one.report(breach('1'))
    await one.report(breach('1', { at: 5 }))
    await other.report(breach('1'))
    expect([one.told, other.told]).to.deep.equal([[breach('1')], []])
    expect(one.shown.at(-1)).to.deep.equal([breach('1')])
    for (const server of [one, other, serverOn()]) {
      expect(await nameOf(server.refuse('trap'))).to.equal('FORBIDDEN')
      expect(server.shown.at(-1)).to.deep.equal([breach('1')])
      expect(await nameOf(server.refuse('other'))).to.equal('signed')
    }
  })

  it('ends with the word of the operator alone, for all that was found until then, and not for what comes after', async () => {
    const [one, other] = [serverOn(), serverOn()]
    await one.report(breach('1'))
    await one.report(breach('2'))
    await one.report(breach('3', { plugin: 'other' }))
    expect(await other.lift('trap')).to.deep.equal([breach('1'), breach('2')])
    expect(await other.lift('trap')).to.deep.equal([])
    expect(await nameOf(one.refuse('trap'))).to.equal('signed')
    expect(await nameOf(one.refuse('other'))).to.equal('FORBIDDEN')
    // A restart compares again what is not final.
    await one.report(breach('1'))
    expect(await nameOf(one.refuse('trap'))).to.equal('signed')
    await one.report(breach('4'))
    expect(await nameOf(other.refuse('trap'))).to.equal('FORBIDDEN')
    expect(one.told.map(({ key }) => key)).to.deep.equal(['1', '2', '3', '4'])
  })

  it('holds for a row that is damaged, and where the store does not answer nothing is signed', async () => {
    const one = serverOn()
    await one.report(breach('1'))
    await store.writeOnce((db) => db.updateTable('breaches').set({ body: '{"lost":' }).execute())
    expect(await nameOf(serverOn().refuse('trap'))).to.equal('FORBIDDEN')
    const down = serverOn({ ...store, read: () => Promise.reject(new StoreUnavailable('it is down')) })
    expect(await nameOf(down.refuse('trap'))).to.equal('OVERLOADED')
  })
})
