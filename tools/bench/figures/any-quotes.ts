import { startChild } from '../child.ts'
import type { AnyQuotesProcess } from '../processes/any-quotes.ts'
import { micros, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 9
const quotes = 500

/** Amounts that nobody has asked for before, in process: the best of all connectors, beside the sum of each of them asked. */
export async function anyQuotes(): Promise<Row[]> {
  const child = await startChild<AnyQuotesProcess>('any-quotes')
  try {
    const { asked, priced } = await child.ask('connectors')
    const [best, each]: [number[], number[]] = [[], []]
    for (let round = -1; round < rounds; round += 1) {
      const [one, other] = [
        await child.ask('any', { quotes, offset: (2 * round + 2) * quotes }),
        await child.ask('each', { quotes, offset: (2 * round + 3) * quotes }),
      ]
      // What is measured is warm code.
      if (round < 0) continue
      best.push(one)
      each.push(other)
    }
    const [value, reference] = [median(best), median(each)]
    const name = `${asked} connectors, ${priced} with the pair`
    return [{ name, value: micros(value), reference: micros(reference), ratio: times(value, reference) }]
  } finally {
    await child.end()
  }
}
