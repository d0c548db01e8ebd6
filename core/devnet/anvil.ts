import { DevnetError } from './devnet-error.ts'
import { anvilBinary } from './anvil-binary.ts'
import { isPortFree } from './is-port-free.ts'
import { rpcTo, type Rpc } from './rpc-to.ts'
import { endWatched, spawnWatched, type WatchedProcess } from './spawn-watched.ts'

export const host = '127.0.0.1'
export const chainId = 31337
const startTimeoutMs = 15_000
// Anvil keeps some hundred states in memory and writes every older one to disk, without bound unless told.
const statesOnDisk = 100

export interface Anvil {
  rpcUrl: string
  rpc: Rpc
  /** Settles when anvil has ended, asked or not. */
  ended: Promise<void>
  stop(): Promise<void>
}

/** Runs anvil on a port (0: any free one) until `stop` or the end of this process. */
export async function startAnvil(port: number, flags: readonly string[] = []): Promise<Anvil> {
  await refuseTakenPort(port)
  const child = spawnWatched(anvilBinary().path, [
    '--host',
    host,
    '--port',
    String(port),
    '--chain-id',
    String(chainId),
    '--no-cors',
    '--max-persisted-states',
    String(statesOnDisk),
    ...flags,
  ])
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  try {
    const rpcUrl = `http://${host}:${await listeningPort(child, port)}`
    const rpc = rpcTo(rpcUrl)
    // From here on it says nothing: a line for every request would cost more than the request.
    await rpc('anvil_setLoggingEnabled', false)
    return { rpcUrl, rpc, ended, stop: () => endWatched(child) }
  } catch (cause) {
    await endWatched(child)
    throw cause
  }
}

/** Says so when another program has the port: it is asked to move, never moved. */
export async function refuseTakenPort(port: number): Promise<void> {
  if (port === 0 || (await isPortFree(host, port))) return
  const cure =
    'Stop that program, or set devnet.port in conf/server.yml (environment: SLUICE_DEVNET_PORT) to another port; 0 takes any free one.'
  throw new DevnetError(`The devnet cannot start: another program listens on port ${port} of ${host}. ${cure}`)
}

/** Anvil prints its port once it listens. To ask the port instead could get another program's answer. */
async function listeningPort(child: WatchedProcess, wanted: number): Promise<number> {
  const streams = [child.stdout, child.stderr]
  const spent = new AbortController()
  let said = ''
  try {
    return await new Promise<number>((resolve, reject) => {
      const fail = (why: string): void =>
        reject(
          new DevnetError(
            `The devnet cannot start: anvil on port ${wanted} (devnet.port, SLUICE_DEVNET_PORT) ${why}. ${said.trim().slice(-500)}`,
          ),
        )
      const hear = (chunk: Buffer): void => {
        said += chunk.toString()
        const port = /^Listening on \S+:(\d+)\s/m.exec(said)?.[1]
        if (port !== undefined) resolve(Number(port))
      }
      for (const stream of streams) stream.on('data', hear)
      child.once('error', reject)
      child.once('exit', (code) => fail(`ended with ${code ?? 'a signal'}`))
      const limit = setTimeout(() => fail(`did not listen within ${startTimeoutMs / 1000} seconds`), startTimeoutMs)
      spent.signal.addEventListener('abort', () => clearTimeout(limit))
    })
  } finally {
    spent.abort()
    for (const stream of streams) stream.removeAllListeners('data').resume()
  }
}
