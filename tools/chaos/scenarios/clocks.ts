import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../ask.ts'
import type { Random } from '../random.ts'
import { amid } from '../traffic.ts'
import { createWorld, type World } from '../world.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  trades: number
  /** Of each kind of trouble. */
  times: number
  /** Keys that are asked for again when all clocks have been wrong. */
  repeats: number
}

const count = 2
const hour = 3_600
/** More than the day for which keys are promised, in both directions; and what a machine without NTP has. */
const offsets = [26 * hour, -26 * hour, 30 * 24 * hour, hour, -hour, 0] as const

/** Two servers on one PostgreSQL, whose clocks are real ones that are wrong and jump: libfaketime. */
export const clocks: Scenario<Size> = {
  name: 'clocks',
  small: { trades: 40, times: 1, repeats: 20 },
  full: { trades: 2_000, times: 20, repeats: 1_000 },
  async run({ trades, times, repeats }, random, judge) {
    const folder = await mkdtemp(path.join(tmpdir(), 'sluice-clocks-'))
    // The first makes the certificates, a day ahead.
    const clockOf = Array.from({ length: count }, (_, index) =>
      createWrongClock(path.join(folder, String(index)), index === 0 ? 26 * hour : 0),
    )
    const trouble: Trouble = { world: await createWorld({ random, postgres: true, first: { env: clockOf[0]?.env ?? {} } }), clockOf }
    const { world } = trouble
    await start(trouble, 1)
    const programme = random
      .fork('programme')
      .shuffled(Object.values(troubles).flatMap((each) => Array.from({ length: times }, () => each)))
    try {
      return await judge(world, async () => {
        const figures = await amid(world, { trades, parallel: 8, pauseMs: 60 }, random, async (own) => {
          for (const [index, each] of programme.entries()) {
            await sleep(own.between(500, 2_000))
            await each(trouble, own.fork(index))
          }
          return { 'of each trouble': times }
        })
        return { ...figures, 'keys asked for again': await askAgain(trouble, repeats, random.fork('again')) }
      })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

interface Trouble {
  world: World
  clockOf: readonly WrongClock[]
}

const start = ({ world, clockOf }: Trouble, index: number) => world.start(index, { env: clockOf[index]?.env ?? {} })

const troubles = {
  async jump({ clockOf }: Trouble, random: Random) {
    random.pick(clockOf).set(random.pick(offsets))
  },

  /** As when a clock is set by hand, and set right again. */
  async jumpForAMoment({ clockOf }: Trouble, random: Random) {
    const clock = random.pick(clockOf)
    clock.set(random.pick(offsets))
    await sleep(random.between(50, 1_500))
    clock.set(0)
  },

  async apart({ clockOf }: Trouble, random: Random) {
    const [one, other] = random.shuffled(clockOf)
    one?.set(26 * hour)
    other?.set(random.pick([0, -26 * hour]))
  },

  async restartWithAnotherClock(trouble: Trouble, random: Random) {
    const index = random.below(count)
    const server = trouble.world.servers[index]
    server?.signal('SIGKILL')
    await server?.ended
    trouble.clockOf[index]?.set(random.pick(offsets))
    await start(trouble, index)
  },
}

/** Every server is started with a clock that is a day ahead, and is asked again for what was sent under a key, by whichever server. */
async function askAgain(trouble: Trouble, repeats: number, random: Random): Promise<number> {
  const { world, clockOf } = trouble
  const { recorder, servers } = world
  for (const index of servers.keys()) {
    await servers[index]?.stop()
    clockOf[index]?.set(26 * hour)
    await start(trouble, index)
  }
  const sent = new Set(
    recorder.calls.flatMap(({ request, outcome }) => (outcome.is === 'answer' && outcome.txHash !== undefined ? request : [])),
  )
  const keyed = recorder.requests.filter(({ id, key, inBatch }) => key !== undefined && !inBatch && sent.has(id))
  const again = random.shuffled(keyed).slice(0, repeats)
  for (const request of again) for (const server of servers.keys()) await ask(world, request, { server })
  return again.length
}

/** The multi-threaded build of libfaketime (https://github.com/wolfcw/libfaketime), where Debian and others put it. */
const name = 'libfaketimeMT.so.1'
const library = [
  ...(existsSync('/usr/lib') ? readdirSync('/usr/lib').map((folder) => path.join('/usr/lib', folder, 'faketime', name)) : []),
  ...['/usr/lib/faketime', '/usr/lib64/faketime', '/usr/local/lib/faketime'].map((folder) => path.join(folder, name)),
].find((file) => existsSync(file))

/** Without it there are no wrong clocks. */
export const missingFaketime =
  library === undefined ? `libfaketime is missing (${name}): "apt-get install faketime" on Debian and Ubuntu.` : undefined

/** The time of day of one process and of those that it starts. Their steady clocks stay right, as on a machine whose clock is set. */
interface WrongClock {
  /** For the process. */
  readonly env: Readonly<Record<string, string>>
  /** The clock jumps, within a moment. */
  set(aheadSeconds: number): void
}

/** @throws Error that says how to get libfaketime */
function createWrongClock(file: string, aheadSeconds = 0): WrongClock {
  if (library === undefined) throw new Error(missingFaketime)
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`)
  set(aheadSeconds)
  return {
    set,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // It reads the file at every question for the time.
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  }
}
