import { createClock } from './clock.ts'
import { createDriver, type Driver } from './driver.ts'
import { createEngine } from './engine.ts'
import { createFeed, type Feed } from './feed/feed.ts'
import { createJudge } from './judge.ts'
import { defaultRules, type Rules } from './rules.ts'
import type { ServedExchange } from './serve/answer.ts'
import { createFaults, type Faults } from './serve/faults.ts'
import { serveHttp } from './serve/http.ts'
import { acceptSockets } from './serve/sockets.ts'
import { createWeights } from './serve/weights.ts'
import { createNonces } from './signing/nonces.ts'

export interface ExchangeOptions extends Partial<Rules> {
  testnet?: boolean
}

/** Hyperliquid as its clients see it, on this machine: a matching engine with its money, behind the same HTTP and websocket protocol. */
export interface HyperliquidExchange extends Driver {
  readonly testnet: boolean
  readonly apiUrl: string
  readonly wsUrl: string
  readonly faults: Faults
  /** Of the websockets. */
  readonly feed: Pick<Feed, 'connections' | 'cut' | 'welcome' | 'silence' | 'tamper'>
  /** What did not fit the client library's schemas so far; it counts no more. */
  takeViolations(): string[]
  /** @throws Error where anything that was said did not fit the schemas that the client library publishes */
  stop(): Promise<void>
}

export async function startExchange({ testnet = false, ...rules }: ExchangeOptions = {}): Promise<HyperliquidExchange> {
  const [clock, judge, faults] = [createClock(), createJudge(), createFaults()]
  const engine = createEngine(testnet, { ...defaultRules, ...rules }, clock)
  const served: ServedExchange = { engine, nonces: createNonces(), judge, weights: createWeights(clock, engine.rules) }
  const feed = createFeed(served)
  const { server, port } = await serveHttp(served, faults, feed.changed)
  acceptSockets(server, feed.isWelcome, feed.serve)
  return {
    ...createDriver(engine, feed.changed),
    testnet,
    apiUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}/ws`,
    faults,
    feed,
    takeViolations: judge.takeViolations,
    stop: async () => {
      feed.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      const [first, ...more] = judge.violations
      if (first) throw new Error(`${more.length + 1} times something did not fit the published schemas, first ${first}`)
    },
  }
}
