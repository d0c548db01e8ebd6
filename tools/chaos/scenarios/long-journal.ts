import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bounded } from '../ask.ts'
import { traffic, amid } from '../traffic.ts'
import type { Random } from '../random.ts'
import { lengthenJournal, walletOfLongAgo, walletsOfLongAgo } from '../servers/journal.ts'
import { createWorld, type World } from '../world.ts'
import { killAgainAndAgain } from './kills.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  /** In the journal before. */
  entries: number
  trades: number
  kills: number
  /** Wallets whose lists are read from one end to the other. */
  walks: number
}

/** Trades from which the others are made. */
const models = 30
const pageSize = 100
const patienceMs = 180_000

/** Bots trade through a server that is killed, beside readers of its lists, with a journal of as much as a busy year leaves. */
export const longJournal: Scenario<Size> = {
  name: 'long journal',
  small: { entries: 50_000, trades: 50, kills: 1, walks: 2 },
  full: { entries: 1_000_000, trades: 2_000, kills: 30, walks: 60 },
  async run(size, random, judge) {
    const world = await createWorld({ random, patches: ['points'] })
    return judge(world, async () => {
      await traffic(world, { trades: models, parallel: 8, wallets: world.wallets, meddles: false }, random.fork('models'))
      await until(async () => (await list(world, { state: 'CONFIRMED' })).entries.length > models / 3)
      const before = world.readyInMs.at(-1)
      await world.servers[0]?.stop()
      await lengthenJournal(world.home.dataDir, size.entries)
      const { size: bytes } = statSync(path.join(world.home.dataDir, 'sluice.db'))
      await world.start()
      const figures = {
        'entries before': size.entries,
        'bytes of an entry': Math.round(bytes / size.entries),
        'ready in ms, empty and full': `${before} ${world.readyInMs.at(-1)}`,
      }
      const more = await amid(world, { trades: size.trades, parallel: 8, pauseMs: 30 }, random, async (own) => {
        const [killed, read] = await Promise.all([
          killAgainAndAgain(world, size, own.fork('killer')),
          walkAll(world, size, own.fork('walk')),
        ])
        return { ...killed, ...read }
      })
      return { ...figures, ...more, 'MB resident at the end': await residentMB(world) }
    })
  },
}

/** Reads lists of wallets from one end to the other: each entry is on one page. */
async function walkAll(world: World, { entries, walks }: Size, random: Random): Promise<Record<string, unknown>> {
  let pages = 0
  for (let walk = 0; walk < walks; walk += 1) {
    const index = random.below(walletsOfLongAgo)
    const address = walletOfLongAgo(index)
    const filter: Record<string, string> = random.chance(0.5) ? { state: 'CONFIRMED' } : {}
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await list(world, { ...world.place, address, ...filter, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.entries)
      cursor = page.next
      pages += 1
    } while (cursor !== undefined)
    const wanted = Math.floor((entries - index - 1) / walletsOfLongAgo) + 1
    if (new Set(seen).size !== seen.length) throw new Error(`A list of the wallet ${address} has an entry twice.`)
    if (filter['state'] === undefined && seen.length !== wanted)
      throw new Error(`The list of the wallet ${address} has ${seen.length} entries instead of ${wanted}.`)
    // One by its request, its key and its hash.
    const requestId = random.pick(seen)
    const [byRequest, byKey] = [await list(world, { requestId }), await list(world, { idempotencyKey: requestId })]
    for (const { entries: found } of [byRequest, byKey])
      if (found.join() !== requestId) throw new Error(`${requestId} finds ${found.join() || 'nothing'}.`)
  }
  return { 'pages read': pages }
}

/** A page, by the request of each entry. A server that was killed is asked again when it is back. */
async function list(world: World, query: Record<string, string>): Promise<{ entries: string[]; next?: string }> {
  for (const end = performance.now() + patienceMs; ; await sleep(50)) {
    const { client } = await world.someServer()
    const answer = await bounded(client.get('/transactions', { limit: String(pageSize), ...query })).catch(() => undefined)
    if (answer?.status === 200) {
      const { transactions, nextCursor } = answer.body
      return {
        entries: transactions.map(({ requestId }: { requestId: string }) => requestId),
        ...(nextCursor !== undefined && { next: String(nextCursor) }),
      }
    }
    if (performance.now() > end) throw new Error(`/transactions of ${JSON.stringify(query)} answered ${answer?.status}: ${answer?.text}`)
  }
}

async function residentMB(world: World): Promise<number> {
  const { pid } = await world.someServer()
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + patienceMs; !(await holds()); await sleep(100))
    if (performance.now() > end) throw new Error('The trades to copy were never final.')
}
