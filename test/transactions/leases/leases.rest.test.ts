import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { OwnershipLost, type Lease } from '../../../core/transactions/journal/journal.ts'
import { type Leases, sqlLeases } from '../../../core/transactions/leases.ts'
import { openStore } from '../../../core/store/open-store.ts'
import { StoreUnavailable, type Store } from '../../../core/store/store.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from '../../store/postgres.ts'
import { silent, soon, until } from '../site.ts'

let lanes = 0
const newLane = () => `ethereum/local/0x${(lanes += 1)}`

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
  const fenceOf = (leases: Leases, lane: string, at = soon()) => leases.use(lane, at, async ({ fencingToken: fence }) => fence)
  const askedOf = async (lane: string) => (await postgres.query(`select * from lanes where lane = '${lane}'`, url))[0] ?? {}

  it('are taken if free, kept, and shared by many calls at once', async () => {
    const [a, lane] = [await server(), newLane()]
    let [inside, most] = [0, 0]
    const fences = await Promise.all(
      Array.from({ length: 20 }, () =>
        a.use(lane, soon(), async ({ fencingToken: fence }) => {
          most = Math.max(most, (inside += 1))
          await sleep(5)
          inside -= 1
          return fence
        }),
      ),
    )
    expect(new Set(fences)).to.deep.equal(new Set([1]))
    expect(most).to.equal(20)
    expect(a.held(lane)).to.deep.equal({ queue: lane, fencingToken: 1 })
  })

  it('are handed over on request with a higher fencing token, and never have users on two servers', async () => {
    const [changesA, changesB]: [string[], string[]] = [[], []]
    const [a, b, lane] = [await server(changesA), await server(changesB), newLane()]
    const inside = new Map<string, number>([
      ['a', 0],
      ['b', 0],
    ])
    const guards: Lease[] = []
    const work = (name: string, other: string) => async (guard: Lease) => {
      guards.push(guard)
      inside.set(name, (inside.get(name) ?? 0) + 1)
      expect(inside.get(other)).to.equal(0)
      await sleep(3)
      expect(inside.get(other)).to.equal(0)
      inside.set(name, (inside.get(name) ?? 0) - 1)
    }
    const load = async (leases: Leases, name: string, other: string) => {
      for (let round = 0; round < 40; round += 1) await leases.use(lane, soon(), work(name, other))
    }
    await Promise.all([...Array.from({ length: 4 }, () => load(a, 'a', 'b')), ...Array.from({ length: 4 }, () => load(b, 'b', 'a'))])
    const fences = guards.map(({ fencingToken: fence }) => fence)
    expect(fences).to.deep.equal(fences.toSorted((x, y) => x - y))
    expect(new Set(fences).size).to.be.above(1)
    expect([...new Set([...changesA, ...changesB])]).to.include.members(['taken', 'given', 'received'])
  })

  it('are handed over even if the owner uses them all the time', async () => {
    const [a, b, lane] = [await server(), await server(), newLane()]
    const over = new AbortController()
    const busy = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) await a.use(lane, soon(), () => sleep(4))
    })
    await until('the owner is busy', async () => a.held(lane) !== undefined)
    expect(await fenceOf(b, lane)).to.be.above(1)
    over.abort()
    await Promise.all(busy)
  })

  it('go around between three servers', async () => {
    const [servers, lane] = [await Promise.all([server(), server(), server()]), newLane()]
    const had = await Promise.all(
      servers.map(async (each) => {
        const fences = []
        for (let round = 0; round < 5; round += 1) {
          fences.push(await fenceOf(each, lane))
          await sleep(60)
        }
        return fences
      }),
    )
    for (const fences of had) expect(fences).to.have.length(5)
    for (const fence of had[0] ?? []) expect(had.slice(1).flat()).to.not.include(fence)
  })

  it('are all released at a stop, so that others need not wait', async () => {
    const [a, b, lane] = [await server(), await server(), newLane()]
    await fenceOf(a, lane)
    await a.stop()
    expect(a.held(lane)).to.equal(undefined)
    expect(await fenceOf(b, lane)).to.equal(2)
    expect(await a.use(lane, soon(), async () => 'done').catch((error: Error) => error.name)).to.equal('OVERLOADED')
  })

  it('are taken without asking only if free, or handed over to nobody who waits', async () => {
    const [a, b, lane] = [await server(), await server(), newLane()]
    await fenceOf(a, lane)
    expect(await b.takeIfFree(lane)).to.equal(undefined)
    expect(await b.takeIfFree(newLane())).to.include({ fencingToken: 1 })
    // Asks, and is gone before it gets it.
    const busy = gate()
    const used = a.use(lane, soon(), () => busy.pass)
    const patience = new AbortController()
    const impatient = b.use(lane, patience.signal, async () => 'had it').catch((error: Error) => error.message)
    await until('it is asked for', async () => (await askedOf(lane)).wanted_by !== null)
    patience.abort(new Error('over'))
    expect(await impatient).to.equal('over')
    busy.open()
    await used
    await until('it was given away', async () => (await askedOf(lane)).fence !== '1')
    expect(a.held(lane)).to.equal(undefined)
    expect(await b.takeIfFree(lane)).to.deep.equal({ queue: lane, fencingToken: 2 })
    expect(b.held(lane)).to.deep.equal({ queue: lane, fencingToken: 2 })
  })

  it('throw the signal’s reason at a call that waits too long, before its work begins', async () => {
    const [a, b, lane] = [await server(), await server(), newLane()]
    const busy = gate()
    const used = a.use(lane, soon(), () => busy.pass)
    await until('it is held', async () => a.held(lane) !== undefined)
    const reason = new Error('over')
    const waiting = new AbortController()
    let begun = false
    const waits = b.use(lane, waiting.signal, async () => {
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

  it('are taken over from a server that was killed', async () => {
    const [a, lane] = [await server(), newLane()]
    const holder = await startHolder(url, lane)
    expect(await a.takeIfFree(lane)).to.equal(undefined)
    holder.signal('SIGKILL')
    const killedAt = performance.now()
    expect(await fenceOf(a, lane)).to.equal(2)
    console.log(`        taken over after ${Math.round(performance.now() - killedAt)} ms`)
  })

  it('are not trusted by a process that was suspended for longer than its session, from its first moment on', async () => {
    const [a, lane] = [await server(), newLane()]
    const holder = await startHolder(url, lane)
    await until('it holds the lane', async () => holder.lines.includes('held 1'))
    holder.signal('SIGSTOP')
    expect(await fenceOf(a, lane)).to.equal(2)
    const before = holder.lines.length
    holder.signal('SIGCONT')
    await until('it says what it believes', async () => holder.lines.length > before + 40)
    const said = holder.lines.slice(holder.lines.indexOf('asked', before)).filter((line) => line !== 'asked')
    expect(new Set(said)).to.deep.equal(new Set(['held none']))
    holder.use()
    await until('it asks for the lane again', async () => holder.lines.includes('used 3'))
    expect(a.held(lane)).to.equal(undefined)
    holder.signal('SIGKILL')
  })

  it('keep their fencing token if nobody took them, and are not trusted while the database hangs', async () => {
    const [a, lane] = [await server(), newLane()]
    expect(await fenceOf(a, lane)).to.equal(1)
    await postgres.pause()
    try {
      await until('it is believed no longer', async () => a.held(lane) === undefined)
      const failure = await a.use(lane, soon(), async () => 'used').catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(StoreUnavailable)
    } finally {
      await postgres.resume()
    }
    await until('it goes on by itself', () =>
      fenceOf(a, lane).then(
        (fence) => fence === 1,
        () => false,
      ),
    )
    expect(a.held(lane)).to.deep.equal({ queue: lane, fencingToken: 1 })
  })

  it('survive the loss of their connection', async () => {
    const [a, b, lane] = [await server(), await server(), newLane()]
    expect(await fenceOf(a, lane)).to.equal(1)
    await postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice lanes'`, url)
    expect(a.held(lane)).to.deep.equal({ queue: lane, fencingToken: 1 })
    expect(await fenceOf(b, lane)).to.equal(2)
    await sleep(1_500)
    expect(b.held(lane)).to.deep.equal({ queue: lane, fencingToken: 2 })
    expect(await fenceOf(a, lane)).to.equal(3)
  })

  it('survive a database that was killed', async () => {
    const [a, b, lane] = [await server(), await server(), newLane()]
    expect(await fenceOf(a, lane)).to.equal(1)
    await postgres.restart()
    await until('the other gets the lane', () =>
      fenceOf(b, lane).then(
        (fence) => fence === 2,
        () => false,
      ),
    )
    await until('and gives it back', () =>
      fenceOf(a, lane).then(
        (fence) => fence === 3,
        () => false,
      ),
    )
  })

  it('are read again after a write with them was refused', async () => {
    const [a, lane] = [await server(), newLane()]
    const refused = () => a.use(lane, soon(), () => Promise.reject(new OwnershipLost('Another one owns it.'))).catch(() => {})
    expect(await fenceOf(a, lane)).to.equal(1)
    await refused()
    expect(await fenceOf(a, lane)).to.equal(1)
    await postgres.query(`update lanes set server = 'dead', fence = 7 where lane = '${lane}'`, url)
    await refused()
    expect(await fenceOf(a, lane)).to.equal(8)
  })

  it('are not blocked by a session that ends later than any can, as after a clock was set back', async () => {
    const [a, lane] = [await server(), newLane()]
    await postgres.query(`insert into servers (id, name, alive_until) values ('ghost', '', ${Date.now() + 3_600_000})`, url)
    await postgres.query(`insert into lanes (lane, server, fence) values ('${lane}', 'ghost', 4)`, url)
    expect(await a.takeIfFree(lane)).to.deep.equal({ queue: lane, fencingToken: 5 })
  })

  it('notice within seconds that the table has another owner', async () => {
    const [a, lane] = [await server(), newLane()]
    expect(await fenceOf(a, lane)).to.equal(1)
    await postgres.query(`update lanes set server = 'other', fence = 2 where lane = '${lane}'`, url)
    await until('it is believed no longer', async () => a.held(lane) === undefined)
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

/** A process of its own that has the lane when this gives it. */
async function startHolder(url: string, lane: string): Promise<Holder> {
  const program = fileURLToPath(new URL('./leases-holder.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx/esm', program, url, lane, randomUUID()], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const holder = { lines, signal: (signal: NodeJS.Signals) => void child.kill(signal), use: () => void child.stdin.write('use\n') }
  holders.push(holder)
  await until('the other process has the lane', async () => lines.some((line) => line.startsWith('used')))
  return holder
}
