import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import type { KeyPairSigner } from '@solana/kit'
import { stringify } from 'yaml'
import { createClient, type Answer, type Client } from '../../../testkit/index.ts'
import type { SolanaChainConfig } from '../../../kits/solana/index.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import type { Mint } from '../../../tools/solana-node/mints.ts'
import type { Solana as Cluster } from '../../../tools/solana-node/start-solana.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const passphrase = 'correct horse battery'

/** What outlives a server: configuration, certificates, journal, and a real key in its keystore. */
export interface Home {
  wallet: KeyPairSigner
  folder: string
  remove(): Promise<void>
}

/**
 * A home for servers of Solana alone, on that node.
 * @param mints the tokens that its list has
 */
export async function makeHome(
  cluster: Cluster,
  settings: SolanaChainConfig = {},
  mints: readonly Mint[] = Object.values(cluster.mints),
): Promise<Home> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-solana-'))
  const seed = crypto.getRandomValues(new Uint8Array(32))
  const wallet = await createKeyPairSignerFromPrivateKeyBytes(seed)
  const off = { enabled: false }
  const local = { enabled: true, required: true, rpcUrls: [cluster.url], pollingSeconds: 0.1, requestTimeoutSeconds: 10, ...settings }
  const tokens = mints.map(({ address, symbol, decimals }) => ({
    chainId: 104,
    address,
    symbol,
    name: symbol,
    decimals,
  }))
  const files = {
    'conf/server.yml': stringify({
      server: { port: 0 },
      devnet: { enabled: false },
      plugins: { folders: [path.join(root, 'plugins/solana')] },
      log: { level: 'warn' },
    }),
    'conf/ssl.yml': stringify({ certsDir: 'certs' }),
    'conf/clients.yml': stringify({ clients: { client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' } } }),
    'conf/chains/solana.yml': stringify({ mainnet: off, testnet: off, devnet: off, local }),
    'conf/tokens/solana/local.json': JSON.stringify({ name: 'Local', tokens }),
  }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
    await writeFile(path.join(folder, name), content)
  }
  await mkdir(path.join(folder, 'data'), { mode: 0o700 })
  await writeFile(path.join(folder, 'passphrase'), `${passphrase}\n`, { mode: 0o600 })
  const privateKey = `0x${Buffer.from(seed).toString('hex')}`
  await saveKey({ dataDir: path.join(folder, 'data'), chain: 'solana', curve: 'ed25519', privateKey, passphrase, scryptN: 4096 })
  return { wallet, folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

export interface RealServer {
  client: Client
  /** Without asking it. */
  kill(): Promise<void>
  stop(): Promise<void>
  printed(): string
}

/** The server as an operator starts it, in a process of its own; ready when it settles. */
export async function startRealServer({ folder }: Home): Promise<RealServer> {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [path.join(root, 'bin/launch.mjs'), 'start'], {
    cwd: folder,
    env: { PATH, HOME, NO_COLOR: '1', SLUICE_WALLET_PASSPHRASE_FILE: path.join(folder, 'passphrase') },
    stdio: ['ignore', 'pipe', 'pipe'],
    // It starts others: all of them are ended together.
    detached: true,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const url = await listening(child, () => text)
  const client = createClient(url, path.join(folder, 'certs'))
  for (const end = performance.now() + 120_000; (await client.get('/health/ready')).status !== 200;) {
    if (performance.now() > end) throw new Error(`It did not become ready: ${text}`)
    await new Promise((done) => setTimeout(done, 50))
  }
  const gone = once(child, 'exit')
  return {
    client,
    printed: () => text,
    async kill() {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
      await gone
      client.close()
    },
    async stop() {
      child.kill('SIGTERM')
      await gone
      client.close()
    },
  }
}

async function listening(child: ChildProcess, text: () => string): Promise<string> {
  const end = performance.now() + 120_000
  while (performance.now() < end && child.exitCode === null) {
    const [url] = /https:\/\/localhost:\d+/.exec(text()) ?? []
    if (url !== undefined) return url
    await new Promise((done) => setTimeout(done, 50))
  }
  child.kill('SIGKILL')
  throw new Error(`It did not start: ${text()}`)
}

export const outcome = ({ status, body }: Answer): string => `${status} ${body?.name ?? ''}`.trim()

/** What `/network/poll` says of it, until it says what is wanted. */
export async function pollUntil(
  { client }: RealServer,
  txHash: string,
  wanted: Record<string, unknown>,
  meanwhile = () => {},
): Promise<Answer['body']> {
  let last: Answer['body']
  // A server that was killed may hold its wallets for some seconds more, and this machine may have more to do.
  for (const end = performance.now() + 100_000; performance.now() < end; await sleep(50)) {
    ;({ body: last } = await client.get('/network/poll', { chain: 'solana', network: 'local', txHash }))
    meanwhile()
    if (Object.entries(wanted).every(([key, value]) => last[key] === value)) return last
  }
  throw new Error(`${txHash} has not ${JSON.stringify(wanted)}, it is ${JSON.stringify(last)}`)
}
