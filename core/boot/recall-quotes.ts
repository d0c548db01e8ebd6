import { quoteVenue } from '../verbs/amm/swap.ts'
import type { Services } from '../handlers/context.ts'

/** What was asked about before is in memory again soon after the start, on the networks that are required: others wake when they are asked for. */
export function recallQuotes({ directory, quotes }: Pick<Services, 'directory' | 'quotes'>): void {
  for (const network of directory.networks) {
    if (!network.required) continue
    for (const venue of directory.venuesOn(network.chain, network.network)) {
      const followed = quoteVenue(network, venue)
      if (followed) void venue.wake().then(() => (venue.notReady() === undefined ? quotes.recall(followed) : undefined))
    }
  }
}
