import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { endWatched, spawnWatched, type WatchedProcess } from '../../core/devnet/anvil.ts'
import { freePort } from '../free-port.ts'

const run = promisify(execFile)

/** A PostgreSQL for one test file, with its own port and folder. It always ends with this process. */
export interface TestPostgres {
  /** With superuser and password. */
  readonly url: string
  readonly password: string
  /** Makes an empty database, or a copy of one that nobody is connected to; returns its URL. */
  database(copied?: string): Promise<string>
  /** Runs SQL as superuser, outside of any store. */
  query(sql: string, url?: string): Promise<Record<string, unknown>[]>
  /** Sends SIGKILL to all its processes. */
  kill(): Promise<void>
  /** Starts it again with the same data and port; ends it first if it runs. */
  restart(): Promise<void>
  /** Sends SIGSTOP to all its processes: open and new connections hang. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

const binaries = findBinaries()

/** Tests that need it are skipped where it is not installed. */
export const isPostgresInstalled = binaries !== undefined

/** @param settings of postgresql.conf */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<TestPostgres> {
  if (binaries === undefined) throw new Error('PostgreSQL is not installed: neither in PATH nor in /usr/lib/postgresql.')
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-postgres-'))
  const data = path.join(folder, 'data')
  const password = randomBytes(12).toString('hex')
  const passwordFile = path.join(folder, 'password')
  await writeFile(passwordFile, password)
  const unprivileged = await givenAway(folder, passwordFile)
  const as = (program: string, args: readonly string[]) => [...unprivileged, path.join(binaries, program), ...args] as [string, ...string[]]

  const [init, ...initArgs] = as('initdb', [
    `--pgdata=${data}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    '--no-sync',
  ])
  await run(init, initArgs, { cwd: folder })

  const port = await freePort()
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const [program, ...args] = as('postgres', [
    '-D',
    data,
    ...Object.entries({
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: folder,
      shared_buffers: '16MB',
      ...settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ])
  let server = await launched(program, args, url)
  let databases = 0
  let strategy: string | undefined
  /**
   * From version 15 on a database is copied by the log, which writes all of it twice and takes four times as much of the processor. As files, the
   * only way before that, it takes longer where the disk is waited for.
   */
  const strategyOf = async () => {
    const [{ server_version_num: number } = {}] = settings['fsync'] === 'off' ? await query(url, 'show server_version_num') : []
    return Number(number ?? 0) >= 150_000 ? ' strategy file_copy' : ''
  }

  const signalAll = async (signal: NodeJS.Signals) => {
    // The one that starts others first, so that none comes after they were counted.
    for (const pid of await processesUnder(server)) signalTo(pid, signal)
    for (const pid of await processesUnder(server)) signalTo(pid, signal)
  }
  const kill = async () => {
    await signalAll('SIGKILL')
    await endWatched(server)
  }

  return {
    url,
    password,
    async database(copied) {
      databases += 1
      const template = copied === undefined ? '' : ` template ${path.basename(new URL(copied).pathname)}`
      await query(url, `create database test${databases}${template}${(strategy ??= await strategyOf())}`)
      return url.replace(/postgres$/, `test${databases}`)
    },
    query: (sql, at = url) => query(at, sql),
    kill,
    async restart() {
      await kill()
      server = await launched(program, args, url)
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 20_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows }: { rows: Record<string, unknown>[] } = await client.query(sql)
    return rows
  } finally {
    await client.end()
  }
}

async function launched(program: string, args: readonly string[], url: string): Promise<WatchedProcess> {
  const server = spawnWatched(program, args)
  let said = ''
  server.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)))
  server.stdout.resume()
  for (let tries = 0; tries < 600 && server.exitCode === null; tries += 1) {
    try {
      await query(url, 'select 1')
      return server
    } catch {
      await sleep(25)
    }
  }
  await endWatched(server)
  throw new Error(`PostgreSQL did not start: ${said}`)
}

/** The watchdog's shell is left out, so that it stays and ends what remains. */
async function processesUnder({ pid: shell }: WatchedProcess): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,comm='])
  const all = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, name = '']) => ({ pid: Number(pid), parent: Number(parent), name }))
  const masters = all.filter(({ parent, name }) => parent === shell && name.startsWith('postgres')).map(({ pid }) => pid)
  return [...masters, ...all.filter(({ parent }) => masters.includes(parent)).map(({ pid }) => pid)]
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It ended meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** PostgreSQL and PgBouncer refuse to run as root: then the folder is given to another user, whose command is returned. */
export async function givenAway(...paths: readonly string[]): Promise<string[]> {
  if (process.getuid?.() !== 0) return []
  const [uid, gid] = idsOf('postgres') ?? idsOf('nobody') ?? []
  if (uid === undefined || gid === undefined) throw new Error('There is no user other than root that PostgreSQL could run as.')
  for (const each of paths) await chown(each, uid, gid)
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
}

function idsOf(user: string): [number, number] | undefined {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] }))
    return [id('-u'), id('-g')]
  } catch {
    return undefined
  }
}

function findBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => path.join(debian, version, 'bin')), ...(process.env['PATH'] ?? '').split(':')]
  return folders.find((folder) => ['initdb', 'postgres'].every((each) => existsSync(path.join(folder, each))))
}
