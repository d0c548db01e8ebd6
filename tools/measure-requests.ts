// Which files run while one request is answered: V8 counts the calls of every function from the request's first byte to its answer.
// Imported by the launcher's process (`--import`), it is the part that counts; imported by `npm run measure`, the part that asks.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import { Session } from 'node:inspector/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { pathToFileURL } from 'node:url'

const header = 'x-count-files'
if (process.env.SLUICE_COUNT_FILES && process.argv[2] === 'start' && isMainThread) await countOnRequest()

/** Answers to requests with the header carry it back with the number of files whose functions were called. */
async function countOnRequest() {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  const own = pathToFileURL(path.join(process.cwd(), '/')).href
  const emit = https.Server.prototype.emit
  https.Server.prototype.emit = function (this: https.Server, ...args: unknown[]): boolean {
    const [event, request, response] = args
    if (event !== 'request' || !(request instanceof IncomingMessage) || !(response instanceof ServerResponse))
      return Boolean(Reflect.apply(emit, this, args))
    const name = request.headers[header]
    if (name === undefined) return Boolean(Reflect.apply(emit, this, args))
    const end = response.end
    response.end = (...parts: unknown[]) => {
      void filesCalled(session, own).then((count) => {
        console.log(`${header} ${String(name)} ${count}`)
        Reflect.apply(end, response, parts)
      })
      return response
    }
    void session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false }).then(() => Reflect.apply(emit, this, args))
    return true
  }
}

async function filesCalled(session: Session, own: string): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  return result.filter(
    ({ url, functions }) =>
      url.startsWith(own) &&
      !url.includes('/node_modules/') &&
      !url.includes('/tools/') &&
      functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  ).length
}

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const venue = { chain: 'ethereum', network: 'local', connector: 'uniswap' }
const pair = { base: 'WETH', quote: 'USDC', side: 'SELL' }

/** Starts a server with its devnet, warms it up, and asks for one price and one trade. */
export async function filesOfRequests(root: string): Promise<[string, number][]> {
  const home = mkdtempSync(path.join(tmpdir(), 'sluice-measure-'))
  const [port, devnetPort] = [await freePort(), await freePort()]
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), '--import', import.meta.url, 'bin/launch.mjs', 'start'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      SLUICE_COUNT_FILES: '1',
      SLUICE_SERVER_PORT: String(port),
      SLUICE_DEVNET_PORT: String(devnetPort),
      SLUICE_DATA_DIR: path.join(home, 'data'),
      SLUICE_SSL_CERTS_DIR: path.join(home, 'certs'),
    },
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk))
  const until = async (text: string): Promise<void> => {
    for (const end = Date.now() + 120_000; !printed.includes(text); await sleep(100))
      if (Date.now() > end || child.exitCode !== null) throw new Error(`The server did not print "${text}":\n${printed}`)
  }
  try {
    await until('is ready')
    const pem = (name: string) => readFileSync(path.join(home, 'certs', `${name}.pem`))
    const agent = new https.Agent({ keepAlive: true, ca: pem('ca_cert'), cert: pem('client_cert'), key: pem('client_key') })
    const call = (method: string, target: string, body?: object, headers?: Record<string, string>) =>
      request({ port, method, path: target, agent, ...(headers && { headers }) }, body)
    const price = (amount: string, headers?: Record<string, string>) =>
      call('GET', `/amm/price?${new URLSearchParams({ ...venue, ...pair, amount }).toString()}`, undefined, headers)
    const trade = (amount: string, headers?: Record<string, string>) =>
      call('POST', '/amm/trade', { ...venue, ...pair, address: wallet, amount }, headers)
    await call('POST', '/evm/approve', {
      chain: venue.chain,
      network: venue.network,
      address: wallet,
      spender: 'uniswap',
      token: 'WETH',
      amount: '100',
    })
    await sleep(4_000)
    for (const amount of ['1.1', '1.2', '1.3']) await price(amount)
    await trade('1')
    await sleep(3_000)
    await price('1.77', { [header]: 'price' })
    await trade('1.3', { [header]: 'trade', 'idempotency-key': 'measure' })
    await until(`${header} trade`)
    agent.destroy()
  } finally {
    child.kill('SIGTERM')
    await new Promise((done) => child.once('exit', done))
    rmSync(home, { recursive: true, force: true })
  }
  const counted = (name: string) => Number(new RegExp(`${header} ${name} (\\d+)`).exec(printed)?.[1])
  return [
    ['files of one price, new amount', counted('price')],
    ['files of one trade', counted('trade')],
  ]
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })

interface Call {
  port: number
  method: string
  path: string
  agent: https.Agent
  headers?: Record<string, string>
}

function request({ headers, ...call }: Call, body: object | undefined): Promise<string> {
  return new Promise((done, fail) => {
    const allHeaders = { 'content-type': 'application/json', ...headers }
    const sent = https.request({ host: 'localhost', ...call, headers: allHeaders }, (response) => {
      let text = ''
      response
        .on('data', (chunk: Buffer) => (text += chunk))
        .on('end', () => (response.statusCode === 200 ? done(text) : fail(new Error(text))))
    })
    sent.on('error', fail).end(body && JSON.stringify(body))
  })
}
