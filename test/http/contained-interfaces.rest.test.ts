import { expect } from 'chai'
import path from 'node:path'
import { endpointsForPeople } from '../../core/plugins/interface-rights.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, oneChain, swap, traders } from './shared-server.ts'

const fixtures = path.join(import.meta.dirname, '..', 'fixtures', 'plugins')
const folders = ['interfaces', 'hostile-interfaces', 'once-interfaces'].map((name) => path.join(fixtures, name))
const pairPrices = path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices')

const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  reader: { permissions: ['read'], wallets: [] },
  approver: { permissions: ['read', 'trade', 'admin', 'stop', 'resume', 'approve'], wallets: 'all' },
}

describe('interfaces of third parties in processes of their own', function () {
  this.timeout(300_000)
  let server: TestServer
  const clients = new Map<string, Client>()
  /** A client of an interface, the same one each time. */
  const to = (name: string, certificate = 'client'): Client => {
    const url = server.kernel.interfaceUrls[name]
    if (url === undefined) throw new Error(`${name} does not listen`)
    const key = `${name} ${certificate}`
    const client = clients.get(key) ?? createClient(url, server.certsDir, certificate)
    clients.set(key, client)
    return client
  }
  const entryOf = async (name: string) => (await server.client.get('/plugins')).body.find((each: { name: string }) => each.name === name)
  const nonce = async (): Promise<number> => (await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce

  before(async () => {
    server = await startServer({
      plugins: [...folders, pairPrices],
      // Networks outside would make it no sandbox, and these plugins part of the server.
      settings: { ...oneChain.settings, 'server.requestTimeoutSeconds': 15, 'limits.pluginStallSeconds': 2 },
      conf: {
        'clients.yml': { clients: listed },
        'interfaces/pair-prices.yml': { port: 0 },
        'interfaces/hostile.yml': { port: 0 },
        'interfaces/mixing.yml': { port: 0, endpoints: ['Approvals'] },
        'interfaces/keyed.yml': { port: 0 },
        'interfaces/once-desk.yml': { port: 0 },
        'interfaces/unruly.yml': { showErrors: true },
      },
    })
    for (const name of ['reader', 'approver']) await newClient(server.certsDir, name)
  })
  // Later tests block the event loop for longer than this server bears.
  after(async () => {
    for (const client of clients.values()) client.close()
    await server?.stop()
  })

  it('listen where the operator says alone, whatever their defaults have', async () => {
    expect(await entryOf('unruly')).to.deep.include({ kind: 'interface', state: 'loaded', tier: 'contained' })
    expect(await entryOf('once-desk')).to.deep.include({ kind: 'interface', state: 'loaded', tier: 'contained' })
    expect(server.kernel.interfaceUrls).to.have.all.keys('pair-prices', 'hostile', 'keyed', 'mixing', 'once-desk')
  })

  it('answer by the endpoints of the server, as those in the server do', async () => {
    expect(await entryOf('pair-prices')).to.deep.include({ kind: 'interface', state: 'loaded', tier: 'contained', host: { deaths: 0 } })
    const desk = to('pair-prices')
    const { body } = await server.client.get('/amm/price', { ...swap, connector: 'any', amount: '0.1' })
    const answer = await desk.get('/price/WETH-USDC', { amount: '0.1' })
    expect([answer.status, answer.body], answer.text).to.deep.equal([200, { pair: 'WETH-USDC', px: body.price }])
    const wrong = await desk.get('/price/WETH')
    expect([wrong.status, wrong.body]).to.deep.equal([400, { oops: 'INCOMPLETE_PARAMS' }])
    const unknown = await desk.get('/price/WETH-NOTHING')
    expect([unknown.status, unknown.body]).to.deep.equal([404, { oops: 'TOKEN_NOT_SUPPORTED' }])
    const nowhere = await desk.get('/nowhere')
    expect([nowhere.status, nowhere.body]).to.deep.equal([404, { oops: 'INCOMPLETE_PARAMS' }])
    const { body: described } = await desk.get('/openapi.json')
    expect(Object.keys(described.paths)).to.deep.equal(['/price/{pair}', '/wrap'])
  })

  it('make one transaction for one key, and none for a caller that may not', async () => {
    const before = await nonce()
    const wrap = { id: 'one', wallet: admins, amount: '0.01' }
    const first = await to('pair-prices').post('/wrap', wrap)
    const again = await to('pair-prices').post('/wrap', wrap)
    expect([first.status, again.body], first.text).to.deep.equal([200, first.body])
    expect((await to('pair-prices', 'reader').post('/wrap', { ...wrap, id: 'r' })).status).to.equal(403)
    expect(await nonce()).to.equal(before + 1)
  })

  it('are not ended by a body that is nested deep', async () => {
    const note: unknown = JSON.parse(`${'['.repeat(110)}${']'.repeat(110)}`)
    const { status } = await to('pair-prices').post('/wrap', { id: 'deep', note })
    expect(status).to.equal(400)
    expect(await entryOf('pair-prices')).to.deep.include({ host: { deaths: 0 } })
    expect((await to('pair-prices').get('/price/WETH-USDC')).status).to.equal(200)
  })

  describe('one that is hostile', () => {
    for (const [name, status, oops] of [
      ['/throws', 500, 'UNKNOWN_ERROR'],
      ['/status', 503, 'NETWORK'],
      ['/huge', 500, 'UNKNOWN_ERROR'],
      ['/quotes', 500, 'UNKNOWN_ERROR'],
      ['/shape', 500, 'UNKNOWN_ERROR'],
      ['/no-endpoint', 500, 'UNKNOWN_ERROR'],
      ['/fetches', 500, 'UNKNOWN_ERROR'],
      ['/hangs', 504, 'TIMEOUT'],
      ['/calls-without-end', 429, 'RATE_LIMIT'],
    ] as const)
      it(`answers ${status} by itself to ${name}, and goes on`, async () => {
        const hostile = to('hostile')
        const answer = await hostile.get(name)
        expect([answer.status, answer.body.oops], answer.text).to.deep.equal([status, oops])
        expect((await hostile.get('/ok')).body).to.deep.equal({ ok: true })
        expect(await entryOf('hostile')).to.deep.include({ host: { deaths: 0 } })
      })

    it('makes no metrics of its own by the details of its errors', async () => {
      for (const name of ['/long-limit', '/other-limit', '/other-limit']) expect((await to('hostile').get(name)).status).to.equal(403)
      const lines = (await server.client.get('/metrics')).text.split('\n').filter((line) => line.startsWith('sluice_limit_refusals_total{'))
      expect(lines.map((line) => /limit="(.*?)"/.exec(line)?.[1])).to.deep.equal(['unknown', 'other'])
    })

    it('shows an error as the server does where its own way is no JSON', async () => {
      const { status, body } = await to('hostile').get('/bigint-in-error')
      expect([status, body.name]).to.deep.equal([422, 'PRICE_FAILED'])
    })

    it('changes no prototype of the server by the keys of its answer', async () => {
      expect((await to('hostile').get('/prototype')).status).to.equal(200)
      expect(Reflect.get({}, 'polluted')).to.equal(undefined)
    })

    it('does nothing that its caller may not, and shows that as an error whatever it says', async () => {
      const answer = await to('hostile', 'reader').post('/not-allowed', { wallet: `0x${'1'.repeat(40)}`, amount: 1 })
      expect([answer.status, answer.body.name], answer.text).to.deep.equal([403, 'FORBIDDEN'])
    })

    it('cannot act for a caller once the request is answered', async () => {
      const hostile = to('hostile')
      expect((await hostile.get('/keeps')).status).to.equal(200)
      expect((await to('hostile', 'reader').get('/acts-later')).status).to.equal(403)
    })

    it('may call many endpoints at once: some wait', async () => {
      expect((await to('hostile').get('/calls-at-once')).body).to.deep.equal({ calls: 200 })
    })

    it('goes on where many clients ask for much at once, as an honest one would', async () => {
      const hostile = to('hostile')
      const all = async (count: number, name: string) => {
        const answers = await Promise.all(Array.from({ length: count }, async () => hostile.get(name)))
        return new Set(answers.map(({ status }) => status))
      }
      expect(await all(8, '/long')).to.deep.equal(new Set([200]))
      expect(await all(40, '/hundred-calls')).to.deep.equal(new Set([200]))
      expect(await entryOf('hostile')).to.deep.include({ host: { deaths: 0 } })
    })

    for (const name of ['/dies', '/loops'])
      it(`is started again after ${name}, and hurts nobody else meanwhile`, async () => {
        const { deaths } = (await entryOf('hostile')).host
        const ended = to('hostile').get(name)
        expect((await to('pair-prices').get('/price/WETH-USDC')).status).to.equal(200)
        expect((await server.client.get('/')).status).to.equal(200)
        expect((await ended).status).to.be.oneOf([503, 504])
        const hostile = to('hostile')
        let last = await hostile.get('/ok')
        for (const end = Date.now() + 180_000; last.status !== 200 && Date.now() < end;) {
          // A request that came before the process was ended runs into its deadline.
          expect(last.status, last.text).to.be.oneOf([503, 504])
          await new Promise((resolve) => setTimeout(resolve, 20))
          last = await hostile.get('/ok')
        }
        expect(last.status).to.equal(200)
        expect((await entryOf('hostile')).host.deaths).to.equal(deaths + 1)
      })

    it('tells that a transaction may be signed where its process ends after it has asked for one', async () => {
      const before = await nonce()
      const { status, body } = await to('hostile').post('/wraps-and-dies', { wallet: admins, amount: '0.01' })
      expect([status, body.name], body.message).to.deep.equal([504, 'TIMEOUT'])
      expect(await nonce()).to.equal(before + 1)
    })
  })

  describe('one that uses the request of one caller while it answers another', () => {
    const wrap = { ...local, address: admins, amount: '0.01' }
    let names = 0
    /** A request that stays open, of a caller who is somebody else than who sends `use`. */
    async function opened(method: 'GET' | 'POST', sent: object = {}, sender = to('mixing')) {
      const name = `open-${(names += 1)}`
      const ended = (method === 'GET' ? sender.get('/keep', { name, ...sent }) : sender.post('/keep', { name, ...sent })).catch(
        () => undefined,
      )
      while (!(await to('mixing', 'reader').get('/kept', { name })).body.isOpen) await new Promise((resolve) => setTimeout(resolve, 10))
      return {
        use: (endpoint: string, fields: object, key?: string) =>
          to('mixing', 'reader').post('/use', { name, endpoint, fields: JSON.stringify(fields), ...(key !== undefined && { key }) }),
        async end() {
          await to('mixing', 'reader').post('/release', { name })
          return ended
        },
      }
    }
    const oops = ({ status, body }: Answer): string => `${status} ${body.oops}`

    it('signs nothing by a request that reads', async () => {
      const before = await nonce()
      const open = await opened('GET', { wallet: admins, amount: '0.01' })
      expect(oops(await open.use('EVMWrap', wrap))).to.equal('403 FORBIDDEN')
      expect((await open.use('EVMNonce', { ...local, address: admins })).status).to.equal(200)
      await open.end()
      expect(await nonce()).to.equal(before)
    })

    it('signs nothing that its caller did not send', async () => {
      const before = await nonce()
      const open = await opened('POST', { pair: 'WETH-USDC', wallet: admins.toLowerCase(), amount: 0.01 })
      for (const [fields, field] of [
        [{ ...wrap, address: traders }, 'address'],
        [{ ...wrap, amount: '0.011' }, 'amount'],
        [{ ...wrap, nonce: before + 1 }, 'nonce'],
        [{ ...wrap, maxFeePerGas: '3' }, 'maxFeePerGas'],
      ] as const) {
        const refused = await open.use('EVMWrap', fields)
        expect([oops(refused), refused.body.details?.field], refused.text).to.deep.equal(['403 FORBIDDEN', field])
      }
      const sold = { ...local, connector: 'uniswap', base: 'WBTC', quote: 'USDC', amount: '0.01', side: 'SELL', address: admins }
      expect((await open.use('AMMTrade', sold)).body.details?.field).to.equal('base')
      await open.end()
      expect(await nonce()).to.equal(before)
    })

    it('signs one transaction of an endpoint for a request, in the words of its caller', async () => {
      const before = await nonce()
      const open = await opened('POST', { wallet: admins, amount: '0.010', note: { list: ['1e1', true, null] } })
      expect((await open.use('EVMWrap', wrap)).status).to.equal(200)
      expect(oops(await open.use('EVMWrap', wrap))).to.equal('403 FORBIDDEN')
      expect(oops(await open.use('EVMWrap', { ...wrap, amount: '10' }))).to.equal('403 FORBIDDEN')
      await open.end()
      expect(await nonce()).to.equal(before + 1)
    })

    it('signs for the next request of a caller what an endpoint refused before, and a retry with its key once', async () => {
      const before = await nonce()
      const open = await opened('POST', { wallet: admins, amounts: ['1000000000', '0.01'] })
      expect(oops(await open.use('EVMWrap', { ...wrap, amount: '1000000000' }))).to.equal('422 INSUFFICIENT_BALANCE')
      const [first, again] = [await open.use('EVMWrap', wrap, 'retried'), await open.use('EVMWrap', wrap, 'retried')]
      expect([first.status, again.body], first.text).to.deep.equal([200, first.body])
      await open.end()
      expect(await nonce()).to.equal(before + 1)
    })

    it('begins nothing for a caller that is gone, and reads nothing', async () => {
      const before = await nonce()
      const leaving = createClient(server.interfaceUrls['mixing'] ?? '', server.certsDir)
      const open = await opened('POST', { wallet: admins, amount: '0.01' }, leaving)
      expect((await open.use('EVMNonce', { ...local, address: admins })).status).to.equal(200)
      leaving.close()
      let answer: Answer
      do answer = await open.use('EVMNonce', { ...local, address: admins })
      while (answer.status === 200)
      expect(oops(answer), answer.text).to.equal('504 TIMEOUT')
      expect(oops(await open.use('EVMWrap', wrap))).to.equal('504 TIMEOUT')
      await open.end()
      expect(await nonce()).to.equal(before)
    })

    it('reaches nothing that is for people, whatever its caller may do', async () => {
      const open = await opened('POST', { id: 1, plugin: 'hostile' }, to('mixing', 'approver'))
      const governing = endpointsForPeople.filter((name) => name !== 'Approvals')
      for (const name of governing) {
        const refused = await open.use(name, { id: 1, plugin: 'hostile' })
        expect(oops(refused), name).to.equal('403 FORBIDDEN')
        expect(refused.body.message).to.contain(
          `may not call ${name}, which is for people: list it in \`endpoints\` of conf/interfaces/mixing.yml`,
        )
      }
      expect(governing).to.include.members(['ApprovalsApprove', 'PluginsLift', 'StopsDelete', 'StopsPost'])
      await open.end()
    })

    it('reaches what the operator lists', async () => {
      const open = await opened('POST', {}, to('mixing', 'approver'))
      expect((await open.use('Approvals', {})).status).to.equal(200)
      await open.end()
    })

    it('uses up no Idempotency-Key of its caller, but one that came with the request', async () => {
      const [open, before] = [await opened('POST', { wallet: admins, amount: '0.01', id: 'sent-key' }), await nonce()]
      expect((await open.use('EVMWrap', wrap, 'own-key')).status).to.equal(200)
      await open.end()
      const keyed = (key: string, amount: string) =>
        server.client.post('/evm/wrap', { ...wrap, amount }, { headers: { 'Idempotency-Key': key } })
      expect((await keyed('own-key', '0.02')).status).to.equal(200)
      expect(await nonce()).to.equal(before + 2)
      const again = await opened('POST', { wallet: admins, amount: '0.01', id: 'sent-key' })
      const signed = await again.use('EVMWrap', wrap, 'sent-key')
      await again.end()
      expect((await keyed('sent-key', '0.01')).body.txHash).to.equal(signed.body.answer.txHash)
      expect(await nonce()).to.equal(before + 3)
    })
  })

  it('have the outcome of an equal request whose key was stored without the name of the interface', async () => {
    const wrap = { ...local, address: admins, amount: '0.03' }
    const stored = await server.client.post('/evm/wrap', wrap, { headers: { 'Idempotency-Key': 'former-0' } })
    const before = await nonce()
    const asked = (amount: string) => to('keyed').post('/wrap', { wallet: admins, amount, number: '0' })
    expect((await asked('0.03')).body, stored.text).to.deep.equal({ hash: stored.body.txHash })
    expect(await nonce()).to.equal(before)
    expect((await asked('0.04')).status).to.equal(200)
    expect((await asked('0.04')).status).to.equal(200)
    expect(await nonce()).to.equal(before + 1)
  })

  describe('what one does once', () => {
    let amounts = 0

    /** Another one for each test, as requests with one amount are equal. */
    const newRequest = () => ({ wallet: admins, amount: `0.000${(amounts += 1)}` })
    /** Errors are shown as the server shows them while the process is away. */
    const outcome = ({ status, body }: Answer): string => `${status} ${body.oops ?? body.name}`
    const newest = async () =>
      (await server.client.get('/transactions', { ...local, address: admins, kind: 'wrap', limit: '1' })).body.transactions[0]
    /** Asks until the process is there again. */
    async function again(request: object): Promise<Answer> {
      for (const end = Date.now() + 180_000; ;) {
        const answer = await to('once-desk').post('/wrap', request)
        if (!outcome(answer).endsWith(' SERVICE_UNINITIALIZED') || Date.now() > end) return answer
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    /** Sends a request, and cuts its connection before the answer, once it was signed: until the server knows that it is gone. */
    async function cut(request: object): Promise<void> {
      const before = await nonce()
      const leaving = createClient(server.interfaceUrls['once-desk'] ?? '', server.certsDir)
      const lost = leaving.post('/wrap', { ...request, waitMs: 4_000 }).then(
        () => 'answered',
        () => 'cut',
      )
      while ((await nonce()) === before) await new Promise((resolve) => setTimeout(resolve, 10))
      leaving.close()
      expect(await lost).to.equal('cut')
      while ((await newest()).delivery?.state !== 'lost') await new Promise((resolve) => setTimeout(resolve, 10))
    }

    it('is done again for an equal request after a delivered answer', async () => {
      const [request, before] = [newRequest(), await nonce()]
      const [first, second] = [await to('once-desk').post('/wrap', request), await to('once-desk').post('/wrap', request)]
      expect([first.status, second.status], first.text).to.deep.equal([200, 200])
      expect(first.body.prepared).not.to.equal(second.body.prepared)
      expect(await nonce()).to.equal(before + 2)
    })

    it('is given to an equal request where the answer was lost', async () => {
      const [request, before] = [newRequest(), await nonce()]
      await cut(request)
      const collected = await again(request)
      expect(collected.status, collected.text).to.equal(200)
      expect(await nonce()).to.equal(before + 1)
      const next = await to('once-desk').post('/wrap', request)
      expect(next.body.hash).not.to.equal(collected.body.hash)
    })

    it('is the same transaction where the process was killed after it was signed', async () => {
      const [request, before] = [newRequest(), await nonce()]
      const killed = await to('once-desk').post('/wrap', { ...request, dies: 'after the call' })
      expect(outcome(killed), killed.text).to.equal('504 TIMEOUT')
      expect(await nonce()).to.equal(before + 1)
      const collected = await again(request)
      expect(collected.status, collected.text).to.equal(200)
      expect(await nonce()).to.equal(before + 1)
      expect((await newest()).txHash).to.equal(collected.body.hash)
    })

    it('counts as unknown where the process was killed with the key, and is done by the equal request', async () => {
      const [request, before] = [newRequest(), await nonce()]
      const killed = await to('once-desk').post('/wrap', { ...request, dies: 'before the call' })
      expect(outcome(killed), killed.text).to.equal('504 TIMEOUT')
      expect(await nonce()).to.equal(before)
      expect((await again(request)).status).to.equal(200)
      expect(await nonce()).to.equal(before + 1)
    })

    it('is nothing where the process was killed before it had the key', async () => {
      const [request, before] = [newRequest(), await nonce()]
      const killed = await to('once-desk').post('/wrap', { ...request, dies: 'in prepare' })
      expect(outcome(killed), killed.text).to.equal('503 SERVICE_UNINITIALIZED')
      expect((await again(request)).status).to.equal(200)
      expect(await nonce()).to.equal(before + 1)
    })

    it('is refused as the endpoint refuses it', async () => {
      const refused = await to('once-desk').post('/wrap', { wallet: admins, amount: '1000000000' })
      expect(outcome(refused), refused.text).to.equal('422 INSUFFICIENT_BALANCE')
    })

    it('is one thing of a request', async () => {
      const before = await nonce()
      const answer = await to('once-desk').post('/wrap', { ...newRequest(), twice: true })
      expect(outcome(answer), answer.text).to.equal('500 UNKNOWN_ERROR')
      expect(await nonce()).to.equal(before + 1)
    })
  })
})
