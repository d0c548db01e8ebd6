import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { StartError } from '../config/problems.ts'
import { isObject } from '../base/json.ts'
import { devnetRoot, version } from '../base/layout.ts'

export const host = '127.0.0.1'
export const chainId = 31337
const startTimeoutMs = 15_000
// The states of some 1,500 blocks are in memory. Older ones would be written to the home directory, some MB for each block, and stay there after its end.
const noStatesOnDisk = ['--max-persisted-states', '0']

export const toHex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`

export interface Anvil {
  rpcUrl: string
  rpc: Rpc
  /** Settles when anvil has ended, by `stop` or by itself. */
  ended: Promise<void>
  stop(): Promise<void>
}

/**
 * Runs anvil on a port (0: any free one) until `stop` or the end of this process.
 * @param flags more of them
 */
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
    ...noStatesOnDisk,
    ...flags,
  ])
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  try {
    const rpcUrl = `http://${host}:${await listeningPort(child, port)}`
    const rpc = rpcTo(rpcUrl)
    // Its log is switched off: a line for every request would cost more than the request.
    await rpc('anvil_setLoggingEnabled', false)
    return { rpcUrl, rpc, ended, stop: () => endWatched(child) }
  } catch (cause) {
    await endWatched(child)
    throw cause
  }
}

/** Refuses a port that another program has: that program is never stopped. */
export async function refuseTakenPort(port: number): Promise<void> {
  if (port === 0 || (await isPortFree(host, port))) return
  const remedy =
    'Stop that program, or set devnet.port in conf/server.yml (environment: SLUICE_DEVNET_PORT) to another port; 0 takes any free one.'
  throw new DevnetError(`The devnet cannot start: another program listens on port ${port} of ${host}. ${remedy}`)
}

/** Anvil prints its port once it listens. Polling the port could reach another program. */
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

/** Why the devnet cannot start. The message tells the operator what to do. */
export class DevnetError extends StartError {
  override readonly name: string = 'DevnetError'
}

/** The wallets that trade on the devnet: the first three accounts of anvil's well-known mnemonic. */
export const tradingWallets: readonly string[] = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
]

export interface AnvilBinary {
  path: string
  version: string
}

// Node's name of the processor → that of the packages.
const packageArch: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The binary of anvil that npm installed for this machine. */
export function anvilBinary(): AnvilBinary {
  const arch = packageArch[process.arch]
  // The watchdog is a script of the POSIX shell.
  if (!arch || process.platform === 'win32') throw missing('There is no devnet for this system')
  const parts = installedDevnet()
  try {
    // From the package that depends on it, since npm need not put the binary's package at the top.
    const anvil = createRequire(createRequire(parts).resolve('@foundry-rs/anvil/package.json'))
    const platform = `@foundry-rs/anvil-${process.platform}-${arch}`
    const manifest: unknown = anvil(`${platform}/package.json`)
    return { path: anvil.resolve(`${platform}/bin/anvil`), version: versionOf(manifest) }
  } catch (cause) {
    throw missing('The devnet needs anvil, which is not installed', cause)
  }
}

/** The folder of the devnet's package. @throws DevnetError where it is missing, or of another version, whose parts need not fit */
export function installedDevnet(): URL {
  const folder = devnetRoot()
  const remedy = `run \`npm install ./sluice-devnet-${version}.tgz\`, or start with --no-devnet.`
  if (folder === undefined) throw new DevnetError(`The devnet is a package of its own, which is not installed: ${remedy}`)
  const manifest: unknown = createRequire(folder)('./package.json')
  const found = versionOf(manifest)
  if (found === version) return folder
  throw new DevnetError(`The devnet's package is version ${found} and Sluice is ${version}, which do not go together: ${remedy}`)
}

function missing(what: string, cause?: unknown): DevnetError {
  const system = `${process.platform}-${process.arch}`
  const remedy = 'run `npm install --include=dev --include=optional`, or do without the devnet: devnet.enabled: false in conf/server.yml'
  return new DevnetError(`${what} (${system}): ${remedy} (environment: SLUICE_DEVNET_ENABLED=false).`, { cause })
}

function versionOf(manifest: unknown): string {
  if (isObject(manifest) && 'version' in manifest && typeof manifest.version === 'string') return manifest.version
  throw new Error('The package of anvil has no version.')
}

export type Rpc = (method: string, ...params: readonly unknown[]) => Promise<unknown>

const rpcTimeoutMs = 10_000

/** Calls a JSON-RPC node. @throws Error with the node's error */
export function rpcTo(url: string, timeoutMs = rpcTimeoutMs): Rpc {
  return async (method, ...params) => {
    const answer = await askNode(url, method, params, timeoutMs)
    if ('result' in answer) return answer['result']
    throw new Error(`${method}: ${JSON.stringify(answer).slice(0, 500)}`)
  }
}

/** The answer of a JSON-RPC node, with its result or its error. */
export async function askNode(
  url: string,
  method: string,
  params: readonly unknown[],
  timeoutMs: number,
): Promise<Record<string, unknown>> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, signal: AbortSignal.timeout(timeoutMs) }
    const sent = request(url, options, resolve).on('error', reject)
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  })
  const answer: unknown = await json(response)
  return isObject(answer) ? answer : { error: answer }
}

export type WatchedProcess = ChildProcessByStdio<Writable, Readable, Readable>

// A program outlives a parent that is killed. So a shell runs between them and waits for the end of its standard input, which the system
// closes however the parent ends. `read` never gets a line; descriptor 3 is the parent's pipe, because background processes of a shell lose
// their standard input. The second `wait` follows a signal during the first.
const watchdog = `
exec 3<&0
"$@" </dev/null 3<&- & program=$!
{ read -r never <&3; kill "$program"; } >/dev/null 2>&1 & guard=$!
exec 3<&-
trap 'kill "$program" 2>/dev/null' TERM INT HUP
wait "$program"; code=$?
wait "$program" 2>/dev/null
kill "$guard" 2>/dev/null
exit "$code"
`

/** Without the other variables of the server, which may hold keys of nodes. */
function environment(): NodeJS.ProcessEnv {
  // The last one names a folder, for the simulator of Solana.
  const { PATH, HOME, TMPDIR, SLUICE_SOLANA_PROGRAMS } = process.env
  return { PATH, HOME, TMPDIR, SLUICE_SOLANA_PROGRAMS }
}

/**
 * Runs a program that ends with this process, however that ends, SIGKILL included. It has a process group of its own, so that Ctrl-C at the
 * terminal reaches it only through this process.
 */
export function spawnWatched(program: string, args: readonly string[]): WatchedProcess {
  return spawn('/bin/sh', ['-c', watchdog, 'sh', program, ...args], { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: environment() })
}

/** Ends the program and waits for its end; kills it when that takes too long. */
export async function endWatched(child: WatchedProcess, graceMs = 3000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const group = -child.pid
  const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  child.stdin.end()
  const force = setTimeout(() => process.kill(group, 'SIGKILL'), graceMs)
  await gone
  clearTimeout(force)
}

/** Whether a server could listen there now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  } finally {
    server.close()
  }
}
