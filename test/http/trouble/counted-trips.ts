import type { RoundTrip } from '../../../testkit/round-trips.ts'
import { healthy, type FaultyProxy } from './faulty-proxy.ts'

/** What a feed of heads asks for, whether anything else is asked or not. */
const ofHeads = ['eth_getBlockByNumber', 'eth_maxPriorityFeePerGas']

/** The HTTP requests that pass a proxy on their way to a node, but for those for its newest head. */
export async function countedTrips(proxy: FaultyProxy) {
  let taken: RoundTrip[] = []
  let answered = 0
  let open = 0
  await proxy.become(async (exchange) => {
    const trip = { methods: exchange.methods, step: answered + 1 }
    const isOfHeads = exchange.methods.every((method) => ofHeads.includes(method))
    if (!isOfHeads) {
      taken.push(trip)
      open += 1
    }
    try {
      await healthy(exchange)
    } finally {
      if (!isOfHeads) open -= 1
    }
    if (!isOfHeads) answered = Math.max(answered, trip.step)
  })
  return {
    /** How many wait for an answer. */
    get open() {
      return open
    },
    /** Since they were last taken. */
    take(): readonly RoundTrip[] {
      const all = taken
      taken = []
      answered = 0
      return all
    },
  }
}
