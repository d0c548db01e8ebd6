import { startChild } from '../child.ts'
import { median, ms, times, type Row } from '../measuring.ts'
import type { PoolQuotesProcess } from '../processes/pool-quotes.ts'
import type { SolanaPoolsProcess } from '../processes/solana-pools.ts'

const rounds = 9
const quotesAtOnce = 10_000
/** A slot takes 0.4 s. */
const slotMs = 400

/** Quotes by the arithmetic of one pool of Solana beside one of v3, and what a slot costs where 1,000 pools are followed, beside the slot. */
export async function solanaPools(): Promise<Row[]> {
  const [ours, range] = [await startChild<SolanaPoolsProcess>('solana-pools'), await startChild<PoolQuotesProcess>('pool-quotes')]
  try {
    const seen = { cpmm: [] as number[], damm: [] as number[], v3: [] as number[], slot: [] as number[] }
    for (let round = -1; round < rounds; round += 1) {
      const one = {
        cpmm: await ours.ask('cpmm', quotesAtOnce),
        damm: await ours.ask('damm', quotesAtOnce),
        v3: await range.ask('rangeProcessor', { exact: 'in', zeroForOne: round % 2 === 0, ticksCrossed: 0, quotes: quotesAtOnce }),
        slot: await ours.ask('slots', { pools: 1_000, changed: 100, slots: 10 }),
      }
      // What is measured is warm code.
      if (round < 0) continue
      for (const name of ['cpmm', 'damm', 'v3', 'slot'] as const) seen[name].push(one[name])
    }
    const reference = median(seen.v3)
    const beside = (name: string, value: number): Row => ({
      name,
      value: `${Math.round(value)} ns`,
      reference: `${Math.round(reference)} ns`,
      ratio: times(value, reference),
    })
    const slot = median(seen.slot)
    return [
      beside('a quote by a pool of CPMM; reference: of v3, within one tick', median(seen.cpmm)),
      beside('a quote by a pool of DAMM v2; reference: the same', median(seen.damm)),
      {
        name: 'a slot of 1,000 pools, a tenth of them changed; reference: a slot',
        value: ms(slot),
        reference: ms(slotMs),
        ratio: times(slot, slotMs),
      },
    ]
  } finally {
    await Promise.all([ours.end(), range.end()])
  }
}
