// What a mined transaction moved into and out of its wallet, to the unit: the journal keeps it once the transaction is final. Tokens by their events in the
// receipt; the native coin, which has no events, by what was sent, by the exchange's event, else by the balances around its block. Fees are no part of it.
import type { Json } from '../contracts/index.ts'
import { withTimeout } from '../base/async.ts'
import { isSameAddress } from '../base/addresses.ts'
import type { NetworkEntry, Registry } from '../plugins/index.ts'
import { landedId, type Entry } from '../transactions/entry.ts'
import type { MovementReadings } from '../transactions/entry-mover.ts'
import { networkOf } from './limited-amounts.ts'
import { coinExchangedBy, exchangesCoinOf, receiptGains } from './mined-amounts.ts'
import { dropOldest } from '../base/oldest.ts'

type Networks = Pick<Registry, 'networks' | 'plannedBy'>

interface Parts {
  readonly registry: Networks
  readonly timeoutMs: number
}

interface Reading {
  /** Of a block: after a reorganisation it is read again. */
  readonly id: string
  state: 'reading' | 'failed' | 'done'
  coinRaw?: bigint | undefined
}

/** A final transaction does not wait longer than this for its block's balances: then it says that the coin is not known. */
const inlineMs = 1_000
const maxReadings = 10_000

export function createMovementReadings({ registry, timeoutMs }: Parts): MovementReadings {
  const readings = new Map<string, Reading>()

  function readingOf(entry: Entry): Reading | undefined {
    const found = readings.get(entry.key)
    return found?.id === landedId(entry) ? found : undefined
  }

  function start(entry: Entry, newest: bigint): Promise<void> | undefined {
    const { landed, address, state, signer } = entry
    if (!landed?.ok || signer !== undefined || (state !== 'MINED' && state !== 'CONFIRMED')) return undefined
    const known = readingOf(entry)
    if (known && known.state !== 'failed') return undefined
    const on = networkOf(entry, registry)
    // Asked for the newest block while it makes the next one, anvil answers with the state of that. What is not final yet can wait for it.
    if (on?.impl.local && state === 'MINED' && BigInt(landed.blockNumber) >= newest) return undefined
    const coinGain = on?.impl.evm?.coinGain
    if (!on || !coinGain || told(() => coinByReceipt(entry, landed.receipt, on, registry)) !== undefined) return undefined
    const reading: Reading = { id: landedId(entry), state: 'reading' }
    readings.delete(entry.key)
    readings.set(entry.key, reading)
    dropOldest(readings, maxReadings)
    return coinGain(landed.receipt, address, { signal: AbortSignal.timeout(timeoutMs) }).then(
      (coinRaw) => void Object.assign(reading, { state: 'done', coinRaw }),
      () => void (reading.state = 'failed'),
    )
  }

  return {
    async begin(entries, newest) {
      const started = entries.flatMap((entry) => told(() => start(entry, newest)) ?? [])
      if (started.length > 0) await withTimeout(Promise.all(started), inlineMs, () => {})
    },
    of: (entry) => told(() => movementsOf(entry, registry, readingOf(entry)?.coinRaw)),
    forget: ({ key }) => void readings.delete(key),
  }
}

/** Undefined where the receipt does not tell, as on an exchange's own rail. */
function movementsOf(entry: Entry, registry: Networks, coinReadRaw: bigint | undefined): Entry['movements'] {
  const { landed, address, signer } = entry
  const on = networkOf(entry, registry)
  if (!landed || signer !== undefined || !on) return undefined
  const { evm, movements, nativeCurrency } = on.impl
  if (movements) return kept(movements(landed.receipt, address))
  if (!evm?.gains) return undefined
  // What a transaction sent comes back when it fails.
  if (!landed.ok) return {}
  const coinRaw = coinByReceipt(entry, landed.receipt, on, registry) ?? coinReadRaw
  const coin = coinRaw === undefined ? { [nativeCurrency.address]: null } : kept(new Map([[nativeCurrency.address, coinRaw]]))
  return { ...kept(withoutSpam(receiptGains(on, landed.receipt, address) ?? new Map(), entry, on)), ...coin }
}

/** Any token can write as many events as it likes: of tokens that nobody lists and the plan does not name, and of ids, the first are kept. */
function withoutSpam(gains: ReadonlyMap<string, bigint>, { planned }: Entry, { impl, tokens }: NetworkEntry): ReadonlyMap<string, bigint> {
  if (gains.size <= maxStrangers) return gains
  const named = JSON.stringify(planned ?? null).toLowerCase()
  const isKnown = (token: string) =>
    tokens.listedAt(token) !== undefined || token === impl.evm?.wrapped?.token.address || named.includes(token.toLowerCase())
  let [ids, strangers] = [0, 0]
  return new Map(
    [...gains].filter(([token]) => (token.includes('/') ? (ids += 1) <= maxStrangers : isKnown(token) || (strangers += 1) <= maxStrangers)),
  )
}

const maxStrangers = 64

const kept = (gains: ReadonlyMap<string, bigint> | undefined): Entry['movements'] =>
  gains && Object.fromEntries([...gains].flatMap(([token, raw]) => (raw === 0n ? [] : [[token, raw.toString()]])))

/** What moved of the native coin, as far as the receipt and what was sent tell it; undefined: its balances have to be read. */
function coinByReceipt(entry: Entry, receipt: Json, on: NetworkEntry, registry: Networks): bigint | undefined {
  const { kind, step, address, part } = entry
  const { contracts, valueRaw } = on.impl.rail.outline(step)
  const { evm } = on.impl
  switch (kind) {
    case 'approve':
    case 'cancel':
    case 'fill':
      return valueRaw === 0n ? 0n : undefined
    case 'send': {
      // Where the coin is a token, too, events of the token move it.
      if (!evm?.wrapped) return undefined
      const [to] = contracts
      return to !== undefined && isSameAddress(to, address) ? 0n : -valueRaw
    }
    case 'wrap': {
      const wrappedRaw = evm?.wrapped && receiptGains(on, receipt, address)?.get(evm.wrapped.token.address)
      return wrappedRaw === undefined || (valueRaw > 0n && wrappedRaw !== valueRaw) ? undefined : -wrappedRaw
    }
    case 'trade': {
      if (!exchangesCoinOf(entry, on)) return valueRaw === 0n ? 0n : undefined
      const exchangedRaw = part.of === 1 ? coinExchangedBy(entry, receipt, on, registry) : undefined
      return exchangedRaw !== undefined && exchangedRaw >= -valueRaw ? exchangedRaw : undefined
    }
    default:
      return undefined
  }
}

/** Nothing here keeps a transaction from being final. */
function told<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
