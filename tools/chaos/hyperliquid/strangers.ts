import { setTimeout as sleep } from 'node:timers/promises'
import type { HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import type { Random } from '../random.ts'

const stranger = '0x5742a90000000000000000000000000000000000'

/** Where the bots' orders are, and lots that are worth more than the least order. */
const places = [
  { coin: '@107', price: (random: Random) => (39.5 + random.below(21) * 0.05).toFixed(2), size: '0.4' },
  { coin: 'ETH', price: (random: Random) => String(3980 + random.below(21) * 2), size: '0.0041' },
] as const

/** Others who trade there: what they take races with what the bots cancel. */
export async function strangersTrade(exchange: HyperliquidExchange, random: Random, over: AbortSignal): Promise<void> {
  const resting: number[] = []
  while (!over.aborted) {
    const { coin, price, size } = random.pick(places)
    const side = random.pick(['BUY', 'SELL'] as const)
    const { oid, isOpen } = exchange.place(stranger, { coin, side, price: price(random), size })
    if (isOpen) resting.push(oid)
    if (resting.length > 6) for (const oldest of resting.splice(0, 1)) exchange.cancel(stranger, oldest)
    await sleep(random.between(30, 250), undefined, { signal: over }).catch(() => {})
  }
}
