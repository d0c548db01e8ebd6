import { setTimeout as sleep } from 'node:timers/promises'
import { bounded } from '../ask.ts'
import type { Random } from '../random.ts'
import { createSmallDisk, type SmallDisk } from '../servers/small-disk.ts'
import { createWorld, type World } from '../world.ts'
import { amid } from '../traffic.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  trades: number
  /** How often the disk becomes full. */
  times: number
}

/** Room for the log of SQLite, which takes 4 MB, and for what bots of this run make. */
const diskBytes = ({ trades }: Size) => 16_000_000 + trades * 40_000
/** However slow the machine: for a state that has to come. */
const patienceMs = 180_000

/** The disk with the journal and the log of the server becomes full again and again while bots trade; in some of these times the server is killed. */
export const fullDisk: Scenario<Size> = {
  name: 'full disk',
  small: { trades: 40, times: 2 },
  full: { trades: 2_000, times: 60 },
  async run(size, random, judge) {
    const disk = await createSmallDisk(diskBytes(size))
    try {
      const world = await createWorld({ random, disk })
      return await judge(world, async () => {
        const figures = await amid(world, { trades: size.trades, parallel: 8, pauseMs: 30 }, random, (own) => fill(world, disk, size, own))
        const refused = world.recorder.calls.filter(({ outcome }) => outcome.is === 'answer' && /disk is full/.test(outcome.message ?? ''))
        if (refused.length === 0) throw new Error('Nobody was told that the disk is full, so nothing was shown.')
        return { ...figures, 'refused as the disk was full': refused.length }
      })
    } finally {
      await disk.remove()
    }
  },
}

async function fill(world: World, disk: SmallDisk, { times }: Size, random: Random): Promise<Record<string, unknown>> {
  const counts = { 'full for good': 0, 'killed while full': 0, 'started while full': 0 }
  for (let count = 0; count < times; count += 1) {
    await sleep(random.between(200, 1_500))
    // The first time it is full whatever chance says.
    const isForGood = count === 0 || random.chance(0.7)
    disk.fill(isForGood ? 0 : random.between(0, 200_000))
    if (isForGood) {
      counts['full for good'] += 1
      // Until then there was room in the log of SQLite.
      await until(world, 'says that the disk is full', async () => /the disk is full/.test(await readiness(world)))
      await expectQuote(world)
    }
    await sleep(random.between(0, 1_500))
    // In the second time, too.
    if (count === 1 || random.chance(0.3)) {
      counts['killed while full'] += 1
      const server = await world.someServer()
      server.signal('SIGKILL')
      await server.ended
      if (count === 1 || random.chance(0.5)) {
        counts['started while full'] += 1
        await world.start(0, { unready: true })
        await expectQuote(world)
        disk.free()
      } else {
        disk.free()
        await world.start()
      }
    } else disk.free()
    await until(world, 'is ready again without a restart', async () => (await readiness(world)) === '200')
  }
  return counts
}

/** 200, or what is missing. */
async function readiness({ servers: [server] }: World): Promise<string> {
  const answer = await bounded(server?.client.get('/health/ready') ?? Promise.reject(new Error('There is no server.')))
  return answer.status === 200 ? '200' : answer.text
}

async function expectQuote({ place, servers: [server] }: World): Promise<void> {
  const query = { ...place, connector: 'uniswap', base: 'WETH', quote: 'USDC', side: 'SELL', amount: '1' }
  const answer = await bounded(server?.client.get('/amm/price', query) ?? Promise.reject(new Error('There is no server.')))
  if (answer.status !== 200) throw new Error(`There is no quote while the disk is full: ${answer.text}`)
}

async function until({ servers: [server] }: World, what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + patienceMs; !(await holds()); await sleep(50))
    if (performance.now() > end) throw new Error(`The server never ${what}. ${server?.log()}`)
}
