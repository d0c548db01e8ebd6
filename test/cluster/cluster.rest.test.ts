import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Answer } from '../../testkit/client.ts'
import { allowOrders } from '../../tools/chaos/chain/facts.ts'
import type { Server } from '../../tools/chaos/servers/spawn-server.ts'
import { isPostgresInstalled } from '../store/postgres.ts'
import { batch, minedOf, poll, startCluster, trade, transactionsOf, walletOf, type Cluster } from './cluster.ts'

const patienceMs = 180_000
const outcomeOf = ({ status, body }: Answer) => (status === 200 ? '200' : `${status} ${body?.name}`)

describe('several servers on one PostgreSQL', function () {
  this.timeout(600_000)
  let cluster: Cluster
  let [first, second, third]: Server[] = []
  let values = 10n ** 15n
  const newValue = () => (values += 1n)

  before(async function () {
    if (!isPostgresInstalled) this.skip()
    cluster = await startCluster()
    await allowOrders(cluster.chain, [walletOf(1)])
    // The first alone, since it makes certificates and tables.
    first = await cluster.start()
    ;[second, third] = await Promise.all([cluster.start(), cluster.start()])
  })
  after(() => cluster?.stop())

  const servers = () => [first, second, third].flatMap((each) => (each && !each.hasEnded() ? [each] : []))

  async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    const end = performance.now() + patienceMs
    while (performance.now() < end) {
      const found = await look()
      if (found !== undefined) return found
      await sleep(50)
    }
    throw new Error(`It did not come to pass: ${what}.`)
  }

  /** As a bot does it: again with the same key until there is an answer for good. */
  async function insist(server: Server, address: string, valueWei: bigint, key: string): Promise<Answer> {
    return until(`an answer under ${key}`, async () => {
      const answer = await trade(server, address, valueWei, key).catch(() => undefined)
      return answer?.status === 200 ? answer : undefined
    })
  }

  const becomes = (server: Server, txHash: string, state: string) =>
    until(`${txHash} is ${state}`, async () => {
      const { body } = await poll(server, txHash)
      return body?.txState === state ? true : undefined
    })

  it('trade from one wallet at once, on all of them, without a gap or a doubled nonce, and each answers for all', async () => {
    const address = walletOf(0)
    const before = await minedOf(cluster.chain, address)
    const keys = Array.from({ length: 10 }, (_, index) => `side-by-side-${index}`)
    // On a busy machine a request may be answered by its timeout: its bot asks again with its key.
    const answers = await Promise.all(
      servers().flatMap((server, place) => keys.map((key) => insist(server, address, newValue(), `${key}-${place}`))),
    )
    const nonces: number[] = answers.map(({ body }) => body.nonce)
    for (const { body } of answers) await becomes(first as Server, body.txHash, 'CONFIRMED')

    const mined = (await minedOf(cluster.chain, address)).slice(before.length)
    const minedNonces = mined.map(({ nonce }) => nonce).toSorted((a, b) => a - b)
    expect(minedNonces).to.deep.equal(minedNonces.map((_, index) => (minedNonces[0] ?? 0) + index))
    // The nonce of a request that timed out is filled by a transaction that sends nothing.
    const trades = mined.filter(({ valueWei }) => valueWei > 0n).map(({ nonce }) => nonce)
    expect(trades.toSorted((a, b) => a - b)).to.deep.equal(nonces.toSorted((a, b) => a - b))
    const lists = await Promise.all(servers().map(async (server) => (await transactionsOf(server, address)).body.transactions))
    expect(lists[1]).to.deep.equal(lists[0])
    expect(lists[2]).to.deep.equal(lists[0])
    for (const server of servers()) {
      const { body } = await poll(server, answers[0]?.body.txHash)
      expect([body.txStatus, body.txState]).to.deep.equal([1, 'CONFIRMED'])
    }
  })

  it('have one effect and one answer for a key that comes to all of them at once', async () => {
    const address = walletOf(1)
    for (let round = 0; round < 3; round += 1) {
      const [key, value] = [`all-at-once-${round}`, newValue()]
      const tries = await Promise.all(servers().flatMap((server) => Array.from({ length: 4 }, () => trade(server, address, value, key))))
      expect(['200', '409 IN_FLIGHT']).to.include.members(tries.map(outcomeOf))
      const answers = await Promise.all(servers().map((server) => insist(server, address, value, key)))
      expect(new Set([...answers, ...tries.filter(({ status }) => status === 200)].map(({ text }) => text)).size).to.equal(1)
      await becomes(first as Server, answers[0]?.body.txHash, 'CONFIRMED')
      expect((await minedOf(cluster.chain, address)).filter(({ valueWei }) => valueWei === value)).to.have.length(1)
    }
  })

  it('hand the wallets over at once when one of them is stopped in order', async () => {
    const address = walletOf(2)
    const leaving = await cluster.start()
    expect(outcomeOf(await trade(leaving, address, newValue()))).to.equal('200')
    await leaving.stop()
    const stoppedAt = performance.now()
    expect(outcomeOf(await trade(second as Server, address, newValue()))).to.equal('200')
    console.log(`        the next trade took ${Math.round(performance.now() - stoppedAt)} ms`)
  })

  it('see to the end what a server that was killed has left open, and trade on after it', async () => {
    const address = walletOf(2)
    const killed = await cluster.start()
    cluster.chain.pace(0)
    const open = await Promise.all(Array.from({ length: 5 }, () => trade(killed, address, newValue())))
    expect(open.map(outcomeOf)).to.deep.equal(open.map(() => '200'))
    killed.signal('SIGKILL')
    const killedAt = performance.now()
    // What no node knows any more is sent again by whoever takes over.
    await cluster.chain.rpc('anvil_dropAllTransactions')
    cluster.chain.pace(250)
    for (const { body } of open) await becomes(second as Server, body.txHash, 'CONFIRMED')
    console.log(`        all was confirmed ${Math.round(performance.now() - killedAt)} ms after the kill`)
    const next = await trade(third as Server, address, newValue())
    expect(outcomeOf(next)).to.equal('200')
    expect(next.body.nonce).to.equal(Math.max(...open.map(({ body }) => body.nonce)) + 1)
  })

  it('let no server journal that stood still between signing and journaling while another took its wallet and its key', async () => {
    const [address, key, value] = [walletOf(1), 'stood-still', newValue()]
    const still = await cluster.start({ patches: ['points'], stopAt: { point: 'after sign', nth: 1 } })
    const asked = trade(still, address, value, key).catch((error: Error) => error)
    await until('it has journaled what it is to sign', async () => {
      const rows = await cluster.postgres.query(`select state from entries where idempotency_key = '${key}'`)
      return rows.length > 0 ? true : undefined
    })
    const answer = await insist(first as Server, address, value, key)
    still.signal('SIGCONT')
    const late = await asked
    // It is told the one answer that there is, or nothing at all.
    if (!(late instanceof Error) && late.status === 200) expect(late.text).to.equal(answer.text)
    await becomes(second as Server, answer.body.txHash, 'CONFIRMED')
    expect((await insist(still, address, value, key)).text).to.equal(answer.text)
    expect((await minedOf(cluster.chain, address)).filter(({ valueWei }) => valueWei === value)).to.have.length(1)
    expect(outcomeOf(await trade(still, address, newValue()))).to.equal('200')
  })

  for (const isRepeated of [false, true]) {
    const meanwhile = isRepeated ? 'its wallet and its key' : 'its wallet'
    it(`tell of nothing that was not journaled where one stood still amid a batch while another took ${meanwhile}`, async () => {
      const [address, key, prices] = [walletOf(1), `batch-${isRepeated}`, ['800', '801']]
      const slow = { 'server.requestTimeoutSeconds': 60 }
      const still = await cluster.start({ patches: ['points'], flags: slow, stopAt: { point: 'after sign', nth: 2 } })
      const asked = batch(still, address, prices, key)
      await until('it has journaled what it is to sign last', async () => {
        const rows = await cluster.postgres.query(`select state from entries where idempotency_key = '${key}'`)
        return rows.length > 0 ? true : undefined
      })
      const other = isRepeated
        ? await until('another server answers', async () => {
            const answer = await batch(first as Server, address, prices, key)
            return answer.status === 200 ? answer : undefined
          })
        : await batch(first as Server, address, ['802'], `beside-${key}`)
      expect(outcomeOf(other)).to.equal('200')
      still.signal('SIGCONT')
      const { status, body, text } = await asked
      expect(status, text).to.equal(200)
      expect((await batch(second as Server, address, prices, key)).text).to.equal(text)
      if (isRepeated) expect(text).to.equal(other.text)
      const said = body.created.map(({ state, error }: { state?: string; error?: { name: string } }) => state ?? error?.name)
      expect(said[1]).to.equal(isRepeated ? 'PENDING_OPEN' : 'OVERLOADED')
      for (const { txHash } of body.created) if (txHash !== undefined) await becomes(third as Server, txHash, 'CONFIRMED')
    })
  }

  it('leave no gap after all of it', async () => {
    for (const address of [0, 1, 2].map(walletOf)) {
      await until(`nothing of ${address} is open`, async () => {
        const { body } = await transactionsOf(first as Server, address)
        const open = body.transactions.filter(({ state }: { state: string }) => ['QUEUED', 'SIGNED', 'BROADCAST', 'MINED'].includes(state))
        return open.length === 0 ? true : undefined
      })
      const nonces = (await minedOf(cluster.chain, address)).map(({ nonce }) => nonce)
      expect(nonces).to.deep.equal(nonces.map((_, index) => (nonces[0] ?? 0) + index))
    }
  })
})
