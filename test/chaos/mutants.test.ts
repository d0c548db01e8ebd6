import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { isPostgresInstalled } from '../store/postgres.ts'
import { ask } from './bots/ask.ts'
import { randomOf } from './random.ts'
import { play, type Scenario } from './scenarios/scenario.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

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
  ask(world, world.recorder.newRequest({ op: 'trade', wallet: world.wallets[0] ?? '' }), server)

describe('the checker finds a server', function () {
  this.timeout(60_000)

  it('that sends before it journals', async () => {
    const violations = await violationsOf({ patches: ['journal after broadcast'] }, async (world) => {
      await world.servers[0]?.stop()
      await world.start(0, { dieAt: { point: 'between broadcast and journal', nth: 2 } })
      await trade(world)
      await trade(world)
    })
    expect(violations).to.include('I1 a transaction was mined that is not in the journal')
  })

  it('that takes nonces outside of the queue', async () => {
    const violations = await violationsOf({ patches: ['nonce outside the queue'] }, async (world) => {
      await Promise.all(Array.from({ length: 8 }, () => trade(world)))
    })
    expect(violations).to.include('I4 two trades were signed on one nonce')
  })

  it('that journals on a lane which another one owns by now', async function () {
    if (!isPostgresInstalled) this.skip()
    const violations = await violationsOf({ patches: ['points', 'fence off'], servers: 2, postgres: true }, sleepAndWake)
    expect(violations).to.include('I4 two trades were signed on one nonce')
  })

  it('and finds nothing where the fence holds such a server back', async function () {
    if (!isPostgresInstalled) this.skip()
    expect(await violationsOf({ patches: ['points'], servers: 2, postgres: true }, sleepAndWake)).to.deep.equal([])
  })
})

/** A server falls asleep with a nonce in its hand, another one takes over and uses it, and the first wakes up. */
async function sleepAndWake(world: World): Promise<void> {
  await world.servers[0]?.stop()
  const sleeper = await world.start(0, { stopAt: { point: 'before journal QUEUED', nth: 1 } })
  const asleep = trade(world, 0)
  await sleep(1000)
  // Answered as soon as the sleeper's hold on the wallet has run out.
  const random = randomOf('awake')
  for (let tries = 0; tries < 20; tries += 1) {
    const { outcome } = await trade(world, 1)
    if (outcome.is === 'answer' && outcome.status === 200) break
    await sleep(random.between(200, 500))
  }
  sleeper.signal('SIGCONT')
  await asleep
}
