// What receipts do not tell of mined transactions, read at the node before these are final: what an allowance held before it was changed, and what the
// wallet's coin did. It settles limits of clients. What cannot be read stays counted as it was reserved.
import type { At, Json } from '../contracts/index.ts'
import { landedId, type Entry } from '../transactions/entry.ts'
import type { MinedComparison } from '../transactions/comparisons.ts'
import { allowanceName } from '../limits/refundable.ts'
import type { NetworkEntry, Registry } from '../plugins/index.ts'
import { networkOf } from './limited-amounts.ts'
import { countedApprovals, needsCoinGain, type ReadBesideReceipt } from './mined-amounts.ts'
import { dropOldest } from '../base/oldest.ts'

export interface MinedReadings extends ReadBesideReceipt {
  /** What begins a reading; undefined where there is nothing to read. */
  readonly read: MinedComparison
}

interface Parts {
  readonly registry: Pick<Registry, 'networks' | 'plannedBy' | 'venuesOn'>
  /** Whether a client has limits there. */
  isLimited(entry: Entry): boolean
  /** Whether no client has, nor had some. */
  isIdle(): boolean
  readonly timeoutMs: number
}

interface Reading {
  /** Of a block: after a reorganisation it is read again. */
  readonly id: string
  /** By name. */
  readonly allowances: Map<string, bigint>
  coinGainRaw?: bigint | undefined
}

const maxReadings = 10_000

type CoinChange = readonly [receipt: Json, wallet: string]

/** What is asked for at the same moment is one question to the node. */
function createCoinReadings() {
  const asked = new Map<NetworkEntry, { readonly all: CoinChange[]; readonly answers: Promise<readonly (bigint | undefined)[]> }>()

  async function readAll(on: NetworkEntry, all: readonly CoinChange[], at: () => At): Promise<readonly (bigint | undefined)[]> {
    await Promise.resolve()
    asked.delete(on)
    const { evm } = on.impl
    if (evm?.coinChanges) return evm.coinChanges(all, at())
    return Promise.all(all.map(async ([receipt, wallet]) => evm?.coinGain?.(receipt, wallet, at())))
  }

  return {
    /** Coin that others sent in the block may be in it: limits only believe what the exchange's event says, too. */
    async read(on: NetworkEntry, change: CoinChange, at: () => At): Promise<bigint | undefined> {
      let together = asked.get(on)
      if (!together) {
        const all: CoinChange[] = []
        together = { all, answers: readAll(on, all, at) }
        asked.set(on, together)
      }
      const index = together.all.push(change) - 1
      return (await together.answers)[index]
    },
  }
}

export function createMinedReadings({ registry, isLimited, isIdle, timeoutMs }: Parts): MinedReadings {
  const readings = new Map<string, Reading>()
  const coins = createCoinReadings()

  function readingOf(entry: Entry): Reading | undefined {
    const found = readings.get(entry.key)
    return found?.id === landedId(entry) ? found : undefined
  }

  function begin(entry: Entry): Reading {
    const reading: Reading = readingOf(entry) ?? { id: landedId(entry), allowances: new Map() }
    readings.delete(entry.key)
    readings.set(entry.key, reading)
    dropOldest(readings, maxReadings)
    return reading
  }

  return {
    read(entry) {
      const { kind, landed, address } = entry
      if ((kind !== 'approve' && kind !== 'trade') || !landed?.ok || isIdle()) return undefined
      const on = networkOf(entry, registry)
      const evm = on?.impl.evm
      if (!on || !evm) return undefined
      const at = () => ({ signal: AbortSignal.timeout(timeoutMs) })
      if (kind === 'approve') {
        // Also of a client without limits: it may revoke what another one approved.
        const asked = countedApprovals(entry, on, registry)
        const { allowanceBefore } = evm
        if (asked.length === 0 || !allowanceBefore) return undefined
        return async () => {
          const { allowances } = begin(entry)
          for (const each of asked) allowances.set(allowanceName(entry, each), await allowanceBefore(landed.receipt, address, each, at()))
        }
      }
      if ((!evm.coinChanges && !evm.coinGain) || !isLimited(entry) || !needsCoinGain(entry, on, registry)) return undefined
      return async () => {
        const reading = begin(entry)
        reading.coinGainRaw = await coins.read(on, [landed.receipt, address], at)
      }
    },
    allowanceBefore: (entry, allowance) => readingOf(entry)?.allowances.get(allowanceName(entry, allowance)),
    coinGain: (entry) => readingOf(entry)?.coinGainRaw,
  }
}
