import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { pythonTypes, pythonTypesText } from '../../tools/python-client.ts'
import { root } from '../docs/page.ts'
import { run } from '../docs/run.ts'
import { until } from '../transactions/site.ts'
import { startLine, type Line } from './faulty-line.ts'
import { refusalOf } from './refused-certificate.ts'
import { local, mined, sharedServer, traders, type SharedServer } from './shared-server.ts'

/** Debian's own: it has the modules that build and check. */
const python = '/usr/bin/python3'
const swap = { ...local, connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL', amount: '0.1' } as const

interface Script {
  /** The next line that it printed. @throws when it ended before */
  next(): Promise<unknown>
  /** Waits for its "ready", and lets it go on. */
  go(before: () => unknown, line?: string): Promise<void>
  goOn(line?: string): void
  /** All that it still prints. */
  rest(): Promise<readonly unknown[]>
}

describe('the Python client', function () {
  this.timeout(600_000)
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-python-'))
  const site = path.join(folder, 'site')
  const running = new Set<ChildProcess>()
  let server: SharedServer
  let line: Line

  before(async function () {
    const asks = run(python, ['-c', 'import build, mypy, pip'], { cwd: folder })
    const [isThere, why] = await asks.then(
      () => [true, ''],
      (error: unknown) => [false, String(error)],
    )
    // CI has them, and must.
    if (!isThere && !process.env['CI']) {
      console.log(`Left out: it needs python3-build, python3-pip and mypy of Debian. ${why}`)
      this.skip()
    }
    const sources = path.join(folder, 'sources')
    cpSync(path.join(root, 'clients/python'), sources, { recursive: true })
    await run(python, ['-m', 'build', '--no-isolation', '--wheel', '--outdir', folder], { cwd: sources })
    const [wheel = ''] = readdirSync(folder).filter((name) => name.endsWith('.whl'))
    await run(python, ['-m', 'pip', 'install', '--no-index', '--no-deps', '--no-compile', '--target', site, wheel], { cwd: folder })
    server = await sharedServer()
    line = await startLine(server.url)
  })
  after(() => {
    line?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL')
    if (line) line.state = 'open'
  })

  /** One case of client-cases.py. */
  function script(name: string, { url = line.url, certificate = 'client' } = {}): Script {
    const child = spawn(python, [path.join(root, 'test/http/client-cases.py'), name], {
      cwd: folder,
      env: {
        ...process.env,
        PYTHONPATH: site,
        PYTHONDONTWRITEBYTECODE: '1',
        SLUICE_URL: url,
        SLUICE_CERTS: server.settings.ssl.certsDir,
        NAME: certificate,
        ADDRESS: traders,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    running.add(child.once('close', () => running.delete(child)))
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (errors += chunk))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${name} ended: ${errors}`)
      return JSON.parse(value) as unknown
    }
    const goOn = (text = '') => void child.stdin.write(`${text}\n`)
    return {
      next,
      goOn,
      async go(before, text) {
        expect(await next()).to.equal('ready')
        await before()
        goOn(text)
      },
      async rest() {
        const all: unknown[] = []
        for (let each = await lines.next(); !each.done; each = await lines.next()) all.push(JSON.parse(each.value))
        expect(errors).to.equal('')
        return all
      },
    }
  }

  const errorOf = async (printed: Promise<unknown>) => Object(await printed)

  it('has the types of the endpoints, as node --import tsx tools/python-client.ts writes them', () => {
    expect(readFileSync(pythonTypes, 'utf8')).to.equal(pythonTypesText())
  })

  it('stays out of the npm package and of the image', async () => {
    const [packed] = JSON.parse(await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root }))
    const files: string[] = packed.files.map((each: { path: string }) => each.path)
    expect(files).to.include('examples/client.py')
    expect(files.filter((file) => file.startsWith('clients'))).to.deep.equal([])
    const taken = readFileSync(path.join(root, '.dockerignore'), 'utf8').split('\n')
    expect(taken[1]).to.equal('*')
    expect(taken.filter((each) => each.startsWith('!clients'))).to.deep.equal([])
  })

  it('passes mypy --strict as it is installed, and so do the examples', async () => {
    await run(python, ['-m', 'mypy', '--strict', '--cache-dir', path.join(folder, 'mypy'), '-p', 'sluice_client'], {
      cwd: site,
    })
    for (const example of ['client.py', 'market_maker.py']) await mypy(path.join(root, 'examples', example))
  })

  it('has types that refuse wrong fields, floats and unknown paths', async () => {
    const price = '"chain": "a", "network": "b", "connector": "c", "base": "d", "quote": "e", "side": "SELL"'
    const cases = [
      [`client.get("/amm/price", {${price}, "amount": "1"})`, undefined],
      [`client.get("/amm/price", {${price}, "amount": 0.1})`, 'No overload'],
      [`client.get("/amm/price", {${price}, "amounts": ["1", "2"]})`, undefined],
      [`client.get("/amm/price", {${price}, "amounts": [0.1]})`, 'No overload'],
      [`client.post("/amm/trade", {${price}, "address": "f"})`, 'No overload'],
      [`client.get("/amm/price", {${price}, "amount": "1", "amuont": "1"})`, 'No overload'],
      [`client.post("/amm/trade", {${price}, "amount": "1"})`, 'No overload'],
      [`client.get("/amm/prize", {${price}, "amount": "1"})`, 'No overload'],
      [`client.get("/amm/price", {${price}, "amount": "1"})["prize"]`, 'has no key "prize"'],
    ] as const
    for (const [index, [request, said]] of cases.entries()) {
      // A file each: mypy takes one of the same size and second for unchanged.
      const file = path.join(folder, `typed_${index}.py`)
      writeFileSync(file, `from sluice_client import SluiceClient\n\nclient = SluiceClient()\n${request}\n`)
      const error = await mypy(file).then(
        () => undefined,
        (thrown: unknown) => String(thrown),
      )
      if (said === undefined) expect(error, request).to.equal(undefined)
      else expect(error, request).to.include(said)
    }
  })

  const mypy = (file: string) =>
    run(python, ['-m', 'mypy', '--strict', '--cache-dir', path.join(folder, 'mypy'), file], { cwd: folder, env: { MYPYPATH: site } })

  it('quotes and trades, and waits for the fill', async () => {
    expect(await script('trade').rest()).to.deep.equal([['CONFIRMED', '0.100000000000000000', true]])
  })

  it('sends lists', async () => {
    expect(await script('lists').rest()).to.deep.equal([['ETH', 'USDC']])
  })

  it('gives each of many threads its own answers', async () => {
    expect(await script('threads').rest()).to.deep.equal([[]])
  })

  it('raises what the server refuses, by its name and code, with details', async () => {
    const [unknown, missing] = (await script('refused').rest()).map(Object)
    expect(unknown).to.include({ type: 'RefusedError', name: 'TOKEN_NOT_SUPPORTED', code: 1006, status: 404 })
    expect(unknown.request_id).to.be.a('string')
    expect(missing).to.include({ name: 'INCOMPLETE_PARAMS', status: 400 })
    expect(missing.details.map(({ field }: { field: string }) => field)).to.include('connector')
  })

  it('refuses floats before anything is sent', async () => {
    const before = line.connections
    expect(await script('floats').rest()).to.deep.equal([
      ['TypeError', 'amount: 0.30000000000000004 is a float. Give amounts and prices as str or Decimal, such as "0.30000000000000004".'],
      ['TypeError', 'amount: 1.0 is a float. Give amounts and prices as str or Decimal, such as "1.0".'],
      ['TypeError', 'amount[0]: 0.5 is a float. Give amounts and prices as str or Decimal, such as "0.5".'],
      ['ValueError', 'amount: NaN is no amount.'],
    ])
    expect(line.connections).to.equal(before)
  })

  it('trades once where the answer is lost', async () => {
    const key = `lost-python-${Math.random()}`
    const trading = script('lost')
    await trading.go(() => void (line.state = 'no answers'), key)
    const signed = await untilJournaled(key)
    line.state = 'open'
    line.cut()
    expect(await trading.rest()).to.deep.equal([[signed, signed, 'CONFIRMED']])
    const { body } = await server.client.get('/transactions', { idempotencyKey: key })
    expect(body.transactions).to.have.length(1)
  })

  it('names the key of a request without an answer, and goes on with it', async () => {
    const trading = script('nobody')
    await trading.go(() => {
      line.state = 'closed'
      line.cut()
    })
    const error = await errorOf(trading.next())
    expect(error).to.include({ type: 'NoAnswerError', name: 'NO_ANSWER' })
    expect(error.message).to.match(
      /did not answer POST \/amm\/trade within 0\.5 s: .*send the same request again with the idempotency key [\w-]{36}/,
    )
    expect(error.message).to.include(error.idempotency_key)
    await trading.go(() => void (line.state = 'open'))
    expect(await trading.rest()).to.deep.equal(['CONFIRMED'])
  })

  it('waits for a transaction while the server is away', async () => {
    const waiting = script('away')
    await waiting.go(() => {
      line.state = 'closed'
      line.cut()
    })
    await sleep(300)
    line.state = 'open'
    expect(Object((await waiting.rest())[0])[1]).to.equal('CONFIRMED')
  })

  it('says that a transaction is unknown in place of waiting for it', async () => {
    expect(await errorOf(script('unknown').next())).to.include({ type: 'RefusedError', name: 'UNKNOWN_TRANSACTION', code: 1020 })
  })

  it('follows events, and after a cut goes on after the last one', async () => {
    const following = script('events')
    expect(Object(await following.next())[0]).to.equal('ready')
    const { body } = await server.client.post('/amm/trade', { ...swap, address: traders })
    const seen: [string, string, number?, string?][] = []
    const untilState = async (wanted: string) => {
      for (;;) {
        const event = Object(await following.next())
        seen.push(event)
        if (event[2] === body.nonce && event[3] === wanted) return
      }
    }
    await untilState('QUEUED')
    line.state = 'closed'
    line.cut()
    await mined(server.client, body.txHash)
    line.state = 'open'
    await untilState('CONFIRMED')
    const ids = seen.filter(([topic]) => topic === 'transactions').map(([, id]) => Number(id))
    expect(ids).to.deep.equal([...new Set(ids)].toSorted((a, b) => a - b))
    expect(seen.filter(([topic]) => topic === 'ready')).to.have.length(1)
  })

  it('gives all transactions, and after a cut goes on after the last one', async () => {
    for (let index = 0; index < 4; index += 1) {
      const { body } = await server.client.post('/amm/trade', { ...swap, address: traders })
      await mined(server.client, body.txHash)
    }
    const [[count, isSame, cutsLeft, limited], error] = (await script('exported').rest()).map(Object)
    expect(count).to.be.at.least(4)
    expect([isSame, cutsLeft, limited]).to.deep.equal([true, null, 1])
    expect(error).to.include({ type: 'RefusedError', name: 'INCOMPLETE_PARAMS' })
  })

  it('ends the events of another thread when it is closed', async () => {
    const following = script('closed')
    const printed = [await following.next(), await following.next()]
    expect(printed).to.have.members(['ready', 'ready'])
    following.goOn()
    expect(await following.rest()).to.deep.equal(['ended'])
  })

  it('raises what a stream is refused for', async () => {
    expect(await errorOf(script('refused_events').next())).to.include({ type: 'RefusedError', name: 'UNKNOWN_CHAIN_ERROR' })
  })

  it('says that its certificate is refused, and does not try again', async () => {
    const { certsDir } = server.settings.ssl
    await newClient(certsDir, 'python-leaver')
    const [asking, following] = [
      script('revoked', { certificate: 'python-leaver' }),
      script('revoked_events', { certificate: 'python-leaver' }),
    ]
    expect(await following.next()).to.equal('ready')
    let before = 0
    await asking.go(async () => {
      const refusal = refusalOf(server.url, certsDir, 'python-leaver')
      await revoke(certsDir, 'python-leaver')
      await refusal.heard()
      line.cut()
      before = line.connections
    })
    for (const each of [asking, following]) expect(await errorOf(each.next())).to.include({ type: 'CertificateError', name: 'CERTIFICATE' })
    // Four of each.
    expect(line.connections - before).to.be.at.most(8)
  })

  it('sends nothing to a server of another interface', async () => {
    const pem = (name: string) => readFileSync(path.join(server.settings.ssl.certsDir, name))
    const asked: string[] = []
    const other = https.createServer({ cert: pem('server_cert.pem'), key: pem('server_key.pem') }, (request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(404, { 'sluice-api-version': '2.0.0' }).end('{}')
    })
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
    try {
      const url = `https://localhost:${(other.address() as AddressInfo).port}`
      expect(await errorOf(script('other_version', { url }).next())).to.include({
        type: 'InterfaceVersionError',
        name: 'INTERFACE_VERSION',
      })
      expect(asked).to.deep.equal(['GET /'])
    } finally {
      other.close()
      other.closeAllConnections()
    }
  })

  /** @returns the hash under the key, by another connection */
  async function untilJournaled(key: string): Promise<string> {
    let signed: unknown
    await until('it is journaled', async () => {
      const { body } = await server.client.get('/transactions', { idempotencyKey: key })
      signed = body.transactions[0]?.txHash
      return typeof signed === 'string'
    })
    return String(signed)
  }
})
