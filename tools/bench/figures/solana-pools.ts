import { startChild } from '../child.ts'
import { median, ms, times, type Row } from '../measuring.ts'
import type { PoolQuotesProcess } from '../processes/pool-quotes.ts'
import type { SolanaNodeProcess } from '../processes/solana-node.ts'
import type { SolanaPoolsProcess } from '../processes/solana-pools.ts'

const rounds = 9
const quotesAtOnce = 10_000
/** A slot takes 0.4 s. */
const slotMs = 400
const [pools, changed, slotsAtOnce] = [1_000, 100, 10]

/** Quotes by the arithmetic of one pool of Solana beside one of v3, and what a slot costs where 1,000 pools are followed, beside the slot. */
export async function solanaPools(): Promise<Row[]> {
  const [ours, range] = [await startChild<SolanaPoolsProcess>('solana-pools'), await startChild<PoolQuotesProcess>('pool-quotes')]
  const node = await startChild<SolanaNodeProcess>('solana-node')
  try {
    const accounts = await node.ask('hold', pools)
    await ours.ask('follow', { pools, port: await node.ask('port') })
    let [slot, calls] = [0, 0]
    /** Of one slot, in the middle of some: what is collected of memory belongs to it. */
    const slotCpuMs = async () => {
      const took: number[] = []
      for (let each = 0; each < slotsAtOnce; each += 1) {
        slot += 1
        calls = await node.ask('pass', { slot, changed })
        const { cpuMs, moved } = await ours.ask('slot', slot)
        if (moved !== changed) throw new Error(`${moved} pools were moved by a slot that changed ${changed}.`)
        took.push(cpuMs)
      }
      return took.reduce((sum, each) => sum + each, 0) / took.length
    }
    const seen = { cpmm: [] as number[], damm: [] as number[], v3: [] as number[], slot: [] as number[] }
    for (let round = -1; round < rounds; round += 1) {
      const one = {
        cpmm: await ours.ask('cpmm', quotesAtOnce),
        damm: await ours.ask('damm', quotesAtOnce),
        v3: await range.ask('rangeProcessor', { exact: 'in', zeroForOne: round % 2 === 0, ticksCrossed: 0, quotes: quotesAtOnce }),
        slot: await slotCpuMs(),
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
    const ofSlot = median(seen.slot)
    return [
      beside('a quote by a pool of CPMM; reference: of v3, within one tick', median(seen.cpmm)),
      beside('a quote by a pool of DAMM v2; reference: the same', median(seen.damm)),
      {
        name: `a slot of ${pools} pools with ${accounts} accounts (${calls} calls), a tenth of them changed; reference: a slot`,
        value: ms(ofSlot),
        reference: ms(slotMs),
        ratio: times(ofSlot, slotMs),
      },
    ]
  } finally {
    await Promise.all([ours.end(), range.end(), node.end()])
  }
}
