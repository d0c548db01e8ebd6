import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { openStore } from '../../../core/store/open-store.ts'
import { sqlLeases } from '../../../core/transactions/leases.ts'
import { silent, soon } from '../site.ts'

const queue = 'ethereum/local/0x1'

describe('leases in an embedded store', () => {
  let dataDir: string
  before(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-leases-'))
  })
  after(() => rm(dataDir, { recursive: true, force: true }))

  it('never wait for another owner, and get a higher fencing token in each process', async () => {
    for (const [serverId, fencingToken] of [
      ['first', 1],
      ['second', 2],
    ] as const) {
      const store = await openStore({ dataDir, serverName: serverId, log: silent })
      const leases = sqlLeases({ store, serverId, serverName: serverId, log: silent })
      expect(leases.held(queue)).to.equal(undefined)
      expect(await leases.use(queue, soon(), async (lease) => lease)).to.deep.equal({ queue, fencingToken })
      expect(await leases.takeIfFree(queue)).to.deep.equal({ queue, fencingToken })
      expect(leases.held(queue)).to.deep.equal({ queue, fencingToken })
      await leases.stop()
      expect(leases.held(queue)).to.equal(undefined)
      await store.close()
    }
  })
})
