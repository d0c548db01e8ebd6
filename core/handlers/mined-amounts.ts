// What a mined transaction did to its wallet, by its receipt alone.
import { isObject } from '../base/json.ts'
import type { Registry } from '../plugins/index.ts'
import type { Entry } from '../transactions/entry.ts'

/** By token address, what the wallet gained or gave, smallest units; undefined where the chain's receipts do not tell. The native coin leaves no event. */
export function gainsOf(
  { chain, network, landed, address }: Entry,
  registry: Pick<Registry, 'networks'>,
): ReadonlyMap<string, bigint> | undefined {
  const on = registry.networks.find((each) => each.chain === chain && each.network === network)
  return landed && on?.impl.evm?.gains?.(landed.receipt, address)
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
