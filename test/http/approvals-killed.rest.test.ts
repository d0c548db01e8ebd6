// A server that dies between an approval and the signed transaction: nothing is made twice, and nothing is lost silently.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { newClient } from '../../core/tls/certificates.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { startChain, type Chain } from '../../tools/chaos/chain/chain.ts'
import { makeHome, type Home } from '../../tools/chaos/servers/home.ts'
import { spawnServer, type Server } from '../../tools/chaos/servers/spawn-server.ts'
import { minedOf } from '../cluster/cluster.ts'
import { others, swap, traders } from './shared-server.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'thin'], wallets: 'all', limits: { approveAbove: '0' } },
  boss: { permissions: ['read', 'approve'], wallets: 'all' },
}

describe('a server that is killed after an approval', function () {
  this.timeout(240_000)
  let chain: Chain
  let home: Home
  let server: Server | undefined
  before(async () => {
    chain = await startChain({ blockMs: 250 })
    home = await makeHome({ confirmations: 1 })
    await writeFile(path.join(home.confDir, 'clients.yml'), stringify({ clients }))
  })
  afterEach(() => server?.stop())
  after(async () => {
    await chain.stop()
    await home.remove()
  })

  const start = async (point?: string) => {
    server = await spawnServer({
      home,
      devnetUrl: chain.rpcUrl(),
      patches: ['points'],
      ...(point !== undefined && { dieAt: { point, nth: 1 } }),
    })
    return server
  }
  const bossOf = async (of: Server): Promise<Client> => {
    if (!existsSync(path.join(home.certsDir, 'boss_key.pem'))) await newClient(home.certsDir, 'boss')
    return of.newClient('boss')
  }

  for (const [index, point] of ['before journal QUEUED', 'before sign', 'before journal SIGNED', 'after journal SIGNED'].entries())
    it(`makes one transaction once it is repeated: ${point}`, async () => {
      const address = index % 2 === 0 ? traders : others
      const before = (await minedOf(chain, address)).length
      const trade = (by: Server): Promise<Answer> =>
        by.client.post(
          '/amm/trade',
          { ...swap, base: 'ETH', address, amount: `0.0${index + 1}` },
          { headers: { 'idempotency-key': `killed-${index}` } },
        )
      const dying = await start(point)
      const held = await trade(dying)
      expect(held.status, held.text).to.equal(202)
      const { id } = held.body.details
      const boss = await bossOf(dying)
      await boss.post('/approvals/approve', { id }).then(
        ({ text }) => expect.fail(`it answered ${text}`),
        () => {},
      )
      boss.close()
      await dying.ended

      const next = await start()
      const again = await bossOf(next)
      const { body } = await again.get('/approvals', { id: String(id) })
      expect(body.approvals[0].state).to.equal(point === 'after journal SIGNED' ? 'done' : 'approved')
      const until = Date.now() + 30_000
      let done: Answer[] = []
      while (Date.now() < until && !(done.length > 0 && done.every(({ status }) => status === 200))) {
        done = await Promise.all([trade(next), again.post('/approvals/approve', { id })])
        await sleep(100)
      }
      const [own, approved] = done
      expect(own?.status, own?.text).to.equal(200)
      expect(approved?.body.answer.txHash).to.equal(own?.body.txHash)
      while (Date.now() < until && (await minedOf(chain, address)).length === before) await sleep(100)
      await sleep(1_000)
      expect(await minedOf(chain, address)).to.have.length(before + 1)
      again.close()
    })
})
