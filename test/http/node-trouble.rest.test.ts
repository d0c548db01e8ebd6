import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { endpoints, errorsOf, type Endpoint } from '../../core/api/index.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { follow, type Door } from '../events/client.ts'
import { outcome } from './shared-server.ts'
import { nodeErrorRows } from '../fixtures/node-errors.ts'
import { faults, healthy, saying, startFaultyProxy, type Fault, type FaultyProxy } from './trouble/faulty-proxy.ts'
import { heldQuestions, prepareHeld } from './trouble/held.ts'
import { admins, everything, mayAnswer, order, proxied, questions, wallet } from './trouble/questions.ts'
import { figuresOf, playRandomRows } from './trouble/random-rows.ts'
import { readTransactions, untold } from './trouble/untold.ts'

const program = fileURLToPath(new URL('trouble/proxied-server.ts', import.meta.url))
const secrets = ['us3r-hidden', 'p4ss-hidden', 'k3y-hidden-0123456789', 'qu3ry-hidden']
const [user = '', password = '', key = '', apiKey = ''] = secrets
secrets.push(Buffer.from(`${user}:${password}`).toString('base64'))

/** Requests of each endpoint while the node answers with random rows of the table. Ten thousand of each take hours. */
const requestsOfEach = Number(process.env.SLUICE_NODE_ERRORS_REQUESTS ?? 3)
const isLong = process.env.SLUICE_NODE_ERRORS_REQUESTS !== undefined
/** At once. */
const requestsTogether = Number(process.env.SLUICE_NODE_ERRORS_TOGETHER ?? 12)
const seed = Number(process.env.SLUICE_NODE_ERRORS_SEED ?? 36)
/** A pattern: only the questions whose names match. */
const chosen = new RegExp(process.env.SLUICE_NODE_ERRORS_QUESTIONS ?? '')

/** Mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c: the same numbers for the same seed. */
function numbersFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

describe('a failing node', () => {
  let proxy: FaultyProxy
  let child: ChildProcess
  let client: Client
  let door: Door
  let node: Rpc
  let log = ''
  let shownSecrets: readonly string[] = []
  const bodies: string[] = []

  before(async function () {
    // The server compiles and tries four plugins.
    this.timeout(600_000)
    proxy = await startFaultyProxy()
    const url = `http://${user}:${password}@127.0.0.1:${proxy.port}/v3/${key}?apikey=${apiKey}`
    child = spawn(process.execPath, ['--import', 'tsx/esm', program, url], { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (log.length > 20_000_000) searchLog()
    })
    if (!child.stdout) throw new Error('The server has no output.')
    const said = await Promise.race([
      once(createInterface(child.stdout), 'line'),
      once(child, 'exit').then(() => {
        throw new Error(log)
      }),
    ])
    const { url: serverUrl, certsDir, node: nodeUrl } = JSON.parse(String(said[0])) as Record<string, string>
    if (serverUrl === undefined || certsDir === undefined || nodeUrl === undefined) throw new Error('The server did not say where it is.')
    proxy.target = nodeUrl
    node = rpcTo(nodeUrl)
    client = createClient(serverUrl, certsDir)
    door = { url: serverUrl, certsDir }
    await healed()
  })
  after(async () => {
    client?.close()
    child?.stdin?.end()
    const ended = once(child, 'exit')
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await ended
    clearTimeout(late)
    await proxy.stop()
  })

  let wasPutAside = false
  /** A long run writes more than a text can hold. */
  function searchLog(): void {
    shownSecrets = [...shownSecrets, ...secrets.filter((secret) => log.includes(secret))]
    wasPutAside ||= log.includes('RPC node is put aside')
    log = log.slice(-1_000)
  }

  /** Without a restart. */
  async function healed(): Promise<void> {
    await proxy.become(healthy)
    const until = Date.now() + 180_000
    for (;;) {
      // A price may be had from memory, whatever the node does.
      const answers = [await client.get('/network/balances', { ...wallet, tokenSymbols: ['ETH'] }), await client.get('/amm/price', order)]
      if (answers.every(({ status }) => status === 200)) return
      if (Date.now() > until) throw new Error(`The server did not recover: ${answers.map(({ text }) => text).join()}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  const maxNonce = async () => Number(await node('eth_getTransactionCount', admins, 'pending'))

  for (const [what, fault] of Object.entries(faults(`${key} ${apiKey} http://${user}:${password}@host/${key}`))) {
    it(`that ${what} causes a clear error at every endpoint, and the server recovers`, async () => {
      const before = await maxNonce()
      await proxy.become(fault)
      const answers = await Promise.all([...questions, ...mayAnswer].map(async ([name, ask]) => ({ name, answer: await ask(client) })))
      for (const { name, answer } of answers) {
        const endpoint = endpoints.find((each) => each.name === name) as Endpoint
        if (answer.status !== 200 || !mayAnswer.some(([each]) => each === name)) {
          expect(errorsOf(endpoint), `${name} ${answer.text}`).to.include(answer.body.name)
          const expected =
            what.includes('limit') || what.includes('says so')
              ? ['RATE_LIMIT']
              : what === 'does not answer'
                ? ['TIMEOUT', 'NETWORK']
                : ['NETWORK']
          expect(answer.body.name, `${name} ${answer.text}`).to.be.oneOf(expected)
          if (answer.body.name !== 'TIMEOUT') expect(Number(answer.headers['retry-after']), name).to.be.at.least(1)
        }
        bodies.push(answer.text)
      }
      const status = await client.get('/network/status')
      const entry = status.body.find(({ chain }: { chain: string }) => chain === 'proxied')
      expect(entry, status.text).to.include({ currentBlockNumber: -1, currentBlockSeconds: -1 })
      expect(status.body.find(({ chain }: { chain: string }) => chain === 'ethereum').currentBlockNumber).to.be.above(0)
      expect((await client.get('/health/ready')).status).to.equal(200)
      bodies.push(status.text)
      await healed()
      expect(await maxNonce()).to.equal(before)
    })
  }

  it(`that answers with random rows of the error table (SLUICE_NODE_ERRORS_SEED=${seed}) is no refusal by a contract, and makes no transaction`, async function () {
    this.timeout(isLong ? 0 : 300_000)
    const held = await prepareHeld(client)
    const firstBlock = Number(await node('eth_blockNumber')) + 1
    // What was sent waits for up to a second.
    await node('evm_setIntervalMining', 1)
    const { told, deviations, hashes, seconds } = await playRandomRows({
      known: held.txHashes,
      client,
      questions: [...everything, ...heldQuestions(held, node)].filter(([name]) => chosen.test(name)),
      requestsOfEach,
      minutes: Number(process.env.SLUICE_NODE_ERRORS_MINUTES ?? 60),
      together: requestsTogether,
      random: numbersFrom(seed),
      become: (fault) => proxy.become(fault),
      healed,
      say: isLong ? (line) => console.log(line) : () => {},
    })
    if (isLong) console.log(`${figuresOf(told)}\n${told.size} questions in ${Math.round(seconds)} s, ${hashes.size} transactions`)
    expect(deviations.join('\n')).to.equal('')
    const all = [...told.values()].flatMap((counts) => [...counts.keys()])
    expect(all).to.include('503 NETWORK').and.to.include('200')
    const run = await readTransactions(client, node, firstBlock)
    expect(untold(run, hashes).join('\n')).to.equal('')
    // A comparison that sees nothing would be equal, too.
    const replacements = new Set(run.journal.map(({ replacedBy }) => replacedBy))
    const isReplacement = (hash: string) =>
      run.journal.some(({ attempts }) => attempts.some(({ txHash }) => txHash === hash && replacements.has(hash)))
    // What replaces a transaction that callers know is known by that.
    const mined = run.mined.find(({ hash }) => hashes.has(hash) && !isReplacement(hash))?.hash
    expect(mined, 'a transaction').to.be.a('string')
    const forgotten = run.journal.find(({ attempts }) => attempts.some(({ txHash }) => txHash === mined))
    const without = new Set([...hashes].filter((hash) => !forgotten?.attempts.some(({ txHash }) => txHash === hash)))
    expect(untold(run, without)).to.have.length(1)
    expect(untold({ ...run, journal: run.journal.filter((entry) => entry !== forgotten) }, hashes)).to.have.length(1)
  })

  it('passes on what the chain says of a transaction, in every form of the error table', async function () {
    this.timeout(300_000)
    for (const row of nodeErrorRows.filter(({ is, to }) => is === 'verdict' && to === undefined)) {
      await proxy.become(saying((method) => (method === 'eth_estimateGas' ? row : undefined)))
      const answer = await client.post('/evm/wrap', { ...wallet, amount: '0.001' })
      expect(outcome(answer), `${row.message} ${answer.text}`).to.be.oneOf(['422 TRADE_FAILED', '422 OUT_OF_GAS'])
      if (row.reason !== undefined) expect(answer.body.details, row.message).to.deep.equal({ reason: row.reason })
    }
    await healed()
  })

  describe('that answers a broadcast after the request has ended', () => {
    const late: Fault = async (exchange) => {
      const text = await exchange.answer()
      if (!exchange.methods.includes('eth_sendRawTransaction')) await healthy({ ...exchange, answer: async () => text })
    }
    const trade = (headers: Record<string, string> = {}) => client.post('/amm/trade', { ...order, address: admins }, { headers })
    /** Blocks may come each second only. */
    async function statusOf(txHash: string): Promise<unknown> {
      for (const until = Date.now() + 180_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
        const { txStatus } = (await client.get('/network/poll', { ...proxied, txHash })).body
        if (txStatus === 1 || Date.now() > until) return txStatus
      }
    }

    it('leaves the hash in the answer, and the transaction gets mined', async () => {
      const before = await maxNonce()
      await proxy.become(late)
      const told = await trade()
      expect(outcome(told)).to.equal('504 TIMEOUT')
      expect(told.body.details, told.text).to.have.property('txHash')
      await healed()
      expect(await statusOf(told.body.details.txHash)).to.equal(1)
      expect(await maxNonce()).to.equal(before + 1)
    })

    it('makes one trade with one answer for a key: the journaled one', async () => {
      const before = await maxNonce()
      await proxy.become(late)
      const first = await trade({ 'idempotency-key': 'late' })
      expect(outcome(first), first.text).to.equal('200')
      await healed()
      const again = await trade({ 'idempotency-key': 'late' })
      expect(again.text).to.equal(first.text)
      expect(await statusOf(first.body.txHash)).to.equal(1)
      expect(await maxNonce()).to.equal(before + 1)
    })
  })

  it('makes followed prices stale, which are sent again when it is back', async () => {
    const follower = await follow(door, { topics: 'price', ...order })
    let known = 0
    const next = async (what: string, is: 'price' | 'stale') => {
      const { data } = await follower.hears(what, (told) => follower.told.indexOf(told) >= known && told.data[is] !== undefined)
      known = follower.told.length
      return data
    }
    try {
      const { price, base, quote, amount } = await next('a price', 'price')
      for (const what of ['is away', 'does not answer']) {
        await proxy.become(faults('')[what] ?? healthy)
        const { timestamp, ...stale } = await next(`that the node ${what}`, 'stale')
        expect(stale).to.deep.equal({ ...order, asked: 'ETH:USDC:SELL:0.01', base, quote, amount, stale: true })
        expect(timestamp).to.be.closeTo(Date.now(), 60_000)
        await healed()
        expect(await next('that it is back', 'price')).to.include({ price, source: 'memory' })
      }
    } finally {
      await follower.close()
    }
  })

  it('shows no secret of a URL in bodies or logs', async () => {
    const pages = await Promise.all(
      ['/network/status', '/network/chain_config?chain=proxied', '/metrics', '/plugins', '/openapi.json', '/health/ready'].map((each) =>
        client.get(each),
      ),
    )
    searchLog()
    expect(shownSecrets).to.deep.equal([])
    const shown = [...bodies, ...pages.map(({ text }) => text)].join('\n')
    expect(shown).to.contain(`127.0.0.1:${proxy.port}`)
    for (const secret of secrets) expect(shown).not.to.contain(secret)
    expect(wasPutAside).to.equal(true)
  })
})
