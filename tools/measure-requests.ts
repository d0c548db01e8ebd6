// Which files run while one request is answered: V8 counts the calls of every function from the request's first byte to its answer.
// The server runs from its sources, since the bundle has few files. Imported by its process (`--import`), this is the part that counts; imported
// by `npm run measure`, the part that asks.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { pathToFileURL } from 'node:url'
import type { Answer } from '../testkit/client.ts'

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
  // Only here: the server's process, which counts, imports this file too.
  const [{ freePort }, { createClient }] = await Promise.all([import('../test/free-port.ts'), import('../testkit/client.ts')])
  const [port, devnetPort] = [await freePort(), await freePort()]
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), '--import', import.meta.url, 'core/main.ts', 'start'], {
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
    const client = createClient(`https://localhost:${port}`, path.join(home, 'certs'))
    const ok = async (asked: Promise<Answer>): Promise<void> => {
      const { status, text } = await asked
      if (status !== 200) throw new Error(text)
    }
    const price = (amount: string, headers?: Record<string, string>) =>
      ok(client.get('/amm/price', { ...venue, ...pair, amount }, { ...(headers && { headers }) }))
    const trade = (amount: string, headers?: Record<string, string>) =>
      ok(client.post('/amm/trade', { ...venue, ...pair, address: wallet, amount }, { ...(headers && { headers }) }))
    await ok(
      client.post('/evm/approve', {
        chain: venue.chain,
        network: venue.network,
        address: wallet,
        spender: 'uniswap',
        token: 'WETH',
        amount: '100',
      }),
    )
    await sleep(4_000)
    for (const amount of ['1.1', '1.2', '1.3']) await price(amount)
    await trade('1')
    await sleep(3_000)
    // The least of several: what runs beside a request is counted with it, and a block may come meanwhile.
    for (const count of [1, 2, 3]) {
      await price(`1.7${count}`, { [header]: 'price' })
      await trade(`1.3${count}`, { [header]: 'trade', 'idempotency-key': `measure-${count}` })
      await sleep(1_200)
    }
    await until(`${header} trade`)
    client.close()
  } finally {
    child.kill('SIGTERM')
    await new Promise((done) => child.once('exit', done))
    rmSync(home, { recursive: true, force: true })
  }
  const counted = (name: string) =>
    Math.min(...[...printed.matchAll(new RegExp(`${header} ${name} (\\d+)`, 'g'))].map(([, files]) => Number(files)))
  return [
    ['files of one price, new amount', counted('price')],
    ['files of one trade', counted('trade')],
  ]
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
