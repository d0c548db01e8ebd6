// A home of the signer service, and the service as the process that an operator starts.
import { spawn, execFileSync, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Wallet } from 'ethers'
import { saveKey } from '../../../core/keys/keystore.ts'
import { beginCount } from '../../../core/wallet/limits/count-file.ts'
import { connectSigner } from '../../../core/wallet/service/client.ts'
import type { Signer } from '../../../core/wallet/signer.ts'
import { programArgs } from '../../program.ts'
import { exampleFiles } from '../example-files.ts'
import { allowedSpender, stranger } from '../example-policy.ts'
import { until } from '../processes.ts'

export const passphrase = 'correct horse'
export const [limited, free] = [new Wallet(`0x${'a1b2c3d4'.repeat(8)}`), new Wallet(`0x${'b1b2c3d4'.repeat(8)}`)] as const
const silent = { info() {}, warn() {}, error() {} }

/** Of whom the files are, and who the process runs as. */
export interface User {
  readonly uid: number
  /** Of the process: the servers'. */
  readonly gid: number
}

export interface SignerHome {
  readonly folder: string
  readonly dataDir: string
  readonly socket: string
  start(): Promise<SignerProgram>
  remove(): void
}

export interface SignerProgram {
  readonly processId: number
  said(): string
  kill(): Promise<void>
  /** In order. @returns its exit code */
  stop(): Promise<number | null>
}

/**
 * With a wallet that has limits (1 ETH a day) and one that has none, both of which may send to `stranger`.
 * @param devnet with the wallets of the devnet, too
 */
export async function signerHome(user?: User, devnet = false): Promise<SignerHome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-signer-'))
  const dataDir = path.join(folder, 'data')
  const socketFolder = path.join(folder, 'run')
  const socket = path.join(socketFolder, 'socket')
  for (const { privateKey } of [limited, free]) await saveKey({ dataDir, chain: 'ethereum', privateKey, passphrase, scryptN: 1024 })
  await beginCount(dataDir)
  const limits = { 'ethereum/local': { native: { perDay: '1' }, gasCost: { perDay: '2' } } }
  const sendTo = Object.fromEntries([limited, free].map(({ address }) => [address, [stranger]]))
  await exampleFiles(folder, {
    passphrase,
    conf: {
      'limits.yml': { wallets: { [limited.address]: limits } },
      'server.yml': { wallet: { allowedSpenders: [allowedSpender] }, devnet: { enabled: devnet } },
      ...(devnet && { 'chains/ethereum.yml': { local: { feeCap: 300 } } }),
      'clients.yml': { clients: { bot: { permissions: ['read', 'send'], wallets: [limited.address, free.address], sendTo } } },
    },
  })
  writeFileSync(path.join(folder, 'passphrase'), passphrase, { mode: 0o600 })
  mkdirSync(socketFolder, { mode: 0o750 })
  chmodSync(folder, 0o755)
  if (user) {
    execFileSync('chown', ['-R', `${user.uid}:${user.uid}`, folder])
    chownSync(socketFolder, user.uid, user.gid)
  }
  return {
    folder,
    dataDir,
    socket,
    start: () => start({ folder, socket, user }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** `sluice` with these arguments, as a user. */
export async function runAs(
  args: readonly string[],
  { user, cwd, env }: { user?: User | undefined; cwd: string; env?: NodeJS.ProcessEnv },
) {
  const program = await programArgs(new URL('../../../core/main.ts', import.meta.url))
  return spawnAs([process.execPath, ...program, ...args], { user, cwd, env })
}

export function spawnAs(
  command: readonly string[],
  { user, cwd, env = {} }: { user?: User | undefined; cwd: string; env?: NodeJS.ProcessEnv | undefined },
): ChildProcess {
  const as = user ? ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--no-new-privs'] : []
  const [file = '', ...rest] = [...as, ...command]
  return spawn(file, rest, { cwd, env: { PATH: process.env['PATH'], BUILT_SLUICE: process.env['BUILT_SLUICE'], ...env }, stdio: 'pipe' })
}

/** All that a process said, and its exit code. */
export async function outcomeOf(child: ChildProcess): Promise<{ readonly code: number | null; readonly said: string }> {
  const said = collect(child)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said: said() }
}

function collect({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return () => text
}

async function start({ folder, socket, user }: { folder: string; socket: string; user: User | undefined }): Promise<SignerProgram> {
  const env = { SLUICE_WALLET_PASSPHRASE_FILE: path.join(folder, 'passphrase') }
  const child = await runAs(['--home', folder, 'signer', '--socket', socket], { user, cwd: folder, env })
  const said = collect(child)
  const ended = once(child, 'close')
  await until(() => said().includes('Signs for the servers') || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(said())
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
    return child.exitCode
  }
  return {
    processId: child.pid ?? 0,
    said,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  }
}

/** As a server does. */
export const connected = (socket: string, waitMs = 40_000): Promise<Signer> => connectSigner({ socket, log: silent, waitMs })
