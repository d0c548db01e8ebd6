import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { isPostgresInstalled } from '../../../test/store/postgres.ts'
import { isStopped, until } from '../../../test/wallet/processes.ts'
import { ask } from '../ask.ts'
import { randomOf } from '../random.ts'
import { play, type Scenario } from '../scenarios/scenario.ts'
import { createWorld, type World, type WorldOptions } from '../world.ts'

/** A server with a defect, and what a run of it violates. */
async function violationsOf(options: Omit<WorldOptions, 'random'>, work: (world: World) => Promise<void>): Promise<string[]> {
  const mutant: Scenario = {
    name: 'mutant',
    small: {},
    full: {},
    async run(_, random, judge) {
      const world = await createWorld({ ...options, random })
      return judge(world, async () => {
        await work(world)
        return {}
      })
    },
  }
  const { violations } = await play(mutant, {}, 'mutant')
  return violations.map(({ invariant, what }) => `${invariant} ${what}`)
}

const trade = (world: World, server?: number) =>
  ask(world, world.recorder.newRequest({ op: 'trade', wallet: world.wallets[0] ?? '' }), server === undefined ? {} : { server })

/** Between its sending and its writing, on the second trade. */
const diesBetween = { dieAt: { point: 'between broadcast and journal', nth: 2 } }

/** With a nonce in its hand. Its request has its time, however long it sleeps: what is over is not journaled. */
const fallsAsleep = { stopAt: { point: 'before journal QUEUED', nth: 1 }, flags: { 'server.requestTimeoutSeconds': 240 } }

describe('the checker finds a server', function () {
  this.timeout(900_000)
  const cluster = { servers: 2, postgres: true, first: fallsAsleep }
  /** Most of their time they wait, so all at once. */
  const runs = {
    'journal after broadcast': () => violationsOf({ patches: ['journal after broadcast'], first: diesBetween }, tradeTwice),
    'nonce outside the queue': () => violationsOf({ patches: ['nonce outside the queue'] }, tradeAtOnce),
    'fence off': () => violationsOf({ patches: ['points', 'fence off'], ...cluster }, sleepAndWake),
    'fence on': () => violationsOf({ patches: ['points'], ...cluster }, sleepAndWake),
  }
  const found = new Map<string, Promise<string[]>>()
  before(() => {
    for (const [name, run] of Object.entries(runs)) {
      if (name.startsWith('fence') && !isPostgresInstalled) continue
      const violations = run()
      // Told by the test whose run it is.
      violations.catch(() => {})
      found.set(name, violations)
    }
  })
  // None may go on when the others' tests run, whatever became of one.
  after(() => Promise.allSettled(found.values()))

  it('that sends before it journals', async () => {
    expect(await found.get('journal after broadcast')).to.include('I1 a transaction was mined that is not in the journal')
  })

  it('that takes nonces outside of the queue', async () => {
    expect(await found.get('nonce outside the queue')).to.include('I4 two trades were signed on one nonce')
  })

  it('that journals on a lane which another one owns by now', async function () {
    if (!isPostgresInstalled) this.skip()
    expect(await found.get('fence off')).to.include('I4 two trades were signed on one nonce')
  })

  it('and nothing where the fence holds such a server back', async function () {
    if (!isPostgresInstalled) this.skip()
    expect(await found.get('fence on')).to.deep.equal([])
  })
})

async function tradeTwice(world: World): Promise<void> {
  await trade(world)
  await trade(world)
}

async function tradeAtOnce(world: World): Promise<void> {
  await Promise.all(Array.from({ length: 8 }, () => trade(world)))
}

/** While the first server sleeps another one takes over and uses its nonce, and the first wakes up. */
async function sleepAndWake(world: World): Promise<void> {
  const [sleeper] = world.servers
  if (!sleeper) throw new Error('There is a first server.')
  const asleep = trade(world, 0)
  await until(() => isStopped(sleeper.pid))
  // Answered as soon as the sleeper's hold on the wallet has run out.
  const random = randomOf('awake')
  for (let tries = 0; tries < 20; tries += 1) {
    const { outcome } = await trade(world, 1)
    if (outcome.is === 'answer' && outcome.status === 200) break
    await sleep(random.between(200, 500))
  }
  sleeper.signal('SIGCONT')
  await asleep
  // Its bot may have given it up long before: another trade of the wallet is answered after it.
  await trade(world, 0)
}
