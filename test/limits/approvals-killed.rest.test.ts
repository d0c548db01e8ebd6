// A server that dies between an approval and the signed transaction: nothing is made twice, and nothing is lost silently.
import { existsSync, readdirSync } from 'node:fs'
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
import { others, swap, traders } from '../http/shared-server.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'thin'], wallets: 'all', limits: { approveAbove: '0' } },
  boss: { permissions: ['read', 'approve'], wallets: 'all' },
}

/** What is stored is the same before and after the signature itself: `npm run test:limits` has both. */
const signed = process.env.SLUICE_LIMITS_TURNS === 'all' ? ['before sign', 'before journal SIGNED'] : ['before journal SIGNED']
const points = ['before journal QUEUED', ...signed, 'after journal SIGNED']

/** One chain and one exchange are enough, and start quickly. */
const unused = readdirSync(new URL('../../plugins/', import.meta.url)).filter((name) => !['ethereum', 'uniswap'].includes(name))

describe('a server that is killed after an approval', function () {
  this.timeout(400_000)
  let chain: Chain
  let home: Home
  /** It dies at a point of the next approval. */
  let dying: Server
  before(async () => {
    chain = await startChain({ blockMs: 250 })
    home = await makeHome({ confirmations: 1 })
    await writeFile(path.join(home.confDir, 'clients.yml'), stringify({ clients }))
    dying = await start(points[0], 1)
  })
  after(async () => {
    await dying?.stop()
    await chain.stop()
    await home.remove()
  })

  const start = (point: string | undefined, nth: number): Promise<Server> =>
    spawnServer({
      home,
      devnetUrl: chain.rpcUrl(),
      flags: { 'plugins.disabled': unused },
      patches: ['points'],
      ...(point !== undefined && { dieAt: { point, nth } }),
    })
  /** Transactions of a wallet in blocks. */
  const sent = async (address: string) => Number(await chain.rpc('eth_getTransactionCount', address, 'latest'))
  const bossOf = async (of: Server): Promise<Client> => {
    if (!existsSync(path.join(home.certsDir, 'boss_key.pem'))) await newClient(home.certsDir, 'boss')
    return of.newClient('boss')
  }

  for (const [index, point] of points.entries())
    it(`makes one transaction once it is repeated: ${point}`, async () => {
      const address = index % 2 === 0 ? traders : others
      const before = await sent(address)
      const trade = (by: Server): Promise<Answer> =>
        by.client.post(
          '/amm/trade',
          { ...swap, base: 'ETH', address, amount: `0.0${index + 1}` },
          { headers: { 'idempotency-key': `killed-${index}` } },
        )
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
      // What the first left is its first time at each point.
      const next = await start(points[index + 1], 2)
      const again = await bossOf(next)
      const { body } = await again.get('/approvals', { id: String(id) })
      expect(body.approvals[0].state).to.equal(point === 'after journal SIGNED' ? 'done' : 'approved')
      const until = Date.now() + 180_000
      let done: Answer[] = []
      while (Date.now() < until && !(done.length > 0 && done.every(({ status }) => status === 200))) {
        done = await Promise.all([trade(next), again.post('/approvals/approve', { id })])
        await sleep(100)
      }
      const [own, approved] = done
      expect(own?.status, own?.text).to.equal(200)
      expect(approved?.body.answer.txHash).to.equal(own?.body.txHash)
      while (Date.now() < until && (await sent(address)) === before) await sleep(100)
      await sleep(1_000)
      expect(await sent(address)).to.equal(before + 1)
      again.close()
      dying = next
    })
})
