import { expect } from 'chai'
import type { Quote, Swap, Token, Venue } from '../../../../../core/contracts/index.ts'
import { createQuotes, type Quotes, type QuoteVenue } from '../../../../../core/live-state/quotes.ts'
import { createSynchronisers, type Synchronisers } from '../../../../../core/live-state/synchroniser.ts'
import type { Evm, EvmReader } from '../../../../../kits/evm/index.ts'
import { poolAMM } from '../../../../../kits/amm/index.ts'
import { uniswapV3 } from '../../../../../kits/amm/v3/index.ts'
import { keeping } from '../../../../live-state/keeping.ts'
import { createRecorder, until } from '../../../../live-state/recorder.ts'
import { initCodeHash } from './quote-checker.ts'
import type { SwapQuery, V3Exchange } from './v3-exchange.ts'

const at = { signal: AbortSignal.timeout(600_000) }
export const tiers = { dense: 100, middle: 500, wide: 3000 } as const

/** The exchange behind quotes from memory that nobody asked before, and from the chain. */
export function openQuotes(exchange: V3Exchange, ends: (() => Promise<void>)[]) {
  const { reader } = exchange
  const calls: number[] = []
  const counting: EvmReader = {
    ...reader,
    read(...args) {
      calls.push(args[0].length)
      return reader.read(...args)
    },
  }
  const place = { chain: 'ethereum', network: 'local' }
  const venue: Venue<Evm> = {
    ...place,
    config: {},
    contracts: { v3RouterAddress: exchange.router, positionManagerAddress: exchange.manager },
    reader: counting,
    nativeCurrency: reader.nativeCurrency,
    tokens: [],
    log: { info() {}, warn() {} },
  }
  const deployments = { 'ethereum/local': { factory: exchange.factory, initCodeHash } }
  const amm = poolAMM(venue, uniswapV3(venue, { deployments, feeTiers: { ...tiers } }))
  const following: Synchronisers = createSynchronisers({ telemetry: createRecorder().telemetry, ...keeping })
  const quotes: Quotes = createQuotes({ following, maxQuotes: 1_000, pairs: { known: [], save: async () => {} } })
  const pricing = amm.followed ?? expect.fail('It is quoted from memory.')
  const quoted: QuoteVenue = { ...place, connector: 'uniswap', chainImpl: exchange.chain, pricing }
  ends.push(async () => {
    await quotes.stop()
    following.stop()
  })
  return {
    reads: () => calls.length,
    /** Until memory is at the newest block. */
    async caughtUp() {
      const number = BigInt(String(await exchange.rpc('eth_blockNumber')))
      await until(() => (following.of(quoted).tip?.number ?? 0n) >= number)
    },
    memory: (swap: Swap) => shown(async () => quotes.quote(quoted, swap, {}, at)),
    chain: (swap: Swap) => shown(async () => amm.quote(swap, {}, at)),
  }
}

/** The quote, or why there is none. */
async function shown(quoting: () => Promise<Quote>) {
  try {
    const { amountRaw, route, parts } = await quoting()
    return { amountRaw, route, parts }
  } catch (error) {
    return String(error instanceof Error ? error.message : error)
  }
}

export function swapOn(exchange: V3Exchange, { zeroForOne, exact, amountRaw }: SwapQuery): Swap {
  const token = (address: string): Token => ({ symbol: address.slice(0, 6), address, decimals: 18 })
  const [one, other] = exchange.tokens.map(token)
  if (!one || !other) throw new Error('There are two tokens.')
  return { tokenIn: zeroForOne ? one : other, tokenOut: zeroForOne ? other : one, exact, amountRaw }
}
