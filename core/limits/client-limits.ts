// What bounds a client on a network: its own limits, and defaults where it may not use thin markets and has none of its own.
import { formatRaw } from '../base/decimal.ts'
import type { Client, ClientLimits } from '../config/clients.ts'
import type { Settings } from '../config/settings.ts'
import { referenceDecimals, type DefaultBasis, type DefaultLimit, type NetworkLimits } from './limit-checks.ts'
import type { NetworkName } from '../base/networks.ts'

/** What defaults of a network are made of. */
export interface NetworkTerms {
  /** What `defaultGas` costs at the network's feeCap, in smallest units of its coin. */
  readonly feesAtCapRaw: bigint
  readonly decimals: number
}

/** Of Ethereum's family. */
export const defaultGas = 1_000_000n
/** Where feeCap is the priority fee of a whole transaction, as on Solana. */
export const defaultTransactions = 100n

export interface ClientLimitsBook {
  /** Undefined where nothing bounds it there. */
  on(client: string, on: NetworkName): NetworkLimits | undefined
  /** Whether defaults may bind a client, on this server or on one before it, or anything has bound one since the start. */
  mayBind(): boolean
  /** The clients to which the default of maxDailyLoss applies. */
  withDefaultLoss(): readonly Client[]
  /** Once networks are known. Before that nobody has defaults. */
  setDefaults(by: DefaultsSource): void
}

interface DefaultsSource {
  /** Undefined where requests are not held against a market: on local networks. */
  termsOf(place: NetworkName): NetworkTerms | undefined
  /** What the client's wallets held in listed tokens when the rolling day began, in millionths of the reference token. */
  heldMicros(client: string): bigint
}

type DefaultSettings = Pick<Settings['limits'], 'maxDailyLossPercent' | 'minDailyLoss' | 'maxFeePercent' | 'maxDailyGasPercent'>

interface ClientLimitsOptions {
  /** As they are now. */
  clients(): readonly Client[]
  /** Those that the client has of its own. */
  ownOf(client: string): ClientLimits | undefined
  settings: DefaultSettings
}

export function createClientLimits({ clients, ownOf, settings }: ClientLimitsOptions): ClientLimitsBook {
  let source: DefaultsSource | undefined
  let wereUsed = false
  /** What was made last, by client and network: it is the same as long as what it is made of is. */
  const made = new Map<string, { readonly of: readonly unknown[]; readonly limits: NetworkLimits }>()
  let bound: { readonly of: readonly Client[]; readonly names: ReadonlySet<string> } = { of: [], names: new Set() }

  /** Those that defaults bind where they have no limits of their own. */
  function boundNames(): ReadonlySet<string> {
    const now = clients()
    if (bound.of !== now) bound = { of: now, names: new Set(now.filter(mayLose).map(({ name }) => name)) }
    return bound.names
  }

  return {
    mayBind: () => wereUsed || boundNames().size > 0,
    withDefaultLoss: () => clients().filter((client) => mayLose(client) && ownOf(client.name)?.maxDailyLoss === undefined),
    setDefaults: (by) => void (source = by),
    on(client, place) {
      const limits = ownOf(client)
      const terms = boundNames().has(client) ? source?.termsOf(place) : undefined
      if (!limits && !terms) return undefined
      wereUsed = true
      const heldMicros = terms && limits?.maxDailyLoss === undefined ? source?.heldMicros(client) : undefined
      const key = `${place.chain}/${place.network} ${client}`
      const of = [limits, terms?.feesAtCapRaw, terms?.decimals, heldMicros]
      const known = made.get(key)
      if (known?.of.every((each, index) => each === of[index])) return known.limits
      const given = limits ? limitsOn(limits, place) : {}
      const all = terms ? withDefaults(given, terms, settings, heldMicros ?? 0n) : given
      made.set(key, { of, limits: all })
      return all
    },
  }
}

/** Who signs, and is not trusted with thin markets. */
const mayLose = ({ permissions }: Client): boolean =>
  (permissions.includes('trade') || permissions.includes('send')) && !permissions.includes('thin')

/** On a network that an amount does not name, nothing may be spent. */
export function limitsOn({ maxFee, maxDailyGas, ...rest }: ClientLimits, place: NetworkName): NetworkLimits {
  return {
    ...rest,
    ...(maxFee !== undefined && { maxFee: amountOn(maxFee, place) }),
    ...(maxDailyGas !== undefined && { maxDailyGas: amountOn(maxDailyGas, place) }),
  }
}

const amountOn = (amount: string | Readonly<Record<string, string>>, { chain, network }: NetworkName): string =>
  typeof amount === 'string' ? amount : (amount[`${chain}/${network}`] ?? '0')

function withDefaults(
  given: NetworkLimits,
  { feesAtCapRaw, decimals }: NetworkTerms,
  { maxFeePercent, maxDailyGasPercent, maxDailyLossPercent, minDailyLoss }: DefaultSettings,
  heldMicros: bigint,
): NetworkLimits {
  const amounts: Partial<Record<DefaultLimit, string>> = {}
  const defaults = new Map<DefaultLimit, DefaultBasis>()
  const add = (limit: DefaultLimit, unitDecimals: number, basis: DefaultBasis): void => {
    if (given[limit] !== undefined) return
    amounts[limit] = formatRaw(amountOf(basis), unitDecimals)
    defaults.set(limit, basis)
  }
  add('maxFee', decimals, { percent: maxFeePercent, ofRaw: feesAtCapRaw })
  add('maxDailyGas', decimals, { percent: maxDailyGasPercent, ofRaw: feesAtCapRaw })
  add('maxDailyLoss', referenceDecimals, {
    percent: maxDailyLossPercent,
    ofRaw: heldMicros,
    atLeastRaw: BigInt(Math.round(minDailyLoss * 1e6)),
  })
  return { ...amounts, ...given, defaults }
}

function amountOf({ percent, ofRaw, atLeastRaw = 0n }: DefaultBasis): bigint {
  const raw = (ofRaw * BigInt(Math.round(percent * 1e6))) / 100_000_000n
  return raw > atLeastRaw ? raw : atLeastRaw
}
