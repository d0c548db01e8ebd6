// Requests that wait for a second person: over HTTP, on the devnet; on PostgreSQL by two servers, and in the embedded store what that keeps.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { startKernel, type Kernel } from '../../core/kernel.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { createApprovals } from '../../core/limits/approvals.ts'
import type { Store } from '../../core/store/store.ts'
import { newClients, renew, revoke } from '../../core/tls/certificates.ts'
import { createRevokedCertificates } from '../../core/tls/revoked-certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { follow } from '../events/client.ts'
import { isPostgresInstalled } from '../store/postgres.ts'
import { kinds, sharedPostgres } from '../store/stores.ts'
import { scrape } from '../http/scrape.ts'
import { admins, coldStore, listedSpender, local, mined, oneChain, others, outcome, swap, traders } from '../http/shared-server.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume'], wallets: 'all' },
  bot: {
    permissions: ['read', 'trade', 'send', 'thin', 'approve'],
    wallets: [traders],
    sendTo: { [traders]: [coldStore] },
    limits: { approveAbove: '1000', transactionsPerHour: 40 },
  },
  limited: {
    permissions: ['read', 'trade', 'thin'],
    wallets: [traders],
    limits: { approveAbove: '1000', transactionsPerHour: 1 },
  },
  byToken: {
    permissions: ['read', 'trade', 'thin'],
    wallets: [traders],
    limits: { approveTokensAbove: { 'ethereum/local': { WETH: '0.5', ETH: '0.02' } } },
  },
  bounded: {
    permissions: ['read', 'trade', 'thin'],
    wallets: [traders],
    limits: { approveAbove: '1000', value: { perTransaction: '2000', perDay: '6000' }, maxDailyGas: '1' },
  },
  gone: { permissions: ['read', 'trade', 'thin'], wallets: [traders], limits: { approveAbove: '0' } },
  boss: { permissions: ['read', 'approve'], wallets: [traders] },
  second: { permissions: ['read', 'approve'], wallets: 'all' },
  stranger: { permissions: ['read', 'approve'], wallets: [others] },
  reader: { permissions: ['read'], wallets: 'all' },
}
const settings = {
  ...oneChain.settings,
  'limits.onLocalNetworks': true,
  'limits.marketDepth': 100_000,
  'limits.marketMinutes': 4,
  'wallet.allowedSpenders': [listedSpender],
}
const names = ['bot', 'limited', 'byToken', 'bounded', 'gone', 'boss', 'second', 'stranger', 'reader'] as const

/** Those of the market and of approvals, and of the store besides what passes. */
let [nowMs, clockMs] = [0, 0]
let store: Store | undefined
const parts: NonNullable<Parameters<typeof startKernel>[2]> = {
  market: { open: (open) => openMarket(open, () => nowMs), stop: (market) => market.stop() },
  approvals: {
    open(open) {
      store = open.store
      const isRevoked = createRevokedCertificates(open.settings.ssl.certsDir)
      return createApprovals({ store, isRevoked, log: open.log, minutes: 15, maxWaiting: 4, nowMs: () => Date.now() + clockMs })
    },
  },
}

describe('a request above approveAbove', function () {
  this.timeout(300_000)
  let home = ''
  /** In the embedded store. Its chain and its certificates are those of all. */
  let first: TestServer
  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-approvals-'))
    first = await startServer(
      { settings, conf: { ...oneChain.conf, 'clients.yml': { clients } }, between: async (url) => url },
      home,
      parts,
    )
    await newClients(first.certsDir, names)
    for (const token of ['WETH', 'USDC']) {
      const approved = await first.client.post('/evm/approve', { ...local, address: traders, spender: 'uniswap', token })
      await mined(first.client, approved.body.txHash)
    }
  })
  after(async () => {
    await first?.stop()
    if (home) await rm(home, { recursive: true, force: true })
  })

  /** @param dir where its data is, besides that in the store */
  async function startOn(dir: string, url?: string): Promise<Kernel> {
    const { devnet } = first.kernel
    // A folder that is not there counts as a stop for all.
    await mkdir(dir, { recursive: true })
    const own = {
      ...first.settings,
      data: { ...first.settings.data, dir },
      store: { ...first.settings.store, ...(url !== undefined && { url }) },
    }
    const kernel = await startKernel(own, { print: () => {}, ...(devnet && { devnet }) }, parts)
    await kernel.pluginsLoaded
    return kernel
  }

  for (const kind of kinds)
    describe(kind === 'embedded' ? 'in the embedded store' : 'in PostgreSQL', () => {
      let server: Kernel
      /** Of the same store and certificates. */
      let other: Kernel | undefined
      let operator: Client
      let as: Record<(typeof names)[number] | 'botRenewed' | 'secondElsewhere' | 'boundedElsewhere', Client>

      before(async function () {
        if (kind === 'postgres' && !isPostgresInstalled) this.skip()
        const database = kind === 'postgres' ? await (await sharedPostgres()).database() : undefined
        server = database === undefined ? first.kernel : await startOn(path.join(home, 'one'), database)
        if (database !== undefined) other = await startOn(path.join(home, 'other'), database)
        const { certsDir } = first
        operator = createClient(server.url, certsDir)
        const opened = names.map((name): [string, Client] => [name, createClient(server.url, certsDir, name)])
        // The first certificate stays valid.
        await renew(certsDir, 'bot')
        opened.push(['botRenewed', createClient(server.url, certsDir, 'bot')])
        for (const name of ['second', 'bounded']) opened.push([`${name}Elsewhere`, createClient((other ?? server).url, certsDir, name)])
        as = Object.fromEntries(opened) as typeof as
        waits(await sell('0.1'))
        for (let read = 0; read < 2; read += 1) {
          nowMs += 60_000
          for (const each of [server, other]) await each?.services.market.read()
        }
      })
      after(async () => {
        for (const client of [operator, ...Object.values(as ?? {})]) client?.close()
        for (const each of [other, server]) await each?.stop()
      })
      afterEach(async () => {
        clockMs = 0
        const { body } = await as.boss.get('/approvals', { state: 'waiting' })
        for (const { id } of body.approvals) expect(outcome(await deny(id))).to.equal('200')
      })

      const keyed = (key: string) => ({ headers: { 'idempotency-key': `${kind}-${key}` } })
      const sell = (amount: string, fields: object = {}, key?: string) =>
        as.bot.post('/amm/trade', { ...swap, address: traders, amount, ...fields }, key === undefined ? {} : keyed(key))
      const approve = (id: number, by = as.boss) => by.post('/approvals/approve', { id })
      const deny = (id: number, by = as.boss) => by.post('/approvals/deny', { id })
      const show = async (id: number, by = as.boss) => (await by.get('/approvals', { id: String(id) })).body.approvals[0]
      const waits = (answer: Answer): number => {
        expect(outcome(answer), answer.text).to.equal('202 PENDING_APPROVAL')
        return answer.body.details.id
      }
      const nonceOf = () => rpcTo(first.rpcUrl)('eth_getTransactionCount', traders, 'pending')

      /** Tests of what no store has a part in. */
      const onAnyStore = (title: string, test: () => Promise<void>) => void (kind === 'embedded' && it(title, test))
      /** What changes the chain of all, and so comes once, where two servers share a store if they can. */
      const onOneStore = (title: string, test: () => Promise<void>) =>
        void (kind === (isPostgresInstalled ? 'postgres' : 'embedded') && it(title, test))

      it('is never carried out once the certificate that asked is revoked, and says so', async () => {
        const request = { ...swap, address: traders, amount: '0.1' }
        const id = waits(await as.gone.post('/amm/trade', request, keyed('gone')))
        expect(await show(id)).not.to.have.property('revoked')
        const follower = await follow({ url: (other ?? server).url, certsDir: first.certsDir, name: 'boss' }, { topics: 'approvals' })
        await revoke(first.certsDir, 'gone')
        await follower.hears('it is revoked', ({ data }) =>
          data.waiting.some((each: { id: number; revoked?: true }) => each.id === id && each.revoked),
        )
        await follower.close()
        await renew(first.certsDir, 'gone')
        const nonce = await nonceOf()
        expect(await show(id)).to.include({ state: 'waiting', revoked: true })
        const preview = (await as.boss.get('/approvals/preview', { id: String(id) })).body
        expect(preview.error.message).to.match(/sent with a certificate of "gone" that is revoked/)
        const renewed = createClient(server.url, first.certsDir, 'gone')
        try {
          for (const refused of [
            await approve(id),
            await approve(id, as.secondElsewhere),
            await renewed.post('/amm/trade', request, keyed('gone')),
          ]) {
            expect(outcome(refused), refused.text).to.equal('403 FORBIDDEN')
            expect(refused.body.message).to.match(/that is revoked: it is never carried out, and nothing was signed/)
          }
          expect(await nonceOf()).to.equal(nonce)
          expect(outcome(await approve(waits(await renewed.post('/amm/trade', request))))).to.equal('200')
        } finally {
          renewed.close()
        }
      })

      it('waits, shows what it would do, and is carried out once another client approves it', async () => {
        const small = await sell('0.1')
        expect(outcome(small), small.text).to.equal('200')
        const first = await sell('1', {}, 'once')
        const id = waits(first)
        expect(first.body).to.include({ errorCode: 1031, httpErrorCode: 202 })
        expect(first.body.details.expiresAt).to.be.closeTo(Date.now() + 15 * 60_000, 60_000)
        expect(waits(await sell('1', {}, 'once'))).to.equal(id)
        expect(outcome(await sell('1.1', {}, 'once'))).to.equal('422 IDEMPOTENCY_CONFLICT')

        const nonce = await nonceOf()
        const preview = await as.boss.get('/approvals/preview', { id: String(id) })
        expect(outcome(preview), preview.text).to.equal('200')
        const { effect, approval } = preview.body
        expect(approval).to.include({ id, state: 'waiting', client: 'bot', path: '/amm/trade', address: traders })
        expect(approval.request.limitPrice).to.equal(approval.effect.answer.limitPrice)
        expect(effect.gives).to.deep.include({ token: effect.gives[0].token, symbol: 'WETH', amount: '1' })
        expect(effect.gets[0].symbol).to.equal('USDC')
        expect(Number(effect.valueGiven)).to.be.above(1000)
        expect(Number(effect.maxFee)).to.be.above(0)
        expect(effect.answer).to.have.property('expectedAmount')
        expect(effect.answer).to.not.have.property('txHash')
        expect(await nonceOf()).to.equal(nonce)

        const done = await approve(id)
        expect(outcome(done), done.text).to.equal('200')
        expect(done.body).to.include({ state: 'done', decidedBy: 'boss' })
        const repeated = await sell('1', {}, 'once')
        expect(repeated.text).to.equal(JSON.stringify(done.body.answer))
        await mined(operator, repeated.body.txHash)
        expect((await approve(id)).body.answer.txHash).to.equal(repeated.body.txHash)
        const journaled = await as.bot.get('/transactions', { requestId: String(first.headers['x-request-id']) })
        expect(journaled.body.transactions).to.have.length(1)
        expect(outcome(await deny(id))).to.equal('409 IN_FLIGHT')
      })

      onAnyStore('is never approved by its own client, by whoever lacks the permission, or for a wallet that is not theirs', async () => {
        const id = waits(await sell('1'))
        for (const by of [as.bot, as.botRenewed, as.reader]) expect(outcome(await approve(id, by))).to.equal('403 FORBIDDEN')
        expect(outcome(await deny(id, as.bot))).to.equal('403 FORBIDDEN')
        expect(outcome(await approve(id, as.stranger))).to.equal('400 INCOMPLETE_PARAMS')
        expect(await show(id, as.stranger)).to.equal(undefined)
        expect(await show(id, as.reader)).to.equal(undefined)
        expect(await show(id, as.bot)).to.include({ id, state: 'waiting' })
        for (const bad of [0, 1.5, 'x', 999_999]) expect(outcome(await as.boss.post('/approvals/approve', { id: bad }))).to.match(/^400/)
        expect(outcome(await as.boss.get('/approvals', { cursor: 'x' }))).to.equal('400 INCOMPLETE_PARAMS')
      })

      onAnyStore('waits whatever it gives away: what has no price too, but nothing that takes back', async () => {
        const wallet = { ...local, address: traders }
        for (const [path, fields, status] of [
          ['/evm/approve', { ...wallet, token: 'WETH', spender: listedSpender }, 202],
          ['/evm/approve', { ...wallet, token: 'USDC', spender: listedSpender, amount: '5000' }, 202],
          ['/evm/approve', { ...wallet, token: 'USDC', spender: listedSpender, amount: '5' }, 200],
          // What takes from its caller alone.
          ['/evm/approve', { ...wallet, token: 'USDC', spender: 'uniswap' }, 200],
          ['/evm/send', { ...wallet, token: 'ETH', to: coldStore, amount: '1' }, 202],
          ['/amm/trade', { ...swap, base: 'WBTC', quote: 'DAI', amount: '0.0001', address: traders, side: 'BUY' }, undefined],
          ['/evm/send', { ...wallet, token: 'ETH', to: coldStore, amount: '0.01' }, 200],
          ['/evm/wrap', { ...wallet, amount: '2' }, 200],
          ['/evm/approve', { ...wallet, token: 'DAI', spender: 'uniswap', amount: '0' }, 200],
        ] as const) {
          const answer = await as.bot.post(path, fields)
          if (status === undefined) expect(answer.status, answer.text).to.not.equal(200)
          else expect(answer.status, `${path} ${answer.text}`).to.equal(status)
        }
      })

      onAnyStore('waits by the amount of a token, and where it gives one that is not named', async () => {
        const wallet = { ...local, address: traders }
        for (const [path, fields, status] of [
          ['/amm/trade', { ...swap, ...wallet, amount: '0.4' }, 200],
          ['/amm/trade', { ...swap, ...wallet, amount: '0.5001' }, 202],
          ['/amm/trade', { ...swap, ...wallet, base: 'ETH', amount: '0.021' }, 202],
          ['/evm/approve', { ...wallet, token: 'USDC', spender: listedSpender, amount: '1' }, 202],
          ['/evm/approve', { ...wallet, token: 'USDC', spender: 'uniswap' }, 200],
          ['/evm/wrap', { ...wallet, amount: '2' }, 200],
        ] as const) {
          const answer = await as.byToken.post(path, fields)
          expect(answer.status, `${path} ${answer.text}`).to.equal(status)
        }
        const { body } = await as.byToken.get('/limits')
        const shown = body.limits.filter(({ limit }: { limit: string }) => limit === 'approveTokensAbove')
        expect(shown).to.deep.equal([
          { limit: 'approveTokensAbove', allowed: '0.02', unit: 'ETH', chain: 'ethereum', network: 'local' },
          { limit: 'approveTokensAbove', allowed: '0.5', unit: 'WETH', chain: 'ethereum', network: 'local' },
        ])
      })

      it('is withdrawn by its own client alone, and for good', async () => {
        const id = waits(await sell('1', {}, 'withdrawn'))
        const withdraw = (by: Client, of = id) => by.post('/approvals/withdraw', { id: of })
        expect(outcome(await withdraw(as.boss))).to.equal('403 FORBIDDEN')
        expect(outcome(await withdraw(as.stranger))).to.equal('400 INCOMPLETE_PARAMS')
        const withdrawn = await withdraw(as.botRenewed)
        expect(withdrawn.body, withdrawn.text).to.include({ id, state: 'withdrawn', decidedBy: 'bot' })
        expect(outcome(await withdraw(as.bot))).to.equal('200')
        for (const answer of [await approve(id), await deny(id), await sell('1', {}, 'withdrawn')]) {
          expect(outcome(answer), answer.text).to.equal('403 APPROVAL_WITHDRAWN')
          expect(answer.body).to.deep.include({ errorCode: 1034, details: { id } })
        }
        const done = waits(await sell('0.7'))
        expect(outcome(await approve(done))).to.equal('200')
        expect(outcome(await withdraw(as.bot, done))).to.equal('409 IN_FLIGHT')
        const denied = waits(await sell('0.7'))
        await deny(denied)
        expect(outcome(await withdraw(as.bot, denied))).to.equal('403 APPROVAL_DENIED')
      })

      it('is told by events to who may see it, on every server, and counted', async () => {
        const door = { url: (other ?? server).url, certsDir: first.certsDir }
        const followers = await Promise.all(
          ['second', 'bot', 'stranger'].map(async (name) => follow({ ...door, name }, { topics: 'approvals' })),
        )
        const [bosses, bots, strangers] = followers
        if (!bosses || !bots || !strangers) throw new Error('Nobody follows.')
        const idsOf = (all: readonly { id: number }[]) => all.map((each) => each.id)
        try {
          for (const each of followers) await each.hears('nothing waits', ({ data }) => data.waiting.length === 0)
          const id = waits(await sell('1'))
          for (const each of [bosses, bots]) {
            const { data } = await each.hears('it waits', ({ data: { waiting } }) => idsOf(waiting).includes(id))
            expect(data.waiting[0]).to.include({ id, state: 'waiting', client: 'bot', path: '/amm/trade' })
          }
          expect((await scrape(operator)).text).to.match(/^sluice_approvals\{state="waiting"\} 1$/m)
          expect(outcome(await as.bot.post('/approvals/withdraw', { id }))).to.equal('200')
          const { data } = await bosses.hears('it is withdrawn', ({ data: { ended } }) => idsOf(ended).includes(id))
          expect(data.ended[0]).to.include({ id, state: 'withdrawn', decidedBy: 'bot' })
          expect(data.waiting).to.deep.equal([])
          const late = waits(await sell('1'))
          clockMs = 16 * 60_000
          await bosses.hears('it has expired', ({ data: { ended } }) =>
            ended.some((each: { id: number; state: string }) => each.id === late && each.state === 'expired'),
          )
          for (const { data: told } of strangers.told) expect(told).to.deep.equal({ waiting: [], ended: [] })
          expect((await scrape(operator)).text).to.match(/^sluice_approvals\{state="withdrawn"\} \d+$/m)
        } finally {
          await Promise.all(followers.map((each) => each.close()))
        }
      })

      it('makes one transaction where two approve at the same moment, on two servers', async () => {
        const id = waits(await sell('1.2', {}, 'race'))
        const answers = await Promise.all([approve(id), approve(id, as.secondElsewhere), approve(id), sell('1.2', {}, 'race')])
        for (const answer of answers) expect(outcome(answer), answer.text).to.match(/^200|IN_FLIGHT|PENDING/)
        const { state, requestId, answer } = await show(id)
        expect(state).to.equal('done')
        expect((await as.bot.get('/transactions', { requestId })).body.transactions).to.have.length(1)
        expect((await sell('1.2', {}, 'race')).body.txHash).to.equal(answer.txHash)
      })

      it('is denied for good', async () => {
        const id = waits(await sell('1', {}, 'denied'))
        const denied = await deny(id)
        expect(denied.body, denied.text).to.include({ state: 'denied', decidedBy: 'boss' })
        expect(outcome(await deny(id, as.second))).to.equal('200')
        for (const answer of [await approve(id), await sell('1', {}, 'denied')]) {
          expect(outcome(answer)).to.equal('403 APPROVAL_DENIED')
          expect(answer.body).to.deep.include({ errorCode: 1032, details: { id } })
        }
        expect(await show(id)).to.not.have.property('answer')
      })

      it('expires, by the clock or by the time of the store', async () => {
        const byClock = waits(await sell('1', {}, 'late'))
        clockMs = 16 * 60_000
        for (const answer of [await approve(byClock), await deny(byClock), await sell('1', {}, 'late')])
          expect(outcome(answer)).to.equal('403 APPROVAL_EXPIRED')
        clockMs = 0
        const byStore = waits(await sell('1'))
        // A clock that is set back lengthens nothing.
        clockMs = -3_600_000
        await passStoreTime(16 * 60_000)
        expect(outcome(await approve(byStore))).to.equal('403 APPROVAL_EXPIRED')
        expect((await show(byStore)).state).to.equal('expired')
      })
      const passStoreTime = async (ms: number) =>
        void (await store?.write((tx) =>
          tx
            .updateTable('store_time')
            .set((at) => ({ elapsed: at('elapsed', '+', ms) }))
            .execute(),
        ))

      it('is held by the stops and limits of the moment of its approval: it waits on under a stop, and a limit ends it', async () => {
        const id = waits(await sell('1', {}, 'stopped'))
        await operator.post('/stops', { mode: 'stop', client: 'bot' })
        expect(outcome(await approve(id))).to.equal('403 STOPPED')
        expect((await as.boss.get('/approvals/preview', { id: String(id) })).status).to.equal(200)
        expect(await show(id)).to.include({ state: 'waiting' })
        await operator.request('DELETE', '/stops?client=bot')
        const done = await approve(id)
        expect(outcome(done), done.text).to.equal('200')

        const request = { ...swap, address: traders }
        const beyond = waits(await as.limited.post('/amm/trade', { ...request, amount: '1' }))
        expect(outcome(await as.limited.post('/amm/trade', { ...request, amount: '0.01' }))).to.equal('200')
        const refused = await approve(beyond)
        expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
        expect(refused.body.details.limit).to.equal('transactionsPerHour')
        expect(await show(beyond)).to.include({ state: 'refused', decidedBy: 'boss' })
      })

      onAnyStore('is refused at once where it is over a limit, since no approval lifts one', async () => {
        const ask = (amount: string, key: string) => as.bounded.post('/amm/trade', { ...swap, address: traders, amount }, keyed(key))
        const waiting = async () => (await as.boss.get('/approvals', { state: 'waiting' })).body.approvals.length
        const before = await waiting()
        const refused = await ask('1', 'over')
        expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
        expect(refused.body.details.limit).to.equal('value.perTransaction')
        const create = ['1', '2', '3'].map((clientOrderId) => ({
          market: 'WETH-USDC',
          amount: '0.3',
          price: '4000',
          side: 'SELL',
          orderType: 'LIMIT',
          clientOrderId: `${kind}-${clientOrderId}`,
        }))
        const batch = await as.bounded.post('/clob/batchOrders', { ...local, connector: 'oasis', address: traders, create })
        expect(outcome(batch), batch.text).to.equal('403 LIMIT_EXCEEDED')
        expect(await waiting()).to.equal(before)
        const two = await as.bounded.post('/clob/batchOrders', {
          ...local,
          connector: 'oasis',
          address: traders,
          create: create.slice(0, 2),
        })
        waits(two)
        expect(await waiting()).to.equal(before + 1)
      })

      it('has for its key what refused it at its approval, on every server and after a restart, over which another waits', async () => {
        const ask = (by = as.bounded) => by.post('/amm/trade', { ...swap, address: traders, amount: '0.6' }, keyed('spent'))
        const id = waits(await ask())
        for (let count = 0; count < 6; count += 1) {
          const small = await as.bounded.post('/amm/trade', { ...swap, address: traders, amount: '0.3' })
          expect(outcome(small), small.text).to.equal('200')
        }
        const refused = await approve(id)
        expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
        const isRefused = async () => {
          const withdraw = as.bounded.post('/approvals/withdraw', { id })
          for (const answer of [
            await ask(),
            await ask(as.boundedElsewhere),
            await approve(id, as.secondElsewhere),
            await deny(id),
            await withdraw,
          ]) {
            expect(outcome(answer), answer.text).to.equal('403 LIMIT_EXCEEDED')
            expect(answer.body.details.limit, answer.text).to.equal('value.perDay')
            expect(answer.body.message, answer.text).to.match(
              /^The request \d+ was approved, and refused for good then: value.perDay of the client/,
            )
          }
          expect((await show(id)).refusal).to.include({ name: 'LIMIT_EXCEEDED', errorCode: 1029 })
        }
        await isRefused()
        const waiting = waits(await sell('1'))
        await restart()
        await isRefused()
        const done = await approve(waiting)
        expect(outcome(done), done.text).to.equal('200')
        // Without a key it shows its outcome by its id.
        expect((await show(waiting, as.bot)).answer.txHash).to.match(/^0x/)
      })

      it('is one of so many of its client at most', async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => sell('1')))
        expect(answers.map(outcome).filter((each) => each === '202 PENDING_APPROVAL')).to.have.length(4)
        const refused = answers.find(({ status }) => status === 403)
        expect(refused?.body).to.deep.include({ name: 'LIMIT_EXCEEDED', details: { limit: 'waitingApprovals', left: '0' } })
        const page = await as.boss.get('/approvals', { state: 'waiting', limit: '3' })
        expect(page.body.approvals).to.have.length(3)
        const next = await as.boss.get('/approvals', { state: 'waiting', limit: '3', cursor: page.body.nextCursor })
        expect(next.body.approvals).to.have.length(1)
      })

      // The last: it leaves another price on the chain of all.
      onOneStore('is not carried out past the price that was shown when it began to wait', async () => {
        const listed = await operator.get('/amm/pools', { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC' })
        const { pool } = listed.body.pools[0]
        const id = waits(await sell('1', { pool }, 'moved'))
        const pushed = await operator.post('/amm/trade', { ...swap, address: admins, base: 'ETH', amount: '6000', limitPrice: '1' })
        expect(outcome(pushed), pushed.text).to.equal('200')
        await mined(operator, pushed.body.txHash)
        const refused = await approve(id)
        expect(outcome(refused), refused.text).to.equal('422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
        const preview = await as.boss.get('/approvals/preview', { id: String(id) })
        expect(preview.body.error.name).to.equal('SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
        expect(waits(await sell('1', { pool }, 'moved'))).to.equal(id)
      })

      /** The only server of its store. */
      const restart = async () => {
        if (other) return
        await server.stop()
        server = await startOn(first.settings.data.dir)
        operator.close()
        operator = createClient(server.url, first.certsDir)
        for (const [name, client] of Object.entries(as) as [keyof typeof as, Client][]) {
          client.close()
          as[name] = createClient(server.url, first.certsDir, name.replace(/Renewed|Elsewhere/, ''))
        }
      }
    })
})
