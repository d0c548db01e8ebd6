// How much is going on: trades an hour, their slippage and gas, and quotes.
import { useEffect, useState } from 'preact/hooks'
import { serverNow } from './api.ts'
import { profitByHour } from './profit.ts'
import { Plot, type Series } from './plot.tsx'
import { useResource } from './resource.ts'
import { Section } from './section.tsx'
import { takeIntoList } from './transaction-events.ts'
import { plain } from './text.tsx'
import type { Transaction } from './transaction-words.ts'

const [hourMs, hours, most] = [3_600_000, 24, 500]

/** The beginning of the first of the last hours. */
const firstHour = (): number => (Math.floor(serverNow() / hourMs) - hours + 1) * hourMs

export function Activity() {
  const trades = useResource(
    '/transactions',
    { kind: 'trade', limit: most },
    {
      // So many at once are much to read: events tell what is new.
      everySeconds: 900,
      after: { transactions: takeIntoList({ kind: 'trade' }) },
      asOfNow: () => ({ since: new Date(firstHour()).toISOString() }),
    },
  )
  const quotes = useQuotes()
  return (
    <Section title="The last day" of={trades}>
      {({ transactions, nextCursor }) => (
        <>
          {nextCursor !== undefined && <p class="none">The newest {most} trades are counted.</p>}
          <div class="plots">
            {seriesOf(transactions, firstHour()).map((series) => (
              <Plot key={series.name} of={series} />
            ))}
            {quotes.times.length > 0 && <Plot of={{ name: 'Quotes a minute, since this page was opened', ...quotes }} />}
          </div>
          {quotes.times.length === 0 && <p class="none">How many quotes a minute there are is shown after the first minute.</p>}
        </>
      )}
    </Section>
  )
}

/** @param from the beginning of the first hour */
export function seriesOf(trades: readonly Transaction[], from: number): Series[] {
  const byHour = Array.from({ length: hours }, (): Transaction[] => [])
  for (const trade of trades) byHour[Math.floor((trade.createdAt - from) / hourMs)]?.push(trade)
  const times = byHour.map((_, hour) => (from + hour * hourMs) / 1000)
  const mean = (values: readonly number[]) => (values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length)
  const slippages = (of: readonly Transaction[]) => of.flatMap(({ slippage }) => (slippage ? [Number(slippage.quote) * 100] : []))
  const coins = [...new Set(trades.flatMap(({ cost }) => cost?.feeToken ?? []))]
  return [
    { name: 'Trades an hour', times, values: byHour.map((of) => of.length) },
    {
      name: 'Failed trades an hour',
      times,
      values: byHour.map((of) => of.filter(({ txState }) => txState === 'REVERTED' || txState === 'DROPPED').length),
    },
    { name: 'Slippage against the quote, %', times, values: byHour.map((of) => mean(slippages(of))) },
    ...profitByHour(trades, { from, hours, hourMs }).map(({ quote, values }) => ({
      name: `Profit made an hour without gas, ${plain(quote, 32)}`,
      times,
      values,
    })),
    ...coins.map((coin) => ({
      name: `Gas an hour, ${coin}`,
      times,
      values: byHour.map((of) => of.reduce((sum, { cost }) => sum + (cost?.feeToken === coin ? Number(cost.fee) : 0), 0)),
    })),
  ]
}

const sampleMs = 60_000
/** Kept while the page is open, whichever view is shown. */
const samples: { readonly at: number; readonly count: number }[] = []

/** The server counts quotes from its start, so two readings make a point. */
function useQuotes(): Pick<Series, 'times' | 'values'> {
  const [, changed] = useState(0)
  useEffect(() => {
    const sample = async (): Promise<void> => {
      const last = samples.at(-1)
      if (document.visibilityState === 'hidden' || (last && Date.now() - last.at < sampleMs - 1_000)) return
      const text = await fetch('/metrics').then(
        (answer) => (answer.ok ? answer.text() : undefined),
        () => undefined,
      )
      // What was not read is no count.
      if (text === undefined) return
      const counts = [...text.matchAll(/^sluice_quotes_total(?:\{.*\})? (\d+(?:\.\d+)?(?:e\+\d+)?)$/gm)].map(([, count]) => Number(count))
      samples.push({ at: Date.now(), count: counts.reduce((sum, each) => sum + each, 0) })
      if (samples.length > 24 * 60) samples.shift()
      changed((count) => count + 1)
    }
    void sample()
    const timer = setInterval(() => void sample(), sampleMs)
    return () => clearInterval(timer)
  }, [])
  const points = samples.slice(1).flatMap(({ at, count }, index) => {
    const before = samples[index]
    // A server that was restarted counts from nothing.
    return before && count >= before.count ? [{ at, rate: ((count - before.count) * 60_000) / (at - before.at) }] : []
  })
  return { times: points.map(({ at }) => Math.floor(at / 1000)), values: points.map(({ rate }) => rate) }
}
