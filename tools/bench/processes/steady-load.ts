// Bots that ask at a steady pace, whether they were answered or not: what is late counts from when it was due.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Pool } from 'undici'
import type { Hop } from '../../../core/contracts/index.ts'
import { serve } from '../child.ts'
import { percentile } from '../measuring.ts'

export interface SteadyLoad {
  url: string
  certsDir: string
  perSecond: number
  connections: number
  /** Each of them as often as the others; `{amount}` is one of twenty amounts. */
  paths: readonly string[]
}

/** A price that was given, to be held against the exchange's own. */
export interface GivenPrice {
  base: string
  rawAmount: string
  expectedAmount: string
  blockNumber: number
  route: readonly Hop[]
}

const amounts = 20
const tickMs = 5
/** One in so many answers is kept. */
const kept = 300

let timer: NodeJS.Timeout | undefined
let seen = nothing()

export type SteadyLoadProcess = typeof handlers
const handlers = serve({
  start({ url, certsDir, perSecond, connections, paths }: SteadyLoad): void {
    const read = (file: string) => readFileSync(path.join(certsDir, file))
    const connect = { ca: read('ca_cert.pem'), cert: read('client_cert.pem'), key: read('client_key.pem') }
    const pool = new Pool(url, { connections, connect })
    const startedAt = performance.now()
    let sent = 0
    timer = setInterval(() => {
      for (; startedAt + (sent / perSecond) * 1000 <= performance.now(); sent += 1) {
        const amount = (1 + Math.floor(Math.random() * amounts) / amounts).toFixed(2)
        void ask(pool, (paths[sent % paths.length] ?? '').replace('{amount}', amount), startedAt + (sent / perSecond) * 1000)
      }
    }, tickMs)
  },
  /** What was answered since this was last asked. */
  take() {
    const { errors, given, latenciesMs } = seen
    seen = nothing()
    const [p50Ms, p99Ms] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)]
    return { requests: latenciesMs.length, errors: Object.fromEntries(errors), given, p50Ms, p99Ms }
  },
  stop: () => clearInterval(timer),
})

async function ask(pool: Pool, target: string, dueAt: number): Promise<void> {
  try {
    const { statusCode, body } = await pool.request({ method: 'GET', path: target })
    const text = await body.text()
    seen.latenciesMs.push(performance.now() - dueAt)
    if (statusCode !== 200) count(`${statusCode} ${text.slice(0, 200)}`)
    else if (seen.latenciesMs.length % kept === 1) seen.given.push(JSON.parse(text) as GivenPrice)
  } catch (error) {
    count(error instanceof Error ? error.message : String(error))
  }
}

function count(error: string): void {
  seen.errors.set(error, (seen.errors.get(error) ?? 0) + 1)
}

function nothing() {
  return { latenciesMs: [] as number[], errors: new Map<string, number>(), given: [] as GivenPrice[] }
}
