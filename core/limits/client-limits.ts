// What bounds a client on a network: its own limits, and defaults where it may not use thin markets and has none of its own.
import { formatRaw } from '../base/decimal.ts'
import type { Client, ClientLimits } from '../config/clients.ts'
import type { Settings } from '../config/settings.ts'
import { referenceDecimals, type DefaultLimit, type NetworkLimits, type NetworkName } from './limit-checks.ts'

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
      const given = limits ? limitsOn(limits, place) : {}
      if (!terms || !source) return given
      const added = defaultsFor(given, terms, settings, () => source?.heldMicros(client) ?? 0n)
      return { ...added, ...given, defaults: new Set(Object.keys(added) as DefaultLimit[]) }
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

function defaultsFor(
  given: NetworkLimits,
  { feesAtCapRaw, decimals }: NetworkTerms,
  { maxFeePercent, maxDailyGasPercent, maxDailyLossPercent, minDailyLoss }: DefaultSettings,
  heldMicros: () => bigint,
): Partial<Record<'maxFee' | 'maxDailyGas' | 'maxDailyLoss', string>> {
  return {
    ...(given.maxFee === undefined && { maxFee: formatRaw(shareOf(feesAtCapRaw, maxFeePercent), decimals) }),
    ...(given.maxDailyGas === undefined && { maxDailyGas: formatRaw(shareOf(feesAtCapRaw, maxDailyGasPercent), decimals) }),
    ...(given.maxDailyLoss === undefined && { maxDailyLoss: dailyLoss(shareOf(heldMicros(), maxDailyLossPercent), minDailyLoss) }),
  }
}

const shareOf = (raw: bigint, percent: number): bigint => (raw * BigInt(Math.round(percent * 1e6))) / 100_000_000n

function dailyLoss(shareMicros: bigint, minDailyLoss: number): string {
  const floorMicros = BigInt(Math.round(minDailyLoss * 1e6))
  return formatRaw(shareMicros > floorMicros ? shareMicros : floorMicros, referenceDecimals)
}
