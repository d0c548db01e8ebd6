import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { endWatched, spawnWatched } from '../../core/devnet/anvil.ts'
import { freePort } from '../free-port.ts'
import { givenAway, type TestPostgres } from './postgres.ts'

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((each) => existsSync(each))

/** Tests that need it are skipped where it is not installed. */
export const isPgBouncerInstalled = program !== undefined

export interface TestPooler {
  /** The same database, through the pooler. */
  urlOf(databaseUrl: string): string
  stop(): Promise<void>
}

/** A PgBouncer before a PostgreSQL, with its own port and folder. It always ends with this process. */
export async function startPgBouncer(
  postgres: Pick<TestPostgres, 'url' | 'password'>,
  mode: 'session' | 'transaction' | 'statement',
  settings: Readonly<Record<string, string>> = {},
): Promise<TestPooler> {
  if (program === undefined) throw new Error('PgBouncer is not installed.')
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-pgbouncer-'))
  const port = await freePort()
  const { hostname, port: databasePort } = new URL(postgres.url)
  const users = path.join(folder, 'users')
  const ini = path.join(folder, 'pgbouncer.ini')
  await writeFile(users, `"postgres" "${postgres.password}"\n`)
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: users,
    pool_mode: mode,
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`)
  await writeFile(ini, ['[databases]', `* = host=${hostname} port=${databasePort}`, '[pgbouncer]', ...lines, ''].join('\n'))
  const [setpriv, ...privileges] = await givenAway(folder, users, ini)
  const server = setpriv === undefined ? spawnWatched(program, [ini]) : spawnWatched(setpriv, [...privileges, program, ini])
  server.stderr.resume()
  server.stdout.resume()
  const urlOf = (databaseUrl: string) => {
    const url = new URL(databaseUrl)
    url.port = String(port)
    return url.href
  }
  // It answers once a connection is refused or made: which of them is up to its settings.
  for (let tries = 0; tries < 600 && server.exitCode === null; tries += 1) {
    const client = new Client({ connectionString: urlOf(postgres.url), connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    const code = await client.connect().then(
      () => '',
      (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : ''),
    )
    await client.end().catch(() => {})
    if (code !== 'ECONNREFUSED') break
    await sleep(25)
  }
  return {
    urlOf,
    async stop() {
      await endWatched(server)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
