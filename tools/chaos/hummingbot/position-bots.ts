// Bots as Hummingbot's LP executors are: each opens a position, looks at it, and closes it, over lines that break, without a key.
import { setTimeout as sleep } from 'node:timers/promises'
import { formatEther } from 'ethers'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'
import type { Pool } from './position-facts.ts'
import { createRoom, leastParallel } from './room.ts'
import { fateOf, type SwapCalls, type SwapOutcome, type Way } from './swap-calls.ts'

/** One request of a bot, with the milliseconds of the run at which it was sent and ended. */
export interface PositionCall {
  readonly does: 'open' | 'collect' | 'close'
  readonly sentAt: number
  readonly endedAt: number
  readonly requestId: string
  readonly outcome: SwapOutcome
}

/** What an answer says that something brought, of the pool's first and second token. */
export interface ToldAmounts {
  readonly signature: string
  readonly amounts: readonly [string, string]
  readonly fees?: readonly [string, string]
  readonly paid: string
}

/** One position that a strategy wants, by an amount of WETH that nothing else of the run has. */
export interface PositionLife {
  /** Of the recorder's request. */
  readonly id: number
  readonly amountRaw: bigint
  readonly wallet: string
  readonly version: string
  readonly wants: 'life' | 'two closes' | 'nothing more'
  readonly calls: readonly PositionCall[]
  /** As the open was answered. */
  readonly position?: string
  readonly opened?: ToldAmounts
  readonly signature?: string
  readonly closed?: readonly ToldAmounts[]
  /** Of closes that were answered with success, and without all that they brought: a client books nothing for them. */
  readonly unsaid?: readonly string[]
  /** What the bot books. `gone`: it was told that the position is closed. `forgotten`: it never learned of its position, and asks no more. */
  readonly booked: 'closed' | 'gone' | 'refused' | 'forgotten' | 'open'
}

interface Version {
  readonly name: string
  readonly openPath: string
  readonly closePath: string
  readonly collectPath: string
  readonly infoPath: string
  readonly on: Readonly<Record<string, string>>
  /** Of its first open, and one step up after each refusal for the price. Without any it names none. */
  readonly slippages: readonly number[]
  /** So many times a position is not there in a row until it counts as gone. */
  readonly misses: number
  /** Between closes that failed: theirs are 2, 4, 8, 16 and 30 s. */
  readonly backoffMs: readonly number[]
}

export const lpVersions: readonly Version[] = [
  {
    name: '2.16',
    openPath: '/connectors/uniswap/clmm/open-position',
    closePath: '/connectors/uniswap/clmm/close-position',
    collectPath: '/connectors/uniswap/clmm/collect-fees',
    infoPath: '/connectors/uniswap/clmm/position-info',
    on: { network: 'local' },
    slippages: [],
    misses: 1,
    backoffMs: [300],
  },
  {
    name: '2.17',
    openPath: '/trading/clmm/open',
    closePath: '/trading/clmm/close',
    collectPath: '/trading/clmm/collect-fees',
    infoPath: '/trading/clmm/position-info',
    on: { chainNetwork: 'ethereum-local', connector: 'uniswap' },
    slippages: [0.05, 0.25, 1, 1],
    misses: 3,
    backoffMs: [200, 400, 800, 1_600, 3_000],
  },
]

const wishes: readonly PositionLife['wants'][] = [...Array.from({ length: 8 }, () => 'life' as const), 'two closes', 'nothing more']

export interface PositionBotsParts {
  readonly world: World
  readonly calls: SwapCalls
  readonly random: Random
  readonly pool: Pool
  readonly wallets: readonly string[]
  /** No open names less. */
  readonly leastSlippagePct?: number
  /** At least so many; more, while `goOn` says so. */
  readonly positions: number
  readonly goOn: () => boolean
  /** At most so many at once. */
  readonly parallel: number
}

/** Bots that open and close, each position to its end. */
export async function openAsBots({
  world,
  random,
  positions: count,
  goOn,
  parallel,
  wallets,
  ...parts
}: PositionBotsParts): Promise<PositionLife[]> {
  const lives: PositionLife[] = []
  const room = createRoom(Math.min(leastParallel, parallel), parallel)
  let begun = 0
  const one = async () => {
    if (begun >= count && !goOn()) return
    begun += 1
    const own = random.fork(begun)
    const { id, valueRaw = 0n, wallet } = world.recorder.newRequest({ op: 'trade', wallet: own.pick(wallets), connector: 'uniswap' })
    const intent = { id, amountRaw: valueRaw, wallet, wants: own.pick(wishes) }
    const lived = await live({ ...parts, world, random: own, intent, version: own.pick(lpVersions), way: own.pick(['tls', 'proxy']) })
    for (const { sentAt, endedAt, outcome } of lived.calls) if (outcome.is === 'signature') room.answered(endedAt - sentAt)
    lives.push(lived)
  }
  const bot = async () => {
    while (begun < count || goOn()) await room.hold(one)
  }
  await Promise.all(Array.from({ length: parallel }, bot))
  return lives
}

interface LifeParts extends Omit<PositionBotsParts, 'positions' | 'goOn' | 'parallel' | 'wallets'> {
  readonly intent: Pick<PositionLife, 'id' | 'amountRaw' | 'wallet' | 'wants'>
  readonly version: Version
  readonly way: Way
}

/** A strategy makes a new executor with the same wish where one failed, so many times. */
const executors = 8
/** An executor of 2.17 tries eleven times; what waits for a block that does not come takes more of those short ones. */
const closes = 60
const pauseMs = 400

async function live(parts: LifeParts): Promise<PositionLife> {
  const { intent, version, world, random } = parts
  const done: PositionCall[] = []
  const life = (booked: PositionLife['booked'], more: Partial<PositionLife> = {}): PositionLife => ({
    ...intent,
    version: version.name,
    calls: done,
    booked,
    ...more,
  })
  const send = async (does: PositionCall['does'], body: object, name: string): Promise<SwapOutcome> => {
    // Where its gateway is offline a client asks nothing.
    await world.someServer()
    const path = { open: version.openPath, collect: version.collectPath, close: version.closePath }[does]
    // A server takes no id with a space, and gives its own, by which no answer on a line would be found.
    const requestId = `${does}-${intent.id}-${name.replaceAll(' ', '-')}-${random.below(2 ** 32)}`
    const sentAt = world.recorder.clock()
    const outcome = await parts.calls.post(
      parts.way,
      path,
      bodyText(body, intent.amountRaw),
      requestId,
      fateOf(random.fork(name), parts.way),
    )
    done.push({ does, sentAt, endedAt: world.recorder.clock(), requestId, outcome })
    // Killing counts calls: these are of no request whose amount the chain shows as its value.
    const said =
      outcome.is === 'lost'
        ? outcome
        : { is: 'answer' as const, status: outcome.is === 'refusal' ? outcome.status : 200, text: outcome.text }
    world.recorder.calls.push({ request: intent.id, requestId, sentAt, endedAt: world.recorder.clock(), outcome: said })
    if (outcome.is === 'signature') world.recorder.hashes.push(outcome.signature)
    return outcome
  }

  const opened = await open(parts, send)
  if (typeof opened === 'string') return life(opened)
  const known = { position: opened.position, signature: opened.signature, ...(opened.told && { opened: opened.told }) }
  if (intent.wants === 'nothing more') return life('open', known)
  await sleep(random.between(0, 1_500))
  const of = { ...version.on, walletAddress: intent.wallet, positionAddress: opened.position }
  if (random.chance(0.2)) await send('collect', of, 'collect')
  const both = intent.wants === 'two closes' ? ['first', 'second'] : ['first']
  const ends = await Promise.all(both.map((name) => close(parts, opened.position, (own) => send('close', of, `${name} ${own}`))))
  const told = ends.flatMap((end) => (typeof end === 'object' && 'amounts' in end ? [end] : []))
  const unsaid = ends.flatMap((end) => (typeof end === 'object' && !('amounts' in end) ? [end.signature] : []))
  const isClosed = told.length + unsaid.length > 0
  return life(isClosed ? 'closed' : ends.includes('gone') ? 'gone' : 'open', {
    ...known,
    ...(told.length > 0 && { closed: told }),
    ...(unsaid.length > 0 && { unsaid }),
  })
}

type Send = (does: PositionCall['does'], body: object, name: string) => Promise<SwapOutcome>

async function open({ version, intent, pool, leastSlippagePct = 0 }: LifeParts, send: Send) {
  const [lowerPrice, upperPrice] = [pool.price * 0.9, pool.price * 1.1]
  const amounts = pool.isCoinFirst ? { baseTokenAmount: '@', quoteTokenAmount: 5 } : { baseTokenAmount: 5, quoteTokenAmount: '@' }
  let [slipped, refusals, wasLost] = [0, 0, false]
  for (let tries = 0; tries < executors && refusals < 3; tries += 1) {
    if (tries > 0) await sleep(pauseMs)
    const step = version.slippages[Math.min(slipped, version.slippages.length - 1)]
    const slippagePct = step === undefined ? undefined : Math.max(step, leastSlippagePct)
    const body = { ...version.on, walletAddress: intent.wallet, poolAddress: pool.address, lowerPrice, upperPrice, ...amounts }
    const outcome = await send('open', { ...body, ...(slippagePct !== undefined && { slippagePct }) }, `open ${tries}`)
    if (outcome.is === 'signature') {
      const { data = {} } = JSON.parse(outcome.text)
      return { position: String(data.positionAddress), signature: outcome.signature, told: toldOf(outcome, 'Added') }
    }
    wasLost = outcome.is === 'lost'
    if (outcome.is !== 'refusal' || outcome.name === '') continue
    // One that was refused for the price is another wish, as its slippage is another.
    if (outcome.code === 'SLIPPAGE_EXCEEDED') slipped += 1
    else if (outcome.status < 500) refusals += 1
  }
  return wasLost ? 'forgotten' : 'refused'
}

/** As its executor does: it looks first, and asks again after each failure. */
async function close(
  { version, calls, intent }: LifeParts,
  positionAddress: string,
  send: (name: string) => Promise<SwapOutcome>,
): Promise<ToldAmounts | Pick<ToldAmounts, 'signature'> | 'gone' | 'given up'> {
  const query = new URLSearchParams({ ...version.on, positionAddress, walletAddress: intent.wallet })
  let misses = 0
  for (let tries = 0; tries < closes; tries += 1) {
    const looked = await calls.ask('GET', `${version.infoPath}?${query.toString()}`).catch((error: unknown) => String(error))
    misses = typeof looked === 'string' && looked.includes('position closed') ? misses + 1 : 0
    if (misses >= version.misses) return 'gone'
    if (misses === 0) {
      const outcome = await send(String(tries))
      if (outcome.is === 'signature') return toldOf(outcome, 'Removed') ?? { signature: outcome.signature }
    }
    await sleep(version.backoffMs[Math.min(tries, version.backoffMs.length - 1)])
  }
  return 'given up'
}

/** undefined where it does not say them. */
function toldOf(outcome: SwapOutcome, what: 'Added' | 'Removed'): ToldAmounts | undefined {
  if (outcome.is !== 'signature') return undefined
  const { data = {} } = JSON.parse(outcome.text)
  const [base, quote, paid] = [data[`baseTokenAmount${what}`], data[`quoteTokenAmount${what}`], data.fee]
  if (base === undefined || quote === undefined || paid === undefined) return undefined
  const [baseFee, quoteFee] = [data.baseFeeAmountCollected, data.quoteFeeAmountCollected]
  return { signature: outcome.signature, amounts: [base, quote], paid, ...(baseFee !== undefined && { fees: [baseFee, quoteFee] }) }
}

/** A body's amount is a number, as Python writes it: no digit of it may be lost on the way. */
const bodyText = (body: object, amountRaw: bigint): string => JSON.stringify(body).replace('"@"', formatEther(amountRaw))
