import { expect } from 'chai'
import { places } from '../../store/stores.ts'
import { archiveFolder, archiveOn } from './archive-site.ts'
import { archiverTests } from './archiver.ts'

describe('the archive of transactions in PostgreSQL', () => {
  const { place } = places('postgres')
  archiverTests(place)

  it('has each entry once though two servers archive at the same time', async () => {
    const { folder, remove } = await archiveFolder()
    const sites = [
      archiveOn(await place().open(), folder, { serverId: 'one' }),
      archiveOn(await place().open(), folder, { serverId: 'other' }),
    ] as const
    const [site] = sites
    try {
      for (let count = 0; count < 120; count += 1) await site.confirmed({ nonce: count, sequence: count })
      await site.passDays(91)
      await Promise.all(sites.map(({ archiver }) => archiver.run()))
      const ids = (await site.archived()).map(({ id }) => id)
      expect(ids).to.have.lengthOf(119)
      expect(new Set(ids).size).to.equal(119)
      expect(await site.keys()).to.have.lengthOf(1)
    } finally {
      for (const each of sites) await each.stop()
      await remove()
    }
  })
})
