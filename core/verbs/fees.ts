import { badFields } from '../api/index.ts'
import type { FeeWish, GasTerms } from '../contracts/index.ts'
import { fromRaw, toRaw } from '../decimal.ts'
import type { NetworkEntry } from '../handlers/registry.ts'

const gweiDecimals = 9

interface FeeFields {
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/** The fees that a request asks for, checked against the network's cap. */
export function readFees(fields: FeeFields, { impl, chain }: NetworkEntry): FeeWish {
  const read = (field: keyof FeeFields): bigint | undefined => {
    const text = fields[field]
    if (text === undefined) return undefined
    if (!impl.evm) throw badFields([{ field, problem: `is for EVM chains: on ${chain} leave it out` }])
    const raw = toRaw(text, gweiDecimals)
    if (raw === undefined) throw badFields([{ field, problem: `${text} gwei has more than ${gweiDecimals} decimals` }])
    if (raw > impl.feeCapRaw) {
      throw badFields([
        { field, problem: `${text} gwei is above the network's feeCap of ${shortGwei(impl.feeCapRaw)} gwei; the unit is gwei, not wei` },
      ])
    }
    return raw
  }
  const maxFeePerGasRaw = read('maxFeePerGas')
  const maxPriorityFeePerGasRaw = read('maxPriorityFeePerGas')
  if (maxFeePerGasRaw !== undefined && maxPriorityFeePerGasRaw !== undefined && maxPriorityFeePerGasRaw > maxFeePerGasRaw) {
    throw badFields([{ field: 'maxPriorityFeePerGas', problem: 'is above maxFeePerGas' }])
  }
  return { maxFeePerGasRaw, maxPriorityFeePerGasRaw }
}

const shortGwei = (raw: bigint) => fromRaw(raw, gweiDecimals).replace(/\.?0+$/, '')

/** The gas fields of an answer. One gwei is 10^-9 of the coin, however many decimals that has. */
export function showGas({ gasLimit, gasPriceRaw, gasPriceDecimals = 0, gasCostRaw }: GasTerms, { impl }: NetworkEntry) {
  const { symbol, decimals } = impl.nativeCurrency
  return {
    gasPrice: Number(fromRaw(gasPriceRaw * 10n ** BigInt(gweiDecimals), decimals + gasPriceDecimals)),
    gasPriceToken: symbol,
    gasLimit: Number(gasLimit),
    gasCost: fromRaw(gasCostRaw, decimals),
  }
}
