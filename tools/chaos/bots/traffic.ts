import { setTimeout as sleep } from 'node:timers/promises'
import type { Request } from '../history.ts'
import type { Random } from '../random.ts'
import type { Stage } from '../stage.ts'
import { ask, askAll } from './ask.ts'
import { isSettled, persist } from './persist.ts'

export interface Traffic {
  /** At least so many; more, while `goOn` says so. */
  trades: number
  /** How many bots trade at once. */
  parallel: number
  wallets: readonly string[]
  goOn?: () => boolean
  /** Of a bot between two requests. */
  pauseMs?: number
  /** Cancels and speed-ups among the trades. */
  meddles?: boolean
}

/** How long a bot asks again while faults go on; what is open then is asked for when they are over. */
const patienceMs = 6_000

/** Bots that trade, careful ones with a key and careless ones without; what each does follows from the seed. */
export async function traffic(
  stage: Stage,
  { trades, parallel, wallets, goOn = () => false, pauseMs = 0, meddles = true }: Traffic,
  random: Random,
): Promise<void> {
  let begun = 0
  const bot = async () => {
    while (begun < trades || goOn()) {
      begun += 1
      const own = random.fork(begun)
      const wallet = own.pick(wallets)
      if (meddles && own.chance(0.04)) await meddle(stage, wallet, own)
      await trade(stage, wallet, own)
      if (pauseMs > 0) await sleep(own.between(0, pauseMs * 2))
    }
  }
  await Promise.all(Array.from({ length: parallel }, bot))
}

async function trade(stage: Stage, wallet: string, random: Random): Promise<void> {
  const keyed = random.chance(0.6)
  const asked = wanted(stage, wallet, random, keyed ? { key: `key-${random.below(2 ** 32)}-${random.below(2 ** 32)}` } : {})
  if (asked.length === 0) return
  // Some hang up too early, and do not hear what came of it.
  const manner = random.chance(0.05) ? { hangUpAfterMs: random.between(1, 150) } : {}
  if (!keyed) return void (await askAll(stage, asked, manner))
  // Some send it several times at once, as one does whose timeout is too short.
  const copies = random.chance(0.2) ? random.between(2, 5) : 1
  const calls = await Promise.all(Array.from({ length: copies }, () => askAll(stage, asked, manner)))
  const settled = calls.flat().some(isSettled) || (await persist(() => askAll(stage, asked), random, patienceMs))
  if (!settled) stage.unresolved.push(asked)
  else if (random.chance(0.2)) await askAll(stage, asked)
}

/** One of the wishes, or several orders at once. */
function wanted(stage: Stage, wallet: string, random: Random, key: Pick<Request, 'key'>): Request[] {
  const { op, ...wish } = random.pick(stage.wishes)
  if (op === 'batch') return ordersAtOnce(stage, { ...wish, wallet, ...key }, random)
  const order = op === 'cancel-order' ? orderOf(stage, { ...wish, wallet }, random) : {}
  return order ? [stage.recorder.newRequest({ op, ...wish, ...order, wallet, ...key })] : []
}

/** One of the wallet's orders of the market, mostly of those that may be in the book: neither on their way nor over. Undefined where it has none. */
function orderOf(
  { recorder }: Stage,
  { wallet, market }: Pick<Request, 'wallet' | 'market'>,
  random: Random,
): { order: number } | undefined {
  const own = recorder.requests.filter((each) => each.op === 'order' && each.wallet === wallet && each.market === market)
  return own.length === 0 ? undefined : { order: random.pick(random.chance(0.7) && own.length > 4 ? own.slice(-20, -4) : own).id }
}

function ordersAtOnce(stage: Stage, of: Pick<Request, 'wallet' | 'market' | 'key'>, random: Random): Request[] {
  const { recorder } = stage
  const order = random.chance(0.5) ? orderOf(stage, of, random) : undefined
  const asked = { ...of, inBatch: true } as const
  const orders = Array.from({ length: random.between(1, 4) }, () => recorder.newRequest({ op: 'order', ...asked }))
  return order ? [...orders, recorder.newRequest({ op: 'cancel-order', ...asked, ...order })] : orders
}

async function meddle(stage: Stage, wallet: string, random: Random): Promise<void> {
  const op = random.pick(['cancel', 'speedUp'] as const)
  await ask(stage, stage.recorder.newRequest({ op, wallet }))
}
