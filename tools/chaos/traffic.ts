import { setTimeout as sleep } from 'node:timers/promises'
import { ask, askAll, isSettled, persist, bounded } from './ask.ts'
import type { Request } from './history.ts'
import type { Random } from './random.ts'
import type { Stage } from './stage.ts'

/** Bots trade, and watch what is said of it, for at least as long as the trouble lasts. */
export async function amid(
  stage: Stage,
  trading: Omit<Traffic, 'wallets' | 'goOn'>,
  random: Random,
  trouble: (random: Random) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const watching = new AbortController()
  let troubled = true
  const troubles = trouble(random.fork('trouble')).finally(() => {
    troubled = false
  })
  troubles.catch((error: unknown) => {
    stage.failure = error instanceof Error ? error : new Error(String(error))
  })
  const watched = watch(stage, random.fork('watch'), watching.signal)
  try {
    await traffic(stage, { ...trading, wallets: stage.wallets, goOn: () => troubled }, random.fork('traffic'))
    return await troubles
  } finally {
    watching.abort()
    await watched
  }
}

interface Traffic {
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

/** A bot that asks what became of transactions that it knows, and of those in the list, until the signal. */
export async function watch(stage: Stage, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.between(20, 120), undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    await look(stage, random).catch(() => {
      // A server that was killed tells nothing.
    })
  }
}

async function look({ place, recorder, someServer }: Stage, random: Random): Promise<void> {
  const { client } = await someServer()
  const at = recorder.clock()
  if (random.chance(0.2)) {
    const { status, body } = await bounded(client.get('/transactions', { limit: '50' }))
    if (status !== 200) return
    for (const { txHash, txStatus, txState } of body.transactions)
      if (txHash !== null) recorder.samples.push({ at, via: 'list', txHash, txStatus, txState })
    return
  }
  if (recorder.hashes.length === 0) return
  // The newest are those of which something can be wrong.
  const txHash = random.pick(recorder.hashes.slice(random.chance(0.7) ? -40 : 0))
  const { status, body } = await bounded(client.get('/network/poll', { ...place, txHash }))
  if (status === 200) recorder.samples.push({ at, via: 'poll', txHash, txStatus: body.txStatus, txState: body.txState })
}

/** Troubles come and go: who trades while nothing works learns little. */
export async function comeAndGo<Trouble>(
  { proxy }: { proxy: { become(trouble?: Trouble): void } },
  troubles: readonly Trouble[],
  random: Random,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    proxy.become(random.pick(troubles))
    await sleep(random.between(500, 2500), undefined, { signal: over }).catch(() => {})
    proxy.become()
    await sleep(random.between(100, 500), undefined, { signal: over }).catch(() => {})
  }
}
