import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { OwnershipLostError, type Lease } from '../../../core/transactions/journal/journal.ts'
import { type Leases, sqlLeases } from '../../../core/transactions/leases.ts'
import { openStore } from '../../../core/store/open-store.ts'
import { StoreUnavailable, type Store } from '../../../core/store/store.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from '../../store/postgres.ts'
import { silent, soon, until } from '../site.ts'

let lanes = 0
const newQueue = () => `ethereum/local/0x${(lanes += 1)}`

describe('leases in PostgreSQL', () => {
  let postgres: TestPostgres
  let url: string
  const running: { leases: Leases; store: Store }[] = []

  before(async function () {
    if (!isPostgresInstalled) this.skip()
    postgres = await startPostgres()
    url = await postgres.database()
  })
  after(() => postgres?.stop())
  afterEach(async () => {
    await Promise.all(
      running.splice(0).map(async ({ leases, store }) => {
        await leases.stop()
        await store.close()
      }),
    )
  })

  async function server(changes: string[] = []): Promise<Leases> {
    const store = await openStore({ dataDir: '', url, serverName: 'test', log: silent })
    const leases = sqlLeases({
      store,
      serverId: randomUUID(),
      serverName: 'test',
      log: silent,
      onChange: (change) => changes.push(change),
    })
    running.push({ leases, store })
    return leases
  }
  const tokenOf = (leases: Leases, queue: string, at = soon()) => leases.use(queue, at, async ({ fencingToken }) => fencingToken)
  const askedOf = async (queue: string) => (await postgres.query(`select * from lanes where lane = '${queue}'`, url))[0] ?? {}

  it('go to who asks if free, stay there, and serve many calls at once', async () => {
    const [a, queue] = [await server(), newQueue()]
    let [inside, most] = [0, 0]
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () =>
        a.use(queue, soon(), async ({ fencingToken }) => {
          most = Math.max(most, (inside += 1))
          await sleep(5)
          inside -= 1
          return fencingToken
        }),
      ),
    )
    expect(new Set(tokens)).to.deep.equal(new Set([1]))
    expect(most).to.equal(20)
    expect(a.held(queue)).to.deep.equal({ queue, fencingToken: 1 })
  })

  it('change servers on request with a higher fencing token, and never have users on two servers', async () => {
    const [changesA, changesB]: [string[], string[]] = [[], []]
    const [a, b, queue] = [await server(changesA), await server(changesB), newQueue()]
    const inside = new Map<string, number>([
      ['a', 0],
      ['b', 0],
    ])
    const taken: Lease[] = []
    const work = (name: string, other: string) => async (lease: Lease) => {
      taken.push(lease)
      inside.set(name, (inside.get(name) ?? 0) + 1)
      expect(inside.get(other)).to.equal(0)
      await sleep(3)
      expect(inside.get(other)).to.equal(0)
      inside.set(name, (inside.get(name) ?? 0) - 1)
    }
    const load = async (leases: Leases, name: string, other: string) => {
      for (let round = 0; round < 40; round += 1) await leases.use(queue, soon(), work(name, other))
    }
    await Promise.all([...Array.from({ length: 4 }, () => load(a, 'a', 'b')), ...Array.from({ length: 4 }, () => load(b, 'b', 'a'))])
    const tokens = taken.map(({ fencingToken }) => fencingToken)
    expect(tokens).to.deep.equal(tokens.toSorted((x, y) => x - y))
    expect(new Set(tokens).size).to.be.above(1)
    expect([...new Set([...changesA, ...changesB])]).to.include.members(['taken', 'given', 'received'])
  })

  it('change servers even if the owner uses them all the time', async () => {
    const [a, b, queue] = [await server(), await server(), newQueue()]
    const over = new AbortController()
    const busy = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) await a.use(queue, soon(), () => sleep(4))
    })
    await until('the owner is busy', async () => a.held(queue) !== undefined)
    expect(await tokenOf(b, queue)).to.be.above(1)
    over.abort()
    await Promise.all(busy)
  })

  it('go around between three servers', async () => {
    const [servers, queue] = [await Promise.all([server(), server(), server()]), newQueue()]
    const had = await Promise.all(
      servers.map(async (each) => {
        const tokens = []
        for (let round = 0; round < 5; round += 1) {
          tokens.push(await tokenOf(each, queue))
          await sleep(60)
        }
        return tokens
      }),
    )
    for (const tokens of had) expect(tokens).to.have.length(5)
    for (const fencingToken of had[0] ?? []) expect(had.slice(1).flat()).to.not.include(fencingToken)
  })

  it('end all at a stop, so that others need not wait', async () => {
    const [a, b, queue] = [await server(), await server(), newQueue()]
    await tokenOf(a, queue)
    await a.stop()
    expect(a.held(queue)).to.equal(undefined)
    expect(await tokenOf(b, queue)).to.equal(2)
    expect(await a.use(queue, soon(), async () => 'done').catch((error: Error) => error.name)).to.equal('OVERLOADED')
  })

  it('pass to a server without a request only if free, or handed over to nobody who waits', async () => {
    const [a, b, queue] = [await server(), await server(), newQueue()]
    await tokenOf(a, queue)
    expect(await b.takeIfFree(queue)).to.equal(undefined)
    expect(await b.takeIfFree(newQueue())).to.include({ fencingToken: 1 })
    // Asks, and is gone before it gets it.
    const busy = gate()
    const used = a.use(queue, soon(), () => busy.pass)
    const patience = new AbortController()
    const impatient = b.use(queue, patience.signal, async () => 'had it').catch((error: Error) => error.message)
    await until('it is asked for', async () => (await askedOf(queue)).wanted_by !== null)
    patience.abort(new Error('over'))
    expect(await impatient).to.equal('over')
    busy.open()
    await used
    await until('it was given away', async () => (await askedOf(queue)).fence !== '1')
    expect(a.held(queue)).to.equal(undefined)
    expect(await b.takeIfFree(queue)).to.deep.equal({ queue, fencingToken: 2 })
    expect(b.held(queue)).to.deep.equal({ queue, fencingToken: 2 })
  })

  it('throw the signal’s reason at a call that waits too long, before its work begins', async () => {
    const [a, b, queue] = [await server(), await server(), newQueue()]
    const busy = gate()
    const used = a.use(queue, soon(), () => busy.pass)
    await until('it is held', async () => a.held(queue) !== undefined)
    const reason = new Error('over')
    const waiting = new AbortController()
    let begun = false
    const waits = b.use(queue, waiting.signal, async () => {
      begun = true
    })
    await sleep(50)
    waiting.abort(reason)
    expect(await waits.catch((error: unknown) => error)).to.equal(reason)
    busy.open()
    await used
    await sleep(300)
    expect(begun).to.equal(false)
  })

  it('pass to another server when the owner was killed', async () => {
    const [a, queue] = [await server(), newQueue()]
    const holder = await startHolder(url, queue)
    expect(await a.takeIfFree(queue)).to.equal(undefined)
    holder.signal('SIGKILL')
    const killedAt = performance.now()
    expect(await tokenOf(a, queue)).to.equal(2)
    console.log(`        taken over after ${Math.round(performance.now() - killedAt)} ms`)
  })

  it('count as lost in a process that was suspended for longer than its session, from its first moment on', async () => {
    const [a, queue] = [await server(), newQueue()]
    const holder = await startHolder(url, queue)
    await until('it holds the queue', async () => holder.lines.includes('held 1'))
    holder.signal('SIGSTOP')
    expect(await tokenOf(a, queue)).to.equal(2)
    const before = holder.lines.length
    holder.signal('SIGCONT')
    await until('it says what it believes', async () => holder.lines.length > before + 40)
    const said = holder.lines.slice(holder.lines.indexOf('asked', before)).filter((line) => line !== 'asked')
    expect(new Set(said)).to.deep.equal(new Set(['held none']))
    holder.use()
    await until('it asks for the queue again', async () => holder.lines.includes('used 3'))
    expect(a.held(queue)).to.equal(undefined)
    holder.signal('SIGKILL')
  })

  it('keep their fencing token if nobody took them, and are not trusted while the database hangs', async () => {
    const [a, queue] = [await server(), newQueue()]
    expect(await tokenOf(a, queue)).to.equal(1)
    await postgres.pause()
    try {
      await until('it is believed no longer', async () => a.held(queue) === undefined)
      const failure = await a.use(queue, soon(), async () => 'used').catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(StoreUnavailable)
    } finally {
      await postgres.resume()
    }
    await until('it goes on by itself', () =>
      tokenOf(a, queue).then(
        (fencingToken) => fencingToken === 1,
        () => false,
      ),
    )
    expect(a.held(queue)).to.deep.equal({ queue, fencingToken: 1 })
  })

  it('survive the loss of their connection', async () => {
    const [a, b, queue] = [await server(), await server(), newQueue()]
    expect(await tokenOf(a, queue)).to.equal(1)
    await postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice lanes'`, url)
    expect(a.held(queue)).to.deep.equal({ queue, fencingToken: 1 })
    expect(await tokenOf(b, queue)).to.equal(2)
    await sleep(1_500)
    expect(b.held(queue)).to.deep.equal({ queue, fencingToken: 2 })
    expect(await tokenOf(a, queue)).to.equal(3)
  })

  it('survive a database that was killed', async () => {
    const [a, b, queue] = [await server(), await server(), newQueue()]
    expect(await tokenOf(a, queue)).to.equal(1)
    await postgres.restart()
    await until('the other gets the queue', () =>
      tokenOf(b, queue).then(
        (fencingToken) => fencingToken === 2,
        () => false,
      ),
    )
    await until('and gives it back', () =>
      tokenOf(a, queue).then(
        (fencingToken) => fencingToken === 3,
        () => false,
      ),
    )
  })

  it('come from the database again after a write with them was refused', async () => {
    const [a, queue] = [await server(), newQueue()]
    const refused = () => a.use(queue, soon(), () => Promise.reject(new OwnershipLostError('Another one owns it.'))).catch(() => {})
    expect(await tokenOf(a, queue)).to.equal(1)
    await refused()
    expect(await tokenOf(a, queue)).to.equal(1)
    await postgres.query(`update lanes set server = 'dead', fence = 7 where lane = '${queue}'`, url)
    await refused()
    expect(await tokenOf(a, queue)).to.equal(8)
  })

  it('ignore a session that ends later than any can, as after a clock was set back', async () => {
    const [a, queue] = [await server(), newQueue()]
    await postgres.query(`insert into servers (id, name, alive_until, migration) values ('ghost', '', ${Date.now() + 3_600_000}, '')`, url)
    await postgres.query(`insert into lanes (lane, server, fence) values ('${queue}', 'ghost', 4)`, url)
    expect(await a.takeIfFree(queue)).to.deep.equal({ queue, fencingToken: 5 })
  })

  it('end, with the reason in a word, when a newer version has changed the tables while the server was away', async () => {
    const [a, queue] = [await server(), newQueue()]
    expect(await tokenOf(a, queue)).to.equal(1)
    await postgres.query("insert into kysely_migration (name, timestamp) values ('999-later', '')", url)
    try {
      await postgres.query('delete from servers', url)
      await until('it owns nothing', async () => a.held(queue) === undefined)
      const refused = await tokenOf(a, queue).catch((error: Error) => error.message)
      expect(refused).to.match(/a newer version of Sluice has changed its tables: stop this server, and start that version/)
    } finally {
      await postgres.query("delete from kysely_migration where name = '999-later'", url)
    }
  })

  it('stay untaken between the end of a session and the begin of the next', async () => {
    const [a, queue] = [await server(), newQueue()]
    expect(await tokenOf(a, queue)).to.equal(1)
    // Until it is free, a session can be renewed, and none can begin.
    let hasEnded = false
    const locked = postgres
      .query('lock table kysely_migration in access exclusive mode; select pg_sleep(2)', url)
      .then(() => (hasEnded = true))
    const locks = () =>
      postgres.query("select 1 from pg_locks where mode = 'AccessExclusiveLock' and relation = 'kysely_migration'::regclass", url)
    await until('the table is locked', async () => (await locks()).length > 0 || hasEnded)
    await postgres.query('delete from servers', url)
    await until('it owns nothing', async () => a.held(queue) === undefined)
    await tokenOf(a, queue)
    expect(await locks()).to.deep.equal([])
    await locked
  })

  it('notice within seconds that the table has another owner', async () => {
    const [a, queue] = [await server(), newQueue()]
    expect(await tokenOf(a, queue)).to.equal(1)
    await postgres.query(`update lanes set server = 'other', fence = 2 where lane = '${queue}'`, url)
    await until('it is believed no longer', async () => a.held(queue) === undefined)
  })
})

/** What waits for `pass` until `open` is called. */
function gate(): { pass: Promise<void>; open: () => void } {
  const opening = new AbortController()
  const pass = new Promise<void>((done) => opening.signal.addEventListener('abort', () => done()))
  return { pass, open: () => opening.abort() }
}

interface Holder {
  /** What it said; grows. */
  lines: readonly string[]
  signal(signal: NodeJS.Signals): void
  use(): void
}

const holders: Holder[] = []
after(() => {
  for (const holder of holders) holder.signal('SIGKILL')
})

/** A process of its own that has the queue when this gives it. */
async function startHolder(url: string, queue: string): Promise<Holder> {
  const program = fileURLToPath(new URL('./leases-holder.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx/esm', program, url, queue, randomUUID()], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const holder = { lines, signal: (signal: NodeJS.Signals) => void child.kill(signal), use: () => void child.stdin.write('use\n') }
  holders.push(holder)
  await until('the other process has the queue', async () => lines.some((line) => line.startsWith('used')))
  return holder
}
