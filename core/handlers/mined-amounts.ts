// What a mined transaction did to its wallet, by its receipt alone.
import { isObject } from '../base/json.ts'
import type { Json, PerpFill } from '../contracts/index.ts'
import type { NetworkEntry, Registry } from '../plugins/index.ts'
import type { Entry } from '../transactions/entry.ts'
import { readAboutPosition } from './perp/fills.ts'
import { exchangedBy } from './perp/losses.ts'

/**
 * By token address, what the wallet gained or gave, smallest units; of a perpetual by its two sides. Undefined where the chain's receipts do not tell.
 * The native coin leaves no event.
 */
export function gainsOf(entry: Entry, registry: Pick<Registry, 'networks' | 'plannedBy'>): ReadonlyMap<string, bigint> | undefined {
  const { chain, network, landed, address } = entry
  const on = registry.networks.find((each) => each.chain === chain && each.network === network)
  if (!on || !landed) return undefined
  return entry.kind === 'position' ? positionGains(entry, landed.receipt, on, registry) : on.impl.evm?.gains?.(landed.receipt, address)
}

/** By a built-in connector alone: others may say what they like. */
function positionGains(entry: Entry, receipt: Json, on: NetworkEntry, registry: Pick<Registry, 'plannedBy'>) {
  const venue = registry.plannedBy(entry, on)
  if (!venue?.builtIn || receipt === null) return undefined
  try {
    const fill: PerpFill | undefined | Promise<unknown> = venue.impl.PERP_AMM?.perpFill(receipt, entry.memo)
    return fill && !(fill instanceof Promise) ? exchangedBy(fill, readAboutPosition(entry.about).side) : undefined
  } catch {
    // What was reserved counts.
    return undefined
  }
}

/** Of the native coin, with what a rollup charges for layer 1; undefined where the receipt has none. */
export function gasCostOf({ landed }: Entry): bigint | undefined {
  const receipt = landed?.receipt
  if (!isObject(receipt)) return undefined
  const { gasUsed, effectiveGasPrice, l1Fee = '0' } = receipt
  const [used, price, dataFee] = [gasUsed, effectiveGasPrice, l1Fee].map(wholeNumber)
  return used === undefined || price === undefined || dataFee === undefined ? undefined : used * price + dataFee
}

/** Decimal or hexadecimal digits. */
const wholeNumber = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(value) ? BigInt(value) : undefined
