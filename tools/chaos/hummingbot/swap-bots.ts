// Bots as Hummingbot's clients are: none sends a key, and each has its own way to send a swap again.
import { setTimeout as sleep } from 'node:timers/promises'
import { formatEther } from 'ethers'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'
import { createRoom, leastParallel } from './room.ts'
import { fateOf, type SwapCalls, type SwapOutcome, type Way } from './swap-calls.ts'

/** What is wanted, by an amount that nothing else of the run has. */
export interface SwapIntent {
  /** Of the recorder's request. */
  readonly id: number
  readonly wants: 'one' | 'equal hedges' | 'the same again' | 'a quote' | 'too much'
  readonly amountRaw: bigint
  readonly wallet: string
}

/** One request of a bot, with the milliseconds of the run at which it was sent and ended. */
export interface SwapCall {
  readonly sentAt: number
  readonly endedAt: number
  readonly requestId: string
  readonly outcome: SwapOutcome
}

/** One order of a strategy: its executor places equal ones after those that failed. */
export interface SwapOrder {
  readonly intent: SwapIntent
  readonly version: string
  readonly way: Way
  readonly calls: readonly SwapCall[]
  /** What the bot books: a fill, a refusal, or that it never learned what became of it. */
  readonly booked: 'filled' | 'refused' | 'unknown'
  readonly signature?: string
}

interface Version {
  readonly name: string
  readonly path: string
  readonly connector: string
  /** Its connector sends the same bytes again after so long, where the answer says that nothing is known. */
  readonly resend: { readonly times: number; readonly afterMs: number }
  /** Until an executor places an equal order after one that failed: of hedges and arbitrage legs none. A second of theirs is less here. */
  readonly tickMs: number
  readonly orders: number
}

export const versions: readonly Version[] = [
  { name: '2.16', path: '/trading/swap/execute', connector: 'uniswap/router', resend: { times: 10, afterMs: 0 }, tickMs: 400, orders: 11 },
  { name: '2.16, legs', path: '/trading/swap/execute', connector: 'uniswap/amm', resend: { times: 10, afterMs: 0 }, tickMs: 2, orders: 11 },
  { name: '2.17', path: '/trading/router/execute-swap', connector: 'sluice', resend: { times: 10, afterMs: 400 }, tickMs: 400, orders: 11 },
  {
    name: '2.17, legs',
    path: '/trading/clmm/execute-swap',
    connector: 'uniswap',
    resend: { times: 10, afterMs: 400 },
    tickMs: 2,
    orders: 11,
  },
  {
    name: 'hummingbot-api',
    path: '/trading/router/execute-swap',
    connector: 'uniswap',
    resend: { times: 0, afterMs: 0 },
    tickMs: 1_500,
    orders: 3,
  },
]

export interface SwapBotsParts {
  readonly world: World
  readonly calls: SwapCalls
  readonly random: Random
  /** At least so many orders; more, while `goOn` says so. */
  readonly orders: number
  readonly goOn: () => boolean
  /** At most so many at once. */
  readonly parallel: number
  readonly ways: readonly Way[]
}

/** Bots that swap, each order to its end. */
export async function swapAsBots({ world, calls, random, orders: count, goOn, parallel, ways }: SwapBotsParts): Promise<SwapOrder[]> {
  const orders: SwapOrder[] = []
  const room = createRoom(Math.min(leastParallel, parallel), parallel)
  let begun = 0
  const one = async () => {
    if (begun >= count && !goOn()) return
    begun += 1
    const own = random.fork(begun)
    const wants = own.pick(wishes)
    const version = own.pick(versions)
    if (wants === 'equal hedges' || wants === 'the same again') begun += 1
    const request = world.recorder.newRequest({ op: 'trade', wallet: own.pick(world.wallets), connector: version.connector })
    if (wants === 'too much') request.valueRaw = (request.valueRaw ?? 0n) + tooMuchRaw
    const intent = { id: request.id, wants, amountRaw: request.valueRaw ?? 0n, wallet: request.wallet }
    // A client has one way: what the proxy has still to report, an equal request that goes past it does not wait for.
    const way = own.pick(ways)
    const place = async (name: string) => {
      const order = await placeOrder({ world, calls, version, intent, random: own.fork(name), way })
      for (const { sentAt, endedAt, outcome } of order.calls) if (outcome.is === 'signature') room.answered(endedAt - sentAt)
      orders.push(order)
    }
    if (wants === 'equal hedges') await Promise.all([place('first'), place('second')])
    else {
      await place('first')
      if (wants === 'the same again') await place('second')
    }
  }
  const bot = async () => {
    while (begun < count || goOn()) await room.hold(one)
  }
  await Promise.all(Array.from({ length: parallel }, bot))
  return orders
}

const wishes: readonly SwapIntent['wants'][] = [
  ...Array.from({ length: 10 }, () => 'one' as const),
  ...Array.from({ length: 3 }, () => 'equal hedges' as const),
  ...Array.from({ length: 3 }, () => 'the same again' as const),
  'a quote',
  'a quote',
  'too much',
]
const tooMuchRaw = 10n ** 23n

interface OrderParts {
  readonly world: World
  readonly calls: SwapCalls
  readonly version: Version
  readonly intent: SwapIntent
  readonly way: Way
  readonly random: Random
}

/** Until it is filled or refused for good, or its executor gives up. */
async function placeOrder(parts: OrderParts): Promise<SwapOrder> {
  const { version, intent, world, calls, random, way } = parts
  const done: SwapCall[] = []
  const order = (booked: SwapOrder['booked'], signature?: string): SwapOrder => ({
    intent,
    version: version.name,
    way,
    calls: done,
    booked,
    ...(signature !== undefined && { signature }),
  })
  let quoteId: string | undefined
  // One that is refused twice for what it asks is not wanted any more.
  let [refusals, slipped] = [0, 0]
  for (let tries = 0; tries < version.orders && refusals < 2; tries += 1) {
    if (tries > 0) await sleep(version.tickMs)
    // Where its gateway is offline a client places nothing.
    await world.someServer()
    if (intent.wants === 'a quote') quoteId ??= await quote(parts).catch(() => undefined)
    if (intent.wants === 'a quote' && quoteId === undefined) continue
    const { path, body } = quoteId === undefined ? swapBody(parts, slipped) : quoteBody(intent.wallet, quoteId)
    const outcome = await sendOrder(parts, path, body, (each) => done.push(each), random.fork(tries))
    if (outcome.is === 'refusal' && outcome.code === 'SLIPPAGE_EXCEEDED') slipped += 1
    if (outcome.is === 'refusal' && outcome.status < 500) {
      quoteId = undefined
      refusals += 1
    }
    if (outcome.is !== 'signature') continue
    const { signature, isMined } = outcome
    world.recorder.hashes.push(signature)
    const status = isMined ? 1 : await statusOf(signature, calls, world)
    if (status === 1) return order('filled', signature)
    if (status === 0) return order('unknown', signature)
    quoteId = undefined
  }
  return order(isRefused(done) ? 'refused' : 'unknown')
}

/** Whether the last that the server said is that nothing took effect. Of an answer that was lost it says nothing where it cannot be reached. */
function isRefused(calls: SwapOrder['calls']): boolean {
  const last = calls.findLast(({ outcome }) => outcome.is === 'lost' || isOfServer(outcome))?.outcome
  return last === undefined || (last.is === 'refusal' && last.status < 500)
}

/** What the proxy refuses, as there is no server, has no name. */
const isOfServer = (outcome: SwapOutcome): boolean => outcome.is !== 'refusal' || outcome.name !== ''

/** The loop of its connector. */
async function sendOrder(
  { version, intent, world, calls, way }: OrderParts,
  path: string,
  body: string,
  keep: (call: SwapCall) => void,
  random: Random,
): Promise<SwapOutcome> {
  const { recorder } = world
  for (let sent = 0; ; sent += 1) {
    const requestId = `swap-${intent.id}-${recorder.calls.length}-${random.below(2 ** 32)}`
    const sentAt = recorder.clock()
    const outcome = await calls.post(way, path, body, requestId, fateOf(random.fork(sent), way))
    const endedAt = recorder.clock()
    keep({ sentAt, endedAt, requestId, outcome })
    if (!isOfServer(outcome)) return outcome
    recorder.calls.push({
      request: intent.id,
      requestId,
      sentAt,
      endedAt,
      outcome:
        outcome.is === 'lost'
          ? outcome
          : outcome.is === 'refusal'
            ? { ...outcome, is: 'answer' }
            : { is: 'answer', status: 200, text: outcome.text, txHash: outcome.signature },
    })
    const saysAgain = outcome.is !== 'lost' && /TRANSACTION_TIMEOUT|"status":\s*0/.test(outcome.text)
    if (!saysAgain || sent >= version.resend.times) return outcome
    await sleep(version.resend.afterMs)
  }
}

const pair = { baseToken: 'ETH', quoteToken: 'USDC', side: 'SELL' } as const

/**
 * A body's amount is a number, as Python writes it: no digit of it may be lost on the way.
 * @param slipped how often it was refused for the price: 2.17 widens its slippage then, and not else
 */
function swapBody({ version, intent }: OrderParts, slipped: number): { path: string; body: string } {
  const { path, connector } = version
  const body = {
    chainNetwork: 'ethereum-local',
    connector,
    walletAddress: intent.wallet,
    ...pair,
    amount: '@',
    slippagePct: slipped === 0 ? 1.25 : 5,
  }
  return { path, body: JSON.stringify(body).replace('"@"', formatEther(intent.amountRaw)) }
}

const quoteBody = (walletAddress: string, quoteId: string) => ({
  path: '/trading/router/execute-quote',
  body: JSON.stringify({ chainNetwork: 'ethereum-local', connector: 'sluice', walletAddress, quoteId }),
})

async function quote({ calls, intent }: OrderParts): Promise<string | undefined> {
  const query = new URLSearchParams({ chainNetwork: 'ethereum-local', ...pair, amount: formatEther(intent.amountRaw), slippagePct: '5' })
  const found = await calls.ask('GET', `/trading/router/quote-swap?${query.toString()}`)
  const quoteId: unknown = Reflect.get(Object(found), 'quoteId')
  return typeof quoteId === 'string' ? quoteId : undefined
}

/** As they poll: until it is 1 or -1. 0 where it is neither for too long. */
async function statusOf(signature: string, calls: SwapCalls, { recorder }: World): Promise<number> {
  for (const end = performance.now() + pollingMs; performance.now() < end;) {
    const at = recorder.clock()
    const found = await calls.ask('POST', '/chains/ethereum/poll', { network: 'local', signature }).catch(() => undefined)
    if (found !== undefined) {
      const txStatus = Number(Reflect.get(Object(found), 'txStatus'))
      recorder.samples.push({ at, via: 'poll', txHash: signature, txStatus })
      if (txStatus === 1 || txStatus === -1) return txStatus
    }
    await sleep(300)
  }
  return 0
}

const pollingMs = 60_000
