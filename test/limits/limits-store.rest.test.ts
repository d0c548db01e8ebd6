// Limits while PostgreSQL is away: nothing is signed without them, and what was counted is there when it is back.
import { expect } from 'chai'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { addresses } from '../devnet/addresses.ts'
import { isPostgresInstalled, type TestPostgres } from '../store/postgres.ts'
import { sharedPostgres } from '../store/stores.ts'
import { local, mined, oneChain, others, outcome, traders } from '../http/shared-server.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' },
  bot: { permissions: ['read', 'trade'], wallets: [traders], limits: { transactionsPerHour: 4 } },
  burst: { permissions: ['read', 'trade'], wallets: [others], limits: { transactionsPerHour: 3 } },
}

const weth = addresses.tokens.WETH.address
const balanceOf = '0x70a08231'

describe('limits while PostgreSQL is away', function () {
  this.timeout(400_000)
  let postgres: TestPostgres
  let server: TestServer
  let bot: Client
  let rpc: Rpc
  before(async function () {
    if (!isPostgresInstalled) this.skip()
    postgres = await sharedPostgres()
    server = await startServer({
      settings: { ...oneChain.settings, 'store.url': await postgres.database(), 'server.requestTimeoutSeconds': 25 },
      conf: { ...oneChain.conf, 'clients.yml': { clients } },
    })
    rpc = rpcTo(server.rpcUrl)
    await newClient(server.certsDir, 'bot')
    bot = createClient(server.url, server.certsDir, 'bot')
  })
  after(async () => {
    bot?.close()
    await server?.stop()
  })

  // Other files have it too: a test that failed may have left it away.
  afterEach(async function () {
    if (this.currentTest?.isFailed()) await postgres.restart()
  })

  const wrap = () => bot.post('/evm/wrap', { ...local, address: traders, amount: '0.1' })
  const nonce = () => rpc('eth_getTransactionCount', traders, 'pending')
  const used = async () => {
    const { body, text } = await bot.get('/limits')
    return body.limits?.find(({ limit }: { limit: string }) => limit === 'transactionsPerHour')?.used ?? text
  }

  it('refuse what they would have to count, sign nothing, and go on from what was counted', async () => {
    for (let count = 0; count < 2; count += 1) {
      const wrapped = await wrap()
      expect(outcome(wrapped), wrapped.text).to.equal('200')
      await mined(server.client, wrapped.body.txHash)
    }
    expect(await used()).to.equal('2')
    const before = await nonce()
    for (const stopped of ['killed', 'hanging'] as const) {
      await (stopped === 'killed' ? postgres.kill() : postgres.pause())
      const answers = await Promise.all([wrap(), wrap(), wrap(), bot.get('/limits')])
      for (const answer of answers) {
        expect(outcome(answer), answer.text).to.equal('503 OVERLOADED')
        expect(answer.body.message).to.match(/store/)
      }
      expect(outcome(await server.client.get('/health/ready'))).to.match(/^503/)
      expect(await nonce()).to.equal(before)
      await (stopped === 'killed' ? postgres.restart() : postgres.resume())
      for (const endsAt = Date.now() + 180_000; (await used()) !== '2' && Date.now() < endsAt;)
        await new Promise((resolve) => setTimeout(resolve, 200))
      expect(await used(), stopped).to.equal('2')
      expect(await nonce()).to.equal(before)
    }
    const answers = []
    for (const endsAt = Date.now() + 180_000; answers.length < 3 && Date.now() < endsAt;) {
      const answer = await wrap()
      if (answer.status !== 503) answers.push(outcome(answer))
      else await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(answers).to.deep.equal(['200', '200', '403 LIMIT_EXCEEDED'])
    expect(await used()).to.equal('4')
  })

  it('let no more through of requests among which the database ends', async () => {
    await newClient(server.certsDir, 'burst')
    const burst = createClient(server.url, server.certsDir, 'burst')
    try {
      const wrapOne = () => burst.post('/evm/wrap', { ...local, address: others, amount: '0.1' })
      // In tenths of a coin.
      const wrapped = async () =>
        Number(
          BigInt(String(await rpc('eth_call', { to: weth, data: balanceOf + others.slice(2).padStart(64, '0') }, 'latest'))) / 10n ** 17n,
        )
      const before = await wrapped()
      const answers = Array.from({ length: 8 }, wrapOne)
      await Promise.race(answers)
      await postgres.kill()
      const outcomes = (await Promise.all(answers)).map(outcome)
      for (const each of outcomes) expect(each).to.match(/^(200|403 LIMIT_EXCEEDED|503 OVERLOADED|504 TIMEOUT)$/)
      await postgres.restart()
      // One whose commit nobody knew may be given up, and is free then.
      for (const endsAt = Date.now() + 180_000; (await wrapped()) < before + 3 && Date.now() < endsAt;) {
        expect(outcome(await wrapOne())).to.match(/^(200|403 LIMIT_EXCEEDED|503 OVERLOADED)$/)
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
      let last = await wrapOne()
      // The database may not be back for the server yet.
      for (const endsAt = Date.now() + 180_000; last.status === 503 && Date.now() < endsAt; last = await wrapOne())
        await new Promise((resolve) => setTimeout(resolve, 500))
      expect(outcome(last), last.text).to.equal('403 LIMIT_EXCEEDED')
      await rpc('anvil_mine', '0x2')
      expect((await wrapped()) - before, outcomes.join()).to.equal(3)
    } finally {
      burst.close()
    }
  })
})
