import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { SluiceError, type AMM, type Chain, type FollowedPricing, type Quote, type Swap } from '../../../../core/contracts/index.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { createLiveState } from '../../../../core/live-state/live-state.ts'
import { type QuoteVenue } from '../../../../core/live-state/quotes.ts'
import { temporaryFolder } from '../../../devnet/test-devnet.ts'
import { until } from '../../../live-state/recorder.ts'
import type { TestChain } from '../../evm/test-chain.ts'
import { at } from '../devnet-fixture.ts'
import type { Random } from './any-swap.ts'

export type Choice = Parameters<AMM['quote']>[1]
export type QuoteFromMemory = (swap: Swap, choice: Choice) => Promise<Quote>

/** An exchange, its possible changes, and how its quotes are compared. */
export interface WalkedExchange {
  readonly chain: Chain<Evm>
  readonly amm: AMM<Evm>
  /** To the node, by `consistentReads`. */
  readonly rpc: TestChain['rpc']
  /** Mines blocks of its own. */
  happen(round: number, remembered: QuoteFromMemory): Promise<unknown>
  anySwap(): Swap
  anyChoice?(): Choice
  hold(give: () => Promise<Quote>, swap: Swap, choice: Choice, what: string): Promise<unknown>
}

export const seed = Number(process.env['SLUICE_WALK_SEED'] ?? 1)
const wanted = process.env['SLUICE_WALK_QUOTES']
const ofAll = 3_000
/** The quotes of one walk: SLUICE_WALK_QUOTES, or its share of those that all walks play in `npm run test:rest`. */
export const quotesOf = (share: number): number => (wanted === undefined ? Math.ceil(ofAll * share) : Number(wanted))
export const msOf = (quotes: number): number => 180_000 + quotes * 300

const deepest = 5
const mostTries = 4
/** One of this many blocks begins a reorganisation. */
const reorganised = 11

/** Asks again where a busy machine did not read in time, as the refusal says. */
export async function patiently<T>(ask: () => T | Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await ask()
    } catch (error) {
      if (tries === mostTries || !(error instanceof SluiceError) || error.name !== 'NETWORK') throw error
      // A node that failed is not asked again at once.
      await sleep(1_000 * (error.retryAfterSeconds ?? 1))
    }
}

/**
 * So many quotes from memory, some after every block of a random walk, over reorganisations; samples are compared all the while. Gives
 * what was told of the memory.
 */
export async function walkInMemory(walked: WalkedExchange, { below }: Random, quotes: number, quotesEach: number) {
  const { chain, amm, rpc, happen, anySwap, anyChoice = () => ({}), hold } = walked
  const told = { different: 0, equal: 0, defect: 0, reload: 0, reorganisation: 0 }
  const count = (what: string) => {
    if (Object.hasOwn(told, what)) told[what as keyof typeof told] += 1
  }
  const counters = { trouble: (_: unknown, what: string) => count(what), check: (_: unknown, what: string) => count(what), update() {} }
  /** Why, with the place in the code: hundreds may have one reason. */
  const reasons = new Set<string>()
  const warn = ({ trouble, err, ...fields }: { trouble?: unknown; err?: unknown; differences?: unknown }, reason: string) => {
    if (trouble === 'defect') reasons.add(err instanceof Error ? (err.stack ?? err.message) : reason)
    if (fields.differences) reasons.add(`${reason}: ${JSON.stringify(fields, null, 1)}`)
  }
  const place = await temporaryFolder()
  const market = createLiveState(
    { staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 60, checkSeconds: 1, cachedQuotes: 1_000 },
    place.folder,
    { info() {}, warn },
    counters,
  )
  // As the registry passes a family's plugins to code that knows no family.
  const pricing = amm.followed as unknown as FollowedPricing
  const chainImpl = chain as unknown as QuoteVenue['chainImpl']
  const venue: QuoteVenue = { chain: 'ethereum', network: 'local', connector: 'walked', chainImpl, pricing }
  const remembered = (swap: Swap, choice: Choice): Promise<Quote> => patiently(() => market.quotes.quote(venue, swap, choice, at()))

  /** The memory equals the chain now. */
  async function caughtUp(): Promise<void> {
    const block = await rpc('eth_getBlockByNumber', 'latest', false)
    const hash = typeof block === 'object' && block !== null && 'hash' in block ? block.hash : undefined
    await until(() => market.following.all()[0]?.synchroniser.tip?.hash === hash, 'the newest block in memory')
  }

  try {
    await remembered(anySwap(), {}).catch(() => undefined)
    for (let [round, asked] = [0, 0]; asked < quotes; round += 1) {
      if (round % reorganised === 5) await rpc('anvil_reorg', 1 + below(deepest), [])
      else await happen(round, remembered)
      await caughtUp()
      const questions = Array.from({ length: quotesEach }, () => ({ swap: anySwap(), choice: anyChoice() }))
      await Promise.all(
        questions.map(({ swap, choice }, index) =>
          hold(() => remembered(swap, choice), swap, choice, `seed ${seed}, round ${round}, quote ${index}`),
        ),
      )
      asked += quotesEach
    }
    await until(() => told.equal > 0, 'a sample that was compared')
    expect(told.reorganisation, 'reorganisations').to.be.above(0)
    expect([told.different, told.defect], [...reasons].join('\n')).to.deep.equal([0, 0])
    return told
  } finally {
    await market.stop()
    await place.remove()
  }
}
