import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { forgetDevnet } from '../../core/boot/forget-devnet.ts'
import { openStore, type Store } from '../../core/store/index.ts'

const columns = { version: 1, address: '0x1', state: 'CONFIRMED', final: 1, nonce: 0, client: 'client', request_id: 'r', created_at: 0 }
const body = { shown: '{}', body: '{}' }

describe('a devnet that begins anew', () => {
  let dataDir: string
  let store: Store
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-forget-'))
    store = await openStore({ dataDir, serverName: 'test', log: { info: () => {}, warn: () => {} } })
  })
  afterEach(async () => {
    await store.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  const keep = (key: string, network: string, idempotency_key: string) =>
    store.write(async (tx) => {
      const lane = `ethereum/${network}/0x1`
      await tx
        .insertInto('entries')
        .values({ ...columns, ...body, key, lane, chain: 'ethereum', network, idempotency_key })
        .execute()
      await tx
        .insertInto('hashes')
        .values({ chain: 'ethereum', network, hash: `0x${key}`, entry_key: key })
        .execute()
      const request = {
        client: 'client',
        path: `/${network}`,
        key: idempotency_key,
        fingerprint: '',
        claim: 1,
        server: 's',
        request_id: 'r',
      }
      await tx
        .insertInto('requests')
        .values({ ...request, created_at: 0, status: 200, body: '{}' })
        .execute()
    })

  it('is not taken for the one before: its transactions and the keys used for them are forgotten, and nothing of other networks', async () => {
    await keep('a', 'local', 'first-trade')
    await keep('b', 'mainnet', 'real-trade')
    await keep('c', 'local', 'used-on-both')
    await keep('d', 'mainnet', 'used-on-both')
    await forgetDevnet(store)
    const left = await store.read(async (db) => ({
      entries: (await db.selectFrom('entries').select('key').orderBy('key').execute()).map(({ key }) => key),
      hashes: (await db.selectFrom('hashes').select('hash').orderBy('hash').execute()).map(({ hash }) => hash),
      requests: (await db.selectFrom('requests').select(['path', 'key']).orderBy('key').orderBy('path').execute()).map(
        ({ path, key }) => `${path} ${key}`,
      ),
    }))
    expect(left).to.deep.equal({
      entries: ['b', 'd'],
      hashes: ['0xb', '0xd'],
      requests: ['/mainnet real-trade', '/local used-on-both', '/mainnet used-on-both'],
    })
  })
})
